"""The words around a link: its sentence, list item, table row or heading as plain text. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from notehop.indexing.vault.block_state import Piece, TextBlock
from notehop.indexing.vault.model import Edit
from notehop.indexing.vault.sentences import sentence_spans

MAX_CHARACTERS = 500  # what a person reads at a glance, and a model embeds whole
ITEM_CHARACTERS = 240  # a list item up to this length is one thought; a longer one is prose
WRAP_COLUMN = 60  # text wrapped by an editor fills lines at least this far


@dataclass(frozen=True, slots=True)
class Flat:
    """The plain text of one block. ``runs`` are (offset in note, offset in text, length)."""

    text: str
    runs: list[tuple[int, int, int]]

    def at(self, offset: int) -> int:
        """Where the character at an offset of the note went; what was dropped, to its place."""
        found = bisect_right(self.runs, offset, key=_first) - 1
        if found < 0:
            return 0
        source, target, length = self.runs[found]
        return target + min(offset - source, length)


def _first(run: tuple[int, int, int]) -> int:
    return run[0]


def flatten(text: str, parts: Sequence[Sequence[Piece]], edits: Sequence[Edit]) -> Flat:
    """Join the lines of a block into running text, edits applied.

    Parts are separated by `` | ``. Lines are joined by a blank where an editor wrapped them, and by
    an empty line where the writer broke them.

    :param edits: those that fall into the block, sorted and disjoint.
    """
    runs: list[tuple[int, int, int]] = []
    out: list[str] = []
    length = 0

    def add(offset: int, string: str) -> None:
        nonlocal length
        runs.append((offset, length, len(string)))
        out.append(string)
        length += len(string)

    next_edit = skip_to = 0
    for number, part in enumerate(parts):
        previous: Piece | None = None
        for piece in part:
            if previous is not None:
                add(previous[1], _joint(text, previous, piece))
            elif number:
                add(piece[0], " | ")
            previous = piece
            at = max(piece[0], skip_to)
            while next_edit < len(edits) and edits[next_edit].start < piece[1]:
                edit = edits[next_edit]
                next_edit += 1
                add(at, text[at : edit.start])
                add(edit.start, edit.replacement)
                at = skip_to = edit.end
            if at < piece[1]:
                add(at, text[at : piece[1]])
    return Flat("".join(out), runs)


def _joint(text: str, line: Piece, after: Piece) -> str:
    """Whether the next word would have fitted on the line: then the writer broke it."""
    space = text.find(" ", after[0], after[1])
    word = (space if space >= 0 else after[1]) - after[0]
    return "\n\n" if line[1] - line[0] + 1 + word <= WRAP_COLUMN else " "


_TASK = re.compile(r"\[.\][ \t]+")


def sentences_at(block: TextBlock, flat: Flat, links: Sequence[Piece]) -> list[str]:
    """Return the words around each link of a block, at most 500 characters.

    :param links: spans in the note. A link whose words hold the end of a sentence joins both.
    """
    start = 0
    if block.item is not None and (task := _TASK.match(flat.text)):
        start = task.end()
    whole = block.kind in ("heading", "row") or (
        block.item is not None and len(flat.text) - start <= ITEM_CHARACTERS
    )
    spans = [(start, len(flat.text))] if whole else sentence_spans(flat.text)
    starts = [first for first, _ in spans]
    found = []
    for link in links:
        at, last = (max(flat.at(offset), start) for offset in link)
        number = max(bisect_right(starts, at) - 1, 0)
        end = spans[number][1] if spans else 0
        while end < last:
            number += 1
            end = spans[number][1]
        first = spans[max(bisect_right(starts, at) - 1, 0)][0] if spans else 0
        found.append(_clip(flat.text, max(first, start), end, at))
    return found


def _clip(text: str, start: int, end: int, at: int) -> str:
    """``text[start:end]`` on one line; if it is too long, the words around ``at``."""
    if end - start <= MAX_CHARACTERS:
        return " ".join(text[start:end].split())
    room = MAX_CHARACTERS - 2  # for the marks that say where it was cut
    first = max(start, min(at - room // 2, end - room))
    last = min(first + room, end)
    if first > start and (blank := text.find(" ", first, at)) >= 0:
        first = blank + 1
    if last < end and (blank := text.rfind(" ", at, last)) > at:
        last = blank
    cut = " ".join(text[first:last].split())
    return f"{'…' if first > start else ''}{cut}{'…' if last < end else ''}"
