"""Under which headings a stretch of a note stands. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import takewhile

from notehop.indexing.vault.model import Note

Stack = tuple[tuple[int, str], ...]
"""(rank, text) of the headings above a position, top_level first."""


class Headings:
    """The headings of a note and what stands under each."""

    def __init__(self, note: Note) -> None:
        self._text = note.text
        self._starts = [heading.start for heading in note.headings]
        self._ends = [heading.end for heading in note.headings]
        self._own = [(heading.level, heading.plain) for heading in note.headings]
        self._stacks: list[Stack] = []
        stack: list[tuple[int, str]] = []
        for level, text in self._own:
            while stack and stack[-1][0] >= level:
                stack.pop()
            if text.strip():
                stack.append((level, text))
            self._stacks.append(tuple(stack))

    def between(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return (start, end) of the headings that start in ``[start, end)``."""
        inside = slice(bisect_left(self._starts, start), bisect_left(self._starts, end))
        return list(zip(self._starts[inside], self._ends[inside], strict=True))

    def paths(self, start: int, end: int) -> list[tuple[str, ...]]:
        """Return every heading path that text of a stretch stands under, in order."""
        return [
            _texts(self._above(at)) for at in (start, *(at for at, _ in self.between(start, end)))
        ]

    def around(self, start: int, end: int) -> Stack:
        """Return the headings over the start of a stretch, and those it holds, in order."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        outer = self._stacks[first - 1] if first else ()
        inside = [own for own in self._own[first:last] if own[1].strip()]
        if first < last:
            outer = tuple(h for h in outer if h in self._stacks[first])
        return (*outer, *inside)

    def path(self, start: int, end: int) -> tuple[str, ...]:
        """Return the heading path of a chunk.

        A chunk that begins in the middle of a section stands under all headings above it. One that
        begins with a heading names what all its text has in common, since it shows the rest itself;
        where that is nothing, the headings above its first text.
        """
        first = stripped_span(self._text, start, end)[0]
        at = bisect_left(self._starts, start)
        if at == len(self._starts) or self._starts[at] > first:
            return _texts(self._above(first))
        under: list[Stack] = []
        while at < len(self._starts) and self._starts[at] < end:
            until = self._starts[at + 1] if at + 1 < len(self._starts) else end
            if self._text[self._ends[at] : min(until, end)].strip():
                under.append(self._stacks[at])
            at += 1
        if not under:
            return _texts(self._above(first))
        return _texts(_common(under) or under[0])

    def _above(self, at: int) -> Stack:
        """The headings over a position; a heading's own start counts as under it."""
        found = bisect_right(self._starts, at) - 1
        return self._stacks[found] if found >= 0 else ()


def stripped_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the offsets of the first and the last character that is not blank.

    The start twice if there is none.
    """
    inside = text[start:end]
    if not inside.strip():
        return start, start
    return end - len(inside.lstrip()), start + len(inside.rstrip()) - 1


def _texts(stack: Stack) -> tuple[str, ...]:
    return tuple(text for _, text in stack)


def _common(stacks: list[Stack]) -> Stack:
    """The longest beginning that all have in common."""
    level = takewhile(lambda headings: len(set(headings)) == 1, zip(*stacks, strict=False))
    return tuple(headings[0] for headings in level)
