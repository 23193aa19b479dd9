"""Reads one note as it is now: its text or a section, its outline, and the links around it."""

from __future__ import annotations

from collections.abc import Iterable
from posixpath import dirname

from notehop.app.models import NoteLink, NoteView, OutlineEntry
from notehop.app.services.notes.browse import LEADING, leads
from notehop.app.services.notes.current_notes import CurrentNotes, as_now
from notehop.app.services.notes.find_note import LONGEST, NoteAddress, address_of, listed, note_meant, shown
from notehop.app.services.notes.mentions import mentions_of
from notehop.config.errors import NoteMissing
from notehop.indexing.graph.files import NOTE_SUFFIX, is_readable
from notehop.indexing.graph.resolve import find_fragment, outline_of_note
from notehop.indexing.stores.rows import LinkRow
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.vault.model import Note
from notehop.indexing.vault.plain import words_of

COMMENTS = ("%%", "<!--")  # how what nobody is to see begins
MAX_NAME = 255  # bytes of a name: what most disks take
_NAMED = 5  # headings that a message names


def note_view(
    now: CurrentNotes, tokenizer: Tokenizer, said: str, *, section: str | None = None, mentions: bool = True
) -> NoteView:
    """Read a note, as :meth:`VaultHandle.note`; one that is not indexed yet has its path only."""
    view, place = now.indexed, now.place
    note, address = _read_meant(now, said)
    path = note.path
    row = view.note(path)
    changed = row is None or row.content_hash != note.content_hash
    if section is not None:
        address = NoteAddress(said, section)
    part, first, last = _part(note, said, address)
    backward = [link for link in now.links_to([path]) if link.path != path and leads(now, link) == path]
    found, count = mentions_of(view, place, tokenizer, note) if mentions else ([], 0)
    return NoteView(
        path=path,
        title=note.title,
        folder=dirname(path),
        aliases=list(note.aliases),
        tags=list(note.tags),
        page_type=note.page_type,
        created=note.created,
        modified=note.modified or 0.0,
        section=part,
        lines=(first, last),
        text="\n".join(_lines(note)[first - 1 : last]),
        outline=[OutlineEntry(level=one.level, heading=one.plain, line=one.line) for one in note.headings],
        links=_as_links(now.with_current_targets(now.links_from([path]))),
        backlinks=_as_links(now.current_links(backward)),
        unlinked_mentions=found,
        mention_count=count,
        changed=changed,
        uri=now.uri(path, [part] if part and not part.startswith("^") else ()),
        generation=view.generation,
    )


def _read_meant(now: CurrentNotes, said: str) -> tuple[Note, NoteAddress]:
    """The note that is meant, read from its file, and the place in it."""
    try:
        path, address = note_meant(now, said)
    except NoteMissing:
        # One at just this path that the index does not know yet.
        for named in (NoteAddress(said.strip()), address_of(said)):
            if named is not None and _can_be_a_path(named.name):
                path = named.name if is_readable(named.name) else f"{named.name}{NOTE_SUFFIX}"
                if (fresh := next(as_now(now.place, [path], pdfs=True))) is not None:
                    return fresh, named
        raise
    note = next(as_now(now.place, [path], pdfs=True))
    if note is None:
        raise NoteMissing(f"{shown(said)}: no note of this vault")
    return note, address


def _can_be_a_path(name: str) -> bool:
    parts = name.split("/")
    longest = max(len(part.encode("utf-8", "replace")) for part in parts)
    plain = all(part and not part.startswith(".") for part in parts)
    return plain and not {"\0", "\\"} & {*name} and len(name) <= LONGEST and longest <= MAX_NAME


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


def _part(note: Note, said: str, address: NoteAddress) -> tuple[str | None, int, int]:
    """The name of the part that is asked for (None for lines or the whole), its first and last line."""
    outline = outline_of_note(note)
    count = max(1, outline.line_count)
    if address.lines is not None:
        first, last = address.lines
        if not 1 <= first <= last or first > count:
            raise NoteMissing(f"{shown(said)}: the note has lines 1 to {count}")
        return None, first, min(last, count)
    wanted = (address.section or "").strip().removeprefix("#")
    if not wanted:
        return None, 1, count
    span = find_fragment(outline, wanted) or find_fragment(outline, wanted.replace(" > ", "#"))
    if span is None:
        headings = [shown(text) for _, text, _ in outline.headings if text.strip()]
        own = listed(headings, _NAMED)
        instead = f"its headings are {own}" if headings else "it has no headings"
        section = shown(str(address.section))
        raise NoteMissing(f"{shown(said)}: no section {section}; {instead}")
    starts = {one.line: one.plain for one in note.headings}
    return starts.get(span.first_line, wanted), span.first_line, span.last_line


def _as_links(links: Iterable[LinkRow]) -> list[NoteLink]:
    return [
        NoteLink(
            source=link.path,
            line=link.line,
            raw=link.raw,
            written=link.raw_target,
            kind=link.kind,
            status=link.status,
            # Where a note that is kept out lies is for nobody to see.
            target=link.target_path if link.status in LEADING else None,
            sentence=words_of(link.sentence),
            fragment=link.fragment,
        )
        for link in links
    ]
