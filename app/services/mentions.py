"""Finds where notes say another note's name without linking to it.

Touches: index (reads), vault-read (the notes that are listed).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from notehop.app.answer.code_spans import code_spans, inside
from notehop.app.models import Mention
from notehop.app.retrieval.index_view import IndexView
from notehop.app.services.place import Place
from notehop.app.services.summary import flat
from notehop.config.settings import VaultSettings
from notehop.indexing.changes import scan
from notehop.indexing.reading import read_note
from notehop.indexing.stores.model import ChunkId, ChunkRow
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.tokens.function_words import FUNCTION_WORDS
from notehop.indexing.tokens.phrases import words_said
from notehop.indexing.vault.lines import Lines
from notehop.indexing.vault.model import Note
from notehop.indexing.vault.plain import plain_text
from notehop.indexing.vault.sentences import sentence_spans

LISTED = 20
"""Mentions that are listed; the rest is counted."""

READ = 40
"""Notes that are read to list them: what the index takes for a mention may be a link."""

COUNTED = 3_000
"""Passages whose text is looked at for the count; each further one that holds the words counts as
one mention. A name that so many say is hardly a name."""

SHORTEST = 2
"""Letters that a name of one word must have: every text says ``a``."""

SENTENCE = 300
"""Characters of a sentence that are shown."""

_PARAGRAPH = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+>|#]|\d{1,9}[.)])[ \t]?)")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
_UNSPACED = re.compile(
    "[\u0e01-\u0eff\u1000-\u11ff\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]"
)
"""Letters of scripts without blanks between words."""


@dataclass(frozen=True, slots=True)
class Found:
    """A mention in a text: where it begins and ends, and the name as it is said there."""

    start: int
    end: int
    name: str


def mentions_of(
    view: IndexView, place: Place, tokenizer: Tokenizer, note: Note
) -> tuple[list[Mention], int]:
    """The first mentions of a note, by path and line, and how many there are.

    What the index holds tells where to look and, past those that are listed, how many there are;
    listed is what stands in the files.
    """
    names = names_of(note, tokenizer.language)
    if not names:
        return [], 0
    pattern = pattern_of(names)
    by_note = _holding(view, tokenizer, names, note.path)
    paths = sorted(by_note)
    listed: list[Mention] = []
    count = read = 0
    for note_read in _read(place, paths[:READ]):
        if len(listed) == LISTED:
            break
        found = _said_in(note_read, pattern, tokenizer.language) if note_read else []
        count += len(found)
        listed += found[: LISTED - len(listed)]
        read += 1
    rest = [one for path in paths[read:] for one in by_note[path]]
    return listed, count + _counted(view, rest, pattern)


def names_of(note: Note, language: str) -> list[str]:
    """The names by which a note may be mentioned: file name, title and aliases.

    Names that every text says are left out: of one letter, or words such as ``and``.
    """
    small = FUNCTION_WORDS.get(language, frozenset())
    names: dict[str, str] = {}
    for name in (note.name, note.title, *note.aliases):
        words = words_said(name)
        if not words or (len(words) == 1 and (len(words[0]) < SHORTEST or words[0] in small)):
            continue
        names.setdefault(" ".join(name.casefold().split()), " ".join(name.split()))
    return list(names.values())


def pattern_of(names: Iterable[str]) -> re.Pattern[str]:
    """Finds the names as whole words, without case; the longest where several begin alike."""
    ordered = sorted(names, key=len, reverse=True)
    return re.compile("|".join(f"(?:{_whole(name)})" for name in ordered), re.IGNORECASE)


def unlinked(note: Note, pattern: re.Pattern[str]) -> Iterator[Found]:
    """The mentions in the body of a note that stand in no link, code or comment. Pure."""
    hidden = [(link.start, link.end) for link in note.links]
    hidden += [(edit.start, edit.end) for edit in note.edits]
    hidden += code_spans(note.text)
    hidden.sort()
    for match in pattern.finditer(note.text, note.body_start):
        if not any(start < match.end() and match.start() < end for start, end in hidden):
            yield Found(match.start(), match.end(), match[0])


def sentence_at(note: Note, found: Found, language: str = "en") -> str:
    """The sentence that holds a mention, as plain text on one line. Pure."""
    text = note.text
    start, end = note.body_start, len(text)
    for gap in _PARAGRAPH.finditer(text, note.body_start):
        if gap.end() <= found.start:
            start = gap.end()
        elif gap.start() >= found.end:
            end = gap.start()
            break
    if heading := _HEADING.match(text, text.rfind("\n", 0, found.start) + 1):
        start, end = heading.end(), text.find("\n", found.end) % (len(text) + 1)
    for first, last in sentence_spans(text[start:end], language):
        if first <= found.start - start < last:
            end, start = start + max(last, found.end - start), start + first
            break
    before, said = (flat(plain_text(note, start, until)) for until in (found.start, end))
    return _clipped(said, len(before))


def _clipped(said: str, at: int) -> str:
    """A sentence of at most 300 characters; of a longer one the words around a place."""
    if len(said) <= SENTENCE:
        return said
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
    return (char.isalnum() or char == "_") and not _UNSPACED.match(char)


def _holding(
    view: IndexView, tokenizer: Tokenizer, names: Sequence[str], own: str
) -> dict[str, list[ChunkId]]:
    """Path -> chunks that hold all the words of a name, without those of the note itself."""
    found: set[ChunkId] = set()
    for name in names:
        tokens = [tokenizer.of_spoken(word) for word in words_said(name)]
        found |= view.lexical.holding(tokens, "content")
    by_note: dict[str, list[ChunkId]] = {}
    for chunk_id in sorted(found):
        path = view.path_of(chunk_id)
        if path is not None and path != own:
            by_note.setdefault(path, []).append(chunk_id)
    return by_note


def _read(place: Place, paths: Sequence[str]) -> Iterator[Note | None]:
    """The notes as they are now, in order; None for one that may not be shown, or is gone."""
    settings: VaultSettings = place.settings.vault
    found = scan(place.vault, settings, within=paths) if paths else None
    files = {file.path: file for file in (found.files if found else ())}
    for path in paths:
        file = files.get(path)
        if file is None or file.excluded is not None or file.size > settings.max_note_bytes:
            yield None
            continue
        note = read_note(place.vault, file, "", comment_links=settings.comment_links).note
        yield note if note is not None and note.excluded is None else None


def _said_in(note: Note, pattern: re.Pattern[str], language: str) -> list[Mention]:
    lines = Lines(note.text)
    return [
        Mention(
            path=note.path,
            title=note.title,
            line=lines.at(one.start),
            name=" ".join(one.name.split()),
            sentence=sentence_at(note, one, language),
        )
        for one in unlinked(note, pattern)
    ]


def _counted(view: IndexView, ids: Sequence[ChunkId], pattern: re.Pattern[str]) -> int:
    """How many mentions passages hold, by what the index knows of their text and links."""
    chunks = view.chunks(ids[:COUNTED])
    linked: dict[ChunkId, int] = {}
    for link in view.links_from(dict.fromkeys(chunk.path for chunk in chunks.values())):
        if link.chunk_id in chunks:
            words = link.display or link.raw_target
            said = sum(1 for _ in pattern.finditer(words))
            linked[str(link.chunk_id)] = linked.get(str(link.chunk_id), 0) + said
    return sum(
        max(0, _said(chunk, pattern) - linked.get(chunk.id, 0)) for chunk in chunks.values()
    ) + len(ids[COUNTED:])


def _said(chunk: ChunkRow, pattern: re.Pattern[str]) -> int:
    spans = code_spans(chunk.text)
    return sum(not inside(spans, match.start()) for match in pattern.finditer(chunk.text))
