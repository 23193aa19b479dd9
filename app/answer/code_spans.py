"""Where a Markdown text holds code: fences and inline spans, as character ranges."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import itemgetter

Span = tuple[int, int]

_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<marks>`{3,}|~{3,})(?P<info>.*)")
_TICKS = re.compile(r"`+")
_BLANK = re.compile(r"\n[ \t]*\n")


def code_spans(text: str) -> list[Span]:
    """Return the ranges of ``text`` that are code, in order, without overlap.

    Fences (backticks or tildes, also inside quotes and list items; an unclosed one reaches to the
    end) and inline spans, whose closing run has the length of the opening one and stands in the
    same paragraph (CommonMark 0.31, 4.5 and 6.1).
    """
    spans: list[Span] = []
    at = 0
    for start, end in fences(text):
        spans += _inline(text, at, start)
        spans.append((start, end))
        at = end
    return spans + list(_inline(text, at, len(text)))


def open_fence(text: str) -> str | None:
    """Return the marks that would close the fence still open at the end of ``text``, or None."""
    opened: str | None = None
    for line in text.split("\n"):
        opened = fence_after(opened, line)
    return opened


def inside(spans: list[Span], at: int) -> bool:
    """Whether the character at ``at`` lies in one of ``spans``, which are in order."""
    last = bisect_right(spans, at, key=itemgetter(0)) - 1
    return last >= 0 and at < spans[last][1]


def fence_after(opened: str | None, line: str) -> str | None:
    """The marks of the open fence after ``line``, given those before it; None for none."""
    match = _FENCE.fullmatch(line.rstrip("\r\n"))
    if match is None:
        return opened
    marks, info = match["marks"], match["info"]
    if opened is None:
        return None if marks[0] == "`" and "`" in info else marks
    closes = marks[0] == opened[0] and len(marks) >= len(opened) and not info.strip()
    return None if closes else opened


def fences(text: str) -> Iterator[Span]:
    """Yield the ranges of fenced code in order, their first and last lines included."""
    opened: str | None = None
    start = at = 0
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        after = fence_after(opened, line)
        if opened is None and after is not None:
            start = at
        at += len(line)
        if opened is not None and after is None:
            yield start, at
        opened = after
    if opened is not None:
        yield start, len(text)


def _inline(text: str, start: int, end: int) -> Iterator[Span]:
    at = limit = start
    while (opening := _TICKS.search(text, at, end)) is not None:
        if opening.end() > limit:
            blank = _BLANK.search(text, opening.end(), end)
            limit = blank.start() if blank else end
        closing = next(
            (
                run
                for run in _TICKS.finditer(text, opening.end(), limit)
                if len(run[0]) == len(opening[0])
            ),
            None,
        )
        if closing is None:
            at = opening.end()
        else:
            yield opening.start(), closing.end()
            at = closing.end()
