"""Fragments: the lines of a note that ``#Heading``, ``#A#B`` or ``#^block`` name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import category

from notehop.indexing.graph.files import fold
from notehop.indexing.vault.model import Note

_ASCII_SYMBOLS = frozenset("$+<=>^`|~")
"""What the app takes for punctuation and Unicode calls a symbol."""

_WIKILINK = re.compile(r"!?\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")


@dataclass(frozen=True, slots=True)
class Outline:
    """What fragments of a note can name; the shape in which the catalog keeps it.

    ``headings`` are (level, text, line) in text order, ``blocks`` (id, first line, last line);
    lines are counted from 1, ``line_count`` closes the last section.
    """

    headings: tuple[tuple[int, str, int], ...]
    blocks: tuple[tuple[str, int, int], ...]
    line_count: int


@dataclass(frozen=True, slots=True)
class FragmentSpan:
    """The lines of a note that a fragment names, both ends included."""

    first_line: int
    last_line: int


def outline_of_note(note: Note) -> Outline:
    """The outline of a parsed note."""
    text = note.text
    open_line = not text or not text.endswith("\n")
    return Outline(
        headings=tuple((heading.level, heading.text, heading.line) for heading in note.headings),
        blocks=tuple((block.id, block.first_line, block.last_line) for block in note.blocks),
        line_count=text.count("\n") + open_line,
    )


def find_fragment(outline: Outline, fragment: str) -> FragmentSpan | None:
    """Find what a fragment names.

    A last part that begins with ``^`` is a block id, compared without case; headings written
    before it are not looked at, for an id is unique in its note (of two, the first counts).
    Otherwise the parts are headings in text order, each deeper than the one before (not
    necessarily directly below it), and the first chain of headings that fits is taken; its last
    section ends before the next heading of the same or a higher rank.

    :param fragment: what follows the first ``#``, without it.
    :returns: None if the note has no such place, and for a fragment without any part.
    """
    parts = [part for written in fragment.split("#") if (part := written.strip())]
    if not parts:
        return None
    if parts[-1].startswith("^"):
        return _find_block(outline, parts[-1][1:])
    return _find_section(outline, parts)


def _find_block(outline: Outline, block_id: str) -> FragmentSpan | None:
    wanted = block_id.strip().lower()
    for name, first, last in outline.blocks:
        if name.lower() == wanted:
            return FragmentSpan(first, last)
    return None


def _find_section(outline: Outline, parts: list[str]) -> FragmentSpan | None:
    headings = outline.headings
    # From the last part back: where the first chain ends that begins at each heading, if one does.
    *first_parts, last_part = map(_key, parts)
    ends = [
        at if last_part in heading_keys(text) else None for at, (_, text, _) in enumerate(headings)
    ]
    for part in reversed(first_parts):
        found: list[int | None] = [None] * len(headings)
        nearest: dict[int, int] = {}  # rank -> the next heading at which the rest can begin
        for at in range(len(headings) - 1, -1, -1):
            level, text, _ = headings[at]
            below = [place for rank, place in nearest.items() if rank > level]
            if below and part in heading_keys(text):
                found[at] = ends[min(below)]
            if ends[at] is not None:
                nearest[level] = at
        ends = found
    last = next((at for at in ends if at is not None), None)
    if last is None:
        return None
    level, _, line = headings[last]
    after = (line for rank, _, line in headings[last + 1 :] if rank <= level)
    return FragmentSpan(line, next(after, outline.line_count + 1) - 1)


@lru_cache(maxsize=65_536)
def heading_keys(text: str) -> tuple[str, ...]:
    """The keys under which a heading answers: as written, and as shown where it holds links.

    The app writes ``[[Note#See Plan now]]`` for the heading ``See [[Plan|now]]``; people write what
    they read, ``[[Note#See now]]``.
    """
    shown = _MARKDOWN_LINK.sub(r"\1", _WIKILINK.sub(_display, text))
    return tuple(dict.fromkeys((_key(text), _key(shown))))


def _display(match: re.Match[str]) -> str:
    return str(match[2] if match[2] is not None else match[1])


def _key(text: str) -> str:
    """Folded, punctuation replaced by spaces, spaces collapsed.

    A text of nothing but punctuation is its own key, so that it names itself only.
    """
    folded = fold(text)
    return " ".join("".join(_letters(folded)).split()) or folded.strip()


def _letters(text: str) -> Iterator[str]:
    for char in text:
        yield " " if char in _ASCII_SYMBOLS or category(char).startswith("P") else char
