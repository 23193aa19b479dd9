"""Fragments: the lines of a note that ``#Heading``, ``#A#B`` or ``#^block`` name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import category

from notehop.indexing.graph.files import fold
from notehop.indexing.graph.model import FragmentSpan
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
    keys = [_key(part) for part in parts]
    # From the last part back: which headings can begin the rest of the chain? One can if a deeper
    # heading after it can begin the part after; the deepest such after each place settles it.
    begins: list[list[bool]] = []
    for part in reversed(keys):
        able = [part in heading_keys(text) for _, text, _ in headings]
        if begins:
            deepest = 0
            for index in range(len(headings) - 1, -1, -1):
                level = headings[index][0]
                able[index] = able[index] and level < deepest
                if begins[-1][index]:
                    deepest = max(deepest, level)
        begins.append(able)
    index, above = -1, 0
    for able in reversed(begins):
        index = _next(able, headings, index + 1, above)
        if index < 0:
            return None
        above = headings[index][0]
    ends = (line for level, _, line in headings[index + 1 :] if level <= above)
    return FragmentSpan(headings[index][2], next(ends, outline.line_count + 1) - 1)


def _next(
    able: list[bool], headings: tuple[tuple[int, str, int], ...], start: int, above: int
) -> int:
    for index in range(start, len(headings)):
        if able[index] and headings[index][0] > above:
            return index
    return -1


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
