"""Reads one note as it is now: its text or a section, its outline, the links around it, and the places
that say its name without a link.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from posixpath import dirname

from notehop.app.answer.citations import code_spans, inside
from notehop.app.models import Mention, NoteLink, NoteView, OutlineEntry
from notehop.app.services.notes.browse import LEADING, leads
from notehop.app.services.notes.current_notes import CurrentNotes, flat
from notehop.app.services.notes.find_note import LONGEST, address_of, listed, note_meant, shown
from notehop.app.services.open_vault import Place
from notehop.config.errors import NoteMissing
from notehop.indexing.changes import scan
from notehop.indexing.enrich.prompts import own_summary
from notehop.indexing.enrich.store import read_summaries
from notehop.indexing.graph.files import NOTE_SUFFIX, is_pdf, is_readable
from notehop.indexing.graph.resolve import find_fragment, outline_of_note
from notehop.indexing.stores.model import ChunkId, LinkRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.tokens.languages import FUNCTION_WORDS
from notehop.indexing.tokens.words import words_in_order
from notehop.indexing.vault.model import Lines, Note
from notehop.indexing.vault.parse import Read, read_note
from notehop.indexing.vault.plain import plain_text, words_of
from notehop.indexing.vault.sentences import sentence_spans

LISTED = 20  # mentions that are listed; the rest is counted
READ = 40  # notes that are read to list them: what the index takes for a mention may be a link

COUNTED = 3_000
"""Passages whose text is looked at for the count; each further one that holds the words counts as
one mention. A name that so many say is hardly a name."""

SHORTEST = 2  # letters that a name of one word must have: every text says ``a``
SENTENCE = 300  # characters of a sentence that are shown

_PARAGRAPH = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+>|#]|\d{1,9}[.)])[ \t]?)")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
UNSPACED = re.compile(
    "[\u0e01-\u0eff\u1000-\u11ff\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]"
)
"""Letters of scripts without blanks between words."""


def mentions_of(
    view: Snapshot, place: Place, tokenizer: Tokenizer, note: Note
) -> tuple[list[Mention], int]:
    """The first mentions of a note, by path and line, and how many there are.

    What the index holds tells where to look and, past those that are listed, how many there are;
    listed is what stands in the files.
    """
    names = names_of(note.name, note.title, note.aliases, tokenizer.language)
    if not names:
        return [], 0
    pattern = pattern_of(names)
    by_note: dict[str, list[ChunkId]] = {}
    for chunk_id in sorted({id_ for name in names for id_ in passages_with(view, tokenizer, name)}):
        holder = view.path_of(chunk_id)
        if holder is not None and holder != note.path:
            by_note.setdefault(holder, []).append(chunk_id)
    paths = sorted(path for path in by_note if not is_pdf(path))
    listed: list[Mention] = []
    count = read = 0
    for file in as_now(place, paths[:READ]):
        if len(listed) == LISTED:
            break
        read += 1
        if file is None or file.note is None:
            continue
        found = [*unlinked(file.note, pattern)]
        count += len(found)
        lines = Lines(file.note.text)
        listed += [
            Mention(
                path=file.note.path,
                title=file.note.title,
                line=lines.at(one.start()),
                name=" ".join(one[0].split()),
                sentence=sentence_at(file.note, one.span(), tokenizer.language),
            )
            for one in found[: LISTED - len(listed)]
        ]
    # Those in PDFs are counted only: reading one takes a second.
    counted = {*by_note}.difference(paths[:read])
    rest = [one for path in sorted(counted) for one in by_note[path]]
    return listed, count + _counted(view, rest, pattern)


def names_of(name: str, title: str, aliases: Iterable[str], language: str) -> list[str]:
    """The names by which a note may be mentioned: file name, title and aliases.

    Names that every text says are left out: of one letter, or words such as ``and``.
    """
    small = FUNCTION_WORDS.get(language, frozenset())
    names: dict[str, str] = {}
    for one in (name, title, *aliases):
        words = words_in_order(one)
        if not words or (len(words) == 1 and (len(words[0]) < SHORTEST or words[0] in small)):
            continue
        names.setdefault(" ".join(one.casefold().split()), " ".join(one.split()))
    return list(names.values())


def pattern_of(names: Iterable[str]) -> re.Pattern[str]:
    """Finds the names as whole words, without case; the longest where several begin alike."""
    ordered = sorted(names, key=len, reverse=True)
    return re.compile("|".join(f"(?:{_whole(name)})" for name in ordered), re.IGNORECASE)


def unlinked(note: Note, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """The mentions in the body of a note that stand in no link, code or comment. Pure."""
    hidden = [(link.start, link.end) for link in note.links]
    hidden += [(edit.start, edit.end) for edit in note.edits]
    hidden += code_spans(note.text)
    hidden.sort()
    for match in pattern.finditer(note.text, note.body_start):
        if not any(start < match.end() and match.start() < end for start, end in hidden):
            yield match


def sentence_at(note: Note, place: tuple[int, int], language: str) -> str:
    """The sentence that holds a mention, as plain text on one line. Pure."""
    begins, ends = place
    text = note.text
    start, end = note.body_start, len(text)
    for gap in _PARAGRAPH.finditer(text, note.body_start):
        if gap.end() <= begins:
            start = gap.end()
        elif gap.start() >= ends:
            end = gap.start()
            break
    if heading := _HEADING.match(text, text.rfind("\n", 0, begins) + 1):
        start, end = heading.end(), text.find("\n", ends) % (len(text) + 1)
    for first, last in sentence_spans(text[start:end], language):
        if first <= begins - start < last:
            end, start = start + max(last, ends - start), start + first
            break
    before, said = (flat(plain_text(note, start, until)) for until in (begins, end))
    if len(said) <= SENTENCE:
        return said
    # Of a longer one the words around the place.
    at = len(before)
    room = SENTENCE - 2  # for the marks that say where it was cut
    start = max(0, min(at - room // 2, len(said) - room))
    first = said.find(" ", start, at) + 1 if start else 0
    cut = said[first : first + room].rstrip()
    return f"{'…' if first else ''}{cut}{'…' if first + len(cut) < len(said) else ''}"


def _whole(name: str) -> str:
    """A pattern for a name whose blanks may be any, not as a part of longer words."""
    words = r"\s+".join(re.escape(word) for word in name.split())
    before = r"(?<!\w)" if _is_spaced(name[0]) else ""
    after = r"(?!\w)" if _is_spaced(name[-1]) else ""
    return f"{before}{words}{after}"


def _is_spaced(char: str) -> bool:
    return (char.isalnum() or char == "_") and not UNSPACED.match(char)


def passages_with(view: Snapshot, tokenizer: Tokenizer, name: str) -> Collection[ChunkId]:
    """The passages that hold all the words of a name."""
    words = [tokenizer.of_phrase_word(word) for word in words_in_order(name)]
    return view.lexical.holding(words, "content")


def as_now(place: Place, paths: Sequence[str], *, pdfs: bool = False) -> Iterator[Read | None]:
    """Files as the index would read them now, in order; None for what it would not, or cannot.

    :param pdfs: whether to read PDFs, which takes a second each; None for them otherwise.
    """
    settings = place.settings.vault
    limit = settings.max_note_bytes
    found = scan(place.vault, settings, within=paths).files if paths else ()
    files = {one.path: one for one in found if one.kind == "note" and one.excluded is None}
    for path in paths:
        file = files.get(path)
        if file is None or (not pdfs if is_pdf(path) else file.size > limit):
            yield None
            continue
        read = read_note(place.vault, file, "", comment_links=settings.comment_links)
        yield read if read.note is not None and read.note.excluded is None else None


def _counted(view: Snapshot, ids: Sequence[ChunkId], pattern: re.Pattern[str]) -> int:
    """How many mentions passages hold, by what the index knows of their text and links."""
    chunks = view.chunks(ids[:COUNTED])
    linked: dict[ChunkId, int] = {}
    for link in view.links_from(dict.fromkeys(chunk.path for chunk in chunks.values())):
        if link.chunk_id in chunks:
            id_ = str(link.chunk_id)
            said = sum(1 for _ in pattern.finditer(link.display or link.raw_target))
            linked[id_] = linked.get(id_, 0) + said
    count = len(ids[COUNTED:])
    for chunk in chunks.values():
        spans = code_spans(chunk.text)
        said = sum(not inside(spans, one.start()) for one in pattern.finditer(chunk.text))
        count += max(0, said - linked.get(chunk.id, 0))
    return count


COMMENTS = ("%%", "<!--")  # how what nobody is to see begins
MAX_NAME = 255  # bytes of a name: what most disks take
_NAMED = 5  # headings that a message names


def note_view(
    now: CurrentNotes,
    tokenizer: Tokenizer,
    said: str,
    *,
    section: str | None = None,
    mentions: bool = True,
) -> NoteView:
    """Read a note.

    :param said: its path, title, alias or name; a note that is not indexed yet has its path only.
    :param section: a heading, headings down to one (``A > B`` or ``A#B``), or ``^block``.
    :param mentions: whether to look for places that say its name without a link.
    :raises NoteMissing: if there is no such note or section, or it is kept out of the index.
    :raises UsageError: if several notes are meant.
    """
    view, place = now.indexed, now.place
    read = _read_meant(now, said)
    assert read.note is not None
    path, note = read.file.path, read.note
    row = view.note(path)
    changed = row is None or row.content_hash != read.content_hash
    part, first, last = _part(note, said, section)
    # The owner's summary as the file is now, else that of the index if it still fits.
    summary = own_summary(note.front_matter)
    written = None
    if summary is None and row is not None and not changed:
        written = read_summaries(place.layout.enrichment, [row]).get(path)
    backward = [
        link for link in now.links_to([path]) if link.path != path and leads(now, link) == path
    ]
    found, count = mentions_of(view, place, tokenizer, note) if mentions else ([], 0)
    return NoteView(
        path=path,
        title=note.title,
        folder=dirname(path),
        aliases=list(note.aliases),
        tags=list(note.tags),
        page_type=note.page_type,
        created=note.created,
        modified=note.modified if note.modified is not None else read.file.mtime_ns / 1e9,
        section=part,
        lines=(first, last),
        text="\n".join(_lines(note)[first - 1 : last]),
        outline=[
            OutlineEntry(level=one.level, heading=one.plain, line=one.line) for one in note.headings
        ],
        links=_as_links(now.with_current_targets(now.links_from([path]))),
        backlinks=_as_links(now.current_links(backward)),
        unlinked_mentions=found,
        mention_count=count,
        changed=changed,
        summary=summary if written is None else written.text,
        summary_by=None if written is None else written.model,
        uri=now.uri(path, [part] if part and not part.startswith("^") else ()),
        generation=view.generation,
    )


def _read_meant(now: CurrentNotes, said: str) -> Read:
    """The note that is meant, read from its file.

    :raises NoteMissing: if there is none that may be shown.
    """
    try:
        meant = note_meant(now, said)
    except NoteMissing:
        address = address_of(said)
        for name in (said, *(() if address is None else (address.name,))):
            if (fresh := _fresh(now.place, name)) is not None:
                return fresh
        raise
    read = next(as_now(now.place, [meant], pdfs=True))
    if read is None:
        raise NoteMissing(f"{shown(said)}: no note of this vault")
    return read


def _fresh(place: Place, said: str) -> Read | None:
    """A note at just this path that the index does not know yet; None if there is none."""
    path = said.strip()
    if len(path) > LONGEST or "\0" in path or "\\" in path:
        return None
    for part in path.split("/"):
        if not part or part.startswith(".") or len(part.encode("utf-8", "replace")) > MAX_NAME:
            return None
    return next(as_now(place, [path if is_readable(path) else f"{path}{NOTE_SUFFIX}"], pdfs=True))


def _lines(note: Note) -> list[str]:
    """The lines of a note as a reader sees them: comments are left out, their line breaks kept."""
    parts: list[str] = []
    at = 0
    for edit in note.edits:
        hidden = note.text[edit.start : edit.end]
        if hidden.lstrip().startswith(COMMENTS):
            parts += [note.text[at : edit.start], "\n" * hidden.count("\n")]
            at = edit.end
    return "".join([*parts, note.text[at:]]).removesuffix("\n").split("\n")


def _part(note: Note, said: str, section: str | None) -> tuple[str | None, int, int]:
    """The name of the part that is asked for (None for lines or the whole), its first and last line."""
    outline = outline_of_note(note)
    count = max(1, outline.line_count)
    # A note that is called just so is meant by it, whatever an address looks like.
    names = (note.path, note.path.removesuffix(NOTE_SUFFIX), note.title, *note.aliases)
    if section is None and said.strip() not in names and (address := address_of(said)) is not None:
        if address.lines is not None:
            first, last = address.lines
            if not 1 <= first <= last or first > count:
                raise NoteMissing(f"{shown(said)}: the note has lines 1 to {count}")
            return None, first, min(last, count)
        section = address.section
    if section is None or not section.strip():
        return None, 1, count
    wanted = section.strip().removeprefix("#")
    span = find_fragment(outline, wanted) or find_fragment(outline, wanted.replace(" > ", "#"))
    if span is None:
        headings = [shown(text) for _, text, _ in outline.headings if text.strip()]
        instead = (
            f"its headings are {listed(headings, _NAMED)}" if headings else "it has no headings"
        )
        raise NoteMissing(f"{shown(said)}: no section {shown(section)}; {instead}")
    starts = {one.line: one.plain for one in note.headings}
    return starts.get(span.first_line, wanted), span.first_line, span.last_line


def _as_links(links: Iterable[LinkRow]) -> list[NoteLink]:
    return [
        NoteLink(
            source=link.path,
            line=link.line,
            raw=link.raw,
            kind=link.kind,
            status=link.status,
            # Where a note that is kept out lies is for nobody to see.
            target=link.target_path if link.status in LEADING else None,
            sentence=words_of(link.sentence),
            fragment=link.fragment,
        )
        for link in links
    ]
