"""Cuts Markdown into what can be said or cited alone: sentences, list items, table rows. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from notehop.app.answer.code_spans import code_spans, fences, inside
from notehop.app.answer.markers import MARKER
from notehop.app.answer.passages import SentenceSpans

Kind = Literal["sentence", "item", "row", "heading", "code", "rule", "place"]

STATING = frozenset(("sentence", "item", "row"))
"""The kinds that can state something; a place is the line below a quote that says where it is from.
"""

_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(
    r"[ \t>]*(?:(?:[-*_][ \t]*){3,}|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*(?::?-+:?[ \t]*)?)+)$"
)
_ITEM = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_ROW = re.compile(r"[ \t>]*\|")
_PLACE = re.compile(r"— \S")
_EMPHASIS = re.compile(r"\*\*|__|==|~~")
_END = re.compile(r"[.!?。！？…][\"'”’»)\]*_]*\s*$")
_MARKERS_LAST = re.compile(r"(?:[ \t]*\[[^\[\]]{1,40}\])+[ \t]*$")
_GOES_ON = re.compile(r"[a-zà-ÿ]")
_TAIL = 200
"""Characters before the end of a sentence in which its markers stand."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a text: its half-open range, without blanks around it, and what it is."""

    start: int
    end: int
    kind: Kind


def units(text: str, sentences: SentenceSpans) -> list[Unit]:
    """Return the units of ``text`` in order; what stands between them is blank.

    A marker behind the full stop belongs to the sentence before it. A list item is one unit, unless
    markers stand in several of its sentences: each of those answers for itself. The head row of a
    table is a heading.
    """
    found: list[Unit] = []
    at = 0
    masked = _masked(text)
    for start, end in fences(text):
        found += _blocks(text, masked, at, start, sentences)
        found += _trimmed(text, start, end, "code")
        at = end
    found += _blocks(text, masked, at, len(text), sentences)
    return found


def markers_in(text: str, unit: Unit, spans: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """Yield the markers of a unit that are not in code.

    :param spans: those of :func:`notehop.app.answer.code_spans.code_spans` for the whole text.
    """
    for found in MARKER.finditer(text, unit.start, unit.end):
        if not inside(spans, found.start()):
            yield found


def bare(text: str) -> str:
    """A text without markers and marks of emphasis, as words are compared."""
    return " ".join(_EMPHASIS.sub("", MARKER.sub(" ", text)).split())


def _masked(text: str) -> str:
    """The text with blanks for what keeps a segmenter from seeing where sentences end."""
    spans = code_spans(text)

    def blanks(found: re.Match[str]) -> str:
        return found[0] if inside(spans, found.start()) else " " * len(found[0])

    return _EMPHASIS.sub(blanks, MARKER.sub(blanks, text)).replace("\n", " ")


def _blocks(
    text: str, masked: str, start: int, end: int, sentences: SentenceSpans
) -> Iterator[Unit]:
    """The units of a stretch without fenced code."""
    block: tuple[int, int, Kind] | None = None
    at = start
    for line in text[start:end].splitlines(keepends=True):
        here, at = at, at + len(line)
        kind = _kind(line)
        if block is not None and kind == "sentence" and line.strip():
            block = block[0], at, block[2]
            continue
        if block is not None:
            yield from _cut(text, masked, *block, sentences)
            block = None
        if not line.strip():
            continue
        if kind in ("sentence", "item"):
            block = here, at, kind
            continue
        below = text[at:end].split("\n", 1)[0].rstrip()
        if kind == "row" and _RULE.match(below) and "|" in below:
            kind = "heading"
        yield from _trimmed(text, here, at, kind)
    if block is not None:
        yield from _cut(text, masked, *block, sentences)


def _kind(line: str) -> Kind:
    line = line.rstrip()
    if _HEADING.match(line):
        return "heading"
    if _RULE.fullmatch(line):
        return "rule"
    if _PLACE.match(line):
        return "place"
    if _ITEM.match(line):
        return "item"
    return "row" if _ROW.match(line) else "sentence"


def _cut(
    text: str, masked: str, start: int, end: int, kind: Kind, sentences: SentenceSpans
) -> Iterator[Unit]:
    """A paragraph or an item in its sentences."""
    if kind == "item":
        # The mark of an item is no sentence, whatever number it is.
        mark = _ITEM.match(text, start, end)
        body = mark.end() if mark else start
    else:
        body = start
    cuts = [body + one for _, one in sentences(masked[body:end])]
    cuts = _moved(text, cuts, start)
    spans = list(zip([start, *cuts[:-1]], [*cuts[:-1], end], strict=True)) if cuts else []
    if kind == "item" and sum(MARKER.search(text, *span) is not None for span in spans[:-1]) == 0:
        spans = [(start, end)]
    for one in spans or [(start, end)]:
        yield from _trimmed(text, *one, kind)


def _moved(text: str, cuts: list[int], start: int) -> list[int]:
    """Cuts where a marker that begins a sentence (``[2] adds that``) begins it."""
    moved = []
    for at in cuts:
        end = text[max(start, at - _TAIL) : at]
        tail = _MARKERS_LAST.search(end)
        if tail and _GOES_ON.match(text, at) and _END.search(end[: tail.start()]):
            at -= len(end) - tail.start()
        moved.append(at)
    return moved


def _trimmed(text: str, start: int, end: int, kind: Kind) -> Iterator[Unit]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield Unit(start, end, kind)
