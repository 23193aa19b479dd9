"""Quotes the words that a sentence rests on, with their own lines and link. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from notehop.app.answer.code_spans import fences
from notehop.app.answer.uri import open_uri
from notehop.app.models import ConnectedNote, Evidence, Source, Support

_MARK = re.compile(r"(?:[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?|[ \t]*(?:>[ \t]?)+)")
_BLOCK = re.compile(r"[ \t]\^([A-Za-z0-9-]+)[ \t]*$")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n[ \t>]*(?:\n|(?:[-*+]|\d{1,9}[.)])[ \t])")


def evidence(
    source: Source,
    headings: Sequence[str],
    spans: Sequence[tuple[int, int]],
    support: Support | None,
    vault: str,
) -> Evidence:
    """Quote the first of some ranges of a source, and those that follow it with nothing in between.

    :param headings: those that the source stands under, outermost first.
    :param spans: half-open ranges of its text, best first; none quotes nothing.
    :param vault: the vault's name, for the link.
    """
    if not spans:
        return Evidence(
            marker=source.marker, support=support, quote="", lines=source.lines, uri=source.uri
        )
    start, end = _run(source.text, spans)
    start, end = _without_marks(source.text, start, end)
    return Evidence(
        marker=source.marker,
        support=support,
        quote=source.text[start:end],
        lines=lines_of(source, start, end),
        uri=_uri(source, headings, start, vault),
    )


def _run(text: str, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The first range, grown over those that it touches, blanks and marks of lists aside."""
    start, end = spans[0]
    grown = True
    while grown:
        grown = False
        for first, last in spans[1:]:
            if first >= end and not re.search(r"\w", text[end:first]):
                end, grown = max(end, last), grown or last > end
            elif last <= start and not re.search(r"\w", text[last:start]):
                start, grown = min(start, first), grown or first < start
    return start, end


def _without_marks(text: str, start: int, end: int) -> tuple[int, int]:
    """A range without the mark of its item before it, and the id of its block behind it."""
    mark = _MARK.match(text, start, end)
    if mark is not None and mark.end() < end:
        start = mark.end()
    block = _BLOCK.search(text[start:end])
    if block is not None and block.start() > 0:
        end = start + block.start()
    return start, start + len(text[start:end].rstrip())


def lines_of(source: Source | ConnectedNote, start: int, end: int) -> tuple[int, int]:
    """The lines of a range of a text, counted in its note.

    What is shown of a note may have lines more or fewer than its file, where a comment or an embed
    stood: then those that it can stand in.
    """
    first, last = source.lines
    text = source.text
    lead = len(text) - len(text.lstrip())
    above, below = text.count("\n", lead, start), text.count("\n", lead, end)
    extra = text.strip().count("\n") - (last - first)
    low = first + above - max(0, extra)
    high = first + below + max(0, -extra)
    low = min(max(low, first), last)
    return low, min(max(high, low), last)


def _uri(source: Source, headings: Sequence[str], start: int, vault: str) -> str:
    """The link to the block of a range if it has an id, else to the nearest heading above it."""
    if not source.path:
        return source.uri
    rest = source.text[start:]
    paragraph = _PARAGRAPH.split(rest, maxsplit=1)[0]
    block = _BLOCK.search(paragraph)
    if block is not None:
        return open_uri(vault, source.path, (), block=block[1])
    return open_uri(vault, source.path, _headings_at(source.text, headings, start))


def _headings_at(text: str, headings: Sequence[str], start: int) -> list[str]:
    """The headings that a place in a source stands under, outermost first."""
    path = [(0, heading) for heading in headings]
    code = list(fences(text))
    for found in _HEADING.finditer(text, 0, start):
        if any(first <= found.start() < last for first, last in code):
            continue
        rank, heading = len(found[1]), found[2].strip()
        names = [name.casefold() for _, name in path]
        if heading.casefold() in names:
            path = [*path[: names.index(heading.casefold())], (rank, heading)]
            continue
        while path and path[-1][0] >= rank:
            path.pop()
        path.append((rank, heading))
    return [heading for _, heading in path]
