"""Words of a source without the marks between them, which know where they stand. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from notehop.app.answer.code_spans import code_spans, inside

Range = tuple[int, int]
"""Half-open range of characters in the text of a source."""

_EMPHASIS = ("**", "__", "==", "~~")

_QUOTE_MARKS = re.compile(r"(?:[ \t]*>)+[ \t]?")
"""Marks that are read as text: of a quote in a list whose beginning is in another source."""

_ATTRIBUTE = r"""[ \t]+[A-Za-z_:][\w:.-]*(?:[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?"""
_MARKUP = re.compile(
    rf"</?[A-Za-z][A-Za-z0-9-]*(?:{_ATTRIBUTE})*[ \t]*/?>"
    r"|\[\^[^\[\]\s]+\]:?"
    r"|!?\[\[(?P<target>[^\[\]|\n]*)(?:\|(?P<shown>[^\[\]\n]*))?\]\]"
)
"""What a reader does not see: tags of HTML, marks of footnotes, a link around its words."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The text of a block, lines apart, put together from pieces of the source.

    ``starts`` are the places in ``text`` at which the pieces begin, ``origins`` those in the
    source.
    """

    text: str
    starts: tuple[int, ...] = ()
    origins: tuple[int, ...] = ()

    def part(self, start: int, end: int) -> Stretch:
        """The part without blanks around it, nor a mark of emphasis that it holds one end of."""
        text = self.text
        while True:
            piece = text[start:end]
            start += len(piece) - len(piece.lstrip())
            end = start + len(piece.strip())
            piece = text[start:end]
            for mark in _EMPHASIS:
                if piece.count(mark) == 1:
                    if piece.startswith(mark):
                        start += len(mark)
                        break
                    if piece.endswith(mark):
                        end -= len(mark)
                        break
            else:
                return self._cut(start, end)

    def words(self) -> str:
        """The text on one line."""
        return " ".join(self.text.split())

    def ranges(self) -> tuple[Range, ...]:
        """Where the words stand, in order."""
        found: list[Range] = []
        for at, start in enumerate(self.starts):
            end = self.starts[at + 1] if at + 1 < len(self.starts) else len(self.text)
            piece = self.text[start:end]
            if piece.strip():
                begin = self.origins[at] + len(piece) - len(piece.lstrip())
                found.append((begin, begin + len(piece.strip())))
        return tuple(found)

    def _cut(self, start: int, end: int) -> Stretch:
        if start >= end:
            return Stretch("")
        first = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, end - 1) - 1
        shift = start - self.starts[first]
        return Stretch(
            self.text[start:end],
            (0, *(at - start for at in self.starts[first + 1 : last + 1])),
            (self.origins[first] + shift, *self.origins[first + 1 : last + 1]),
        )


def stretch_of(content: str, source: str, lines: Iterable[Range], *, code: bool = False) -> Stretch:
    """Find the lines of a block in the lines of the source that it was read from.

    :param content: the text of the block, without the marks of the lists and quotes around it.
    :param lines: where these lines stand in the source, in order.
    :param code: whether all of it is seen as it is written.
    """
    text: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    length = 0
    spans = code_spans(content) if "`" in content else []
    begins = 0
    for line, (start, end) in zip(content.split("\n"), lines, strict=False):
        at = source.find(line, start, end)
        origin = at if at >= 0 else start
        for first, last in [(0, len(line))] if code else _seen(line, begins, spans):
            # A piece that goes on in the source as it does here is one with the piece before.
            if not starts or origin + first - length != origins[-1] - starts[-1]:
                starts.append(length)
                origins.append(origin + first)
            text.append(line[first:last])
            length += last - first
        text.append("\n")
        length += 1
        begins += len(line) + 1
    return Stretch("".join(text).rstrip("\n"), tuple(starts), tuple(origins))


def _seen(line: str, begins: int, spans: list[tuple[int, int]]) -> list[Range]:
    """The parts of a line that a reader sees."""
    marks = _QUOTE_MARKS.match(line)
    found: list[Range] = []
    at = marks.end() if marks else 0
    for mark in _MARKUP.finditer(line, at):
        if not inside(spans, begins + mark.start()):
            found += (at, mark.start()), _inner(mark)
            at = mark.end()
    found.append((at, len(line)))
    return [(first, last) for first, last in found if first < last]


def _inner(mark: re.Match[str]) -> Range:
    """The words of a link: those it shows, else its target."""
    return mark.span("shown" if mark["shown"] else "target")
