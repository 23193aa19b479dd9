"""The text of a block of a note, as a reader sees it, with its places in the source. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from notehop.app.answer.citations import code_spans, inside

Range = tuple[int, int]  # half-open range of characters in the text of a source

_EMPHASIS = ("**", "__", "==", "~~")

_ATTRIBUTE = r"""[ \t]+[A-Za-z_:][\w:.-]*(?:[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?"""
_MARKUP = re.compile(
    rf"</?[A-Za-z][A-Za-z0-9-]*(?:{_ATTRIBUTE})*[ \t]*/?>"
    r"|\[\^[^\[\]\s]+\]:?|(?<=\S)\^(?=\[[^\[\]\n]*\])"
    r"|(?P<opens>(?<![\w=])==(?=[^\s=][^\n]*?==))|(?P<shuts>(?<=[^\s=])(?:==(?![\w=])|={4}(?=[^\s=])))"
    r"|!?\[\[(?P<target>[^\[\]|\n]*)(?:\|(?P<shown>[^\[\]\n]*))?\]\]"
)
"""What a reader does not see: tags of HTML, marks of footnotes and highlights, a link around its words."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The text of a block, lines apart, with the place in the source of each of its characters."""

    text: str = ""
    origins: Sequence[int] = ()

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
                return Stretch(text[start:end], self.origins[start:end])

    def words(self) -> str:
        """The text on one line."""
        return " ".join(self.text.split())

    def ranges(self) -> tuple[Range, ...]:
        """Where the words stand, in order."""
        breaks = [
            at for at in range(1, len(self.text)) if self.origins[at] != self.origins[at - 1] + 1
        ]
        found: list[Range] = []
        for start, end in pairwise((0, *breaks, len(self.text))):
            piece = self.text[start:end]
            if piece.strip():
                begin = self.origins[start] + len(piece) - len(piece.lstrip())
                found.append((begin, begin + len(piece.strip())))
        return tuple(found)


def stretch_of(content: str, source: str, lines: Iterable[Range], *, code: bool = False) -> Stretch:
    """Find the lines of a block in the lines of the source that it was read from.

    :param content: the text of the block, without the marks of the lists and quotes around it.
    :param lines: where these lines stand in the source, in order.
    :param code: whether all of it is seen as it is written.
    """
    text = ""
    origins: list[int] = []
    spans = code_spans(content) if "`" in content else []
    begins = 0
    for line, (start, end) in zip(content.split("\n"), lines, strict=False):
        at = source.find(line, start, end)
        origin = at if at >= 0 else start
        for first, last in [(0, len(line))] if code else _seen(line, begins, spans):
            text += line[first:last]
            origins += range(origin + first, origin + last)
        text += "\n"
        origins.append(origins[-1] + 1 if origins else origin)
        begins += len(line) + 1
    text = text.rstrip("\n")
    return Stretch(text, origins[: len(text)])


def _seen(line: str, begins: int, spans: list[tuple[int, int]]) -> list[Range]:
    """The parts of a line that a reader sees."""
    found: list[Range] = []
    at, opened = 0, False
    for mark in _MARKUP.finditer(line, at):
        if mark["shuts"] and not opened:
            continue  # "c2VjcmV0==" is no highlight.
        if not inside(spans, begins + mark.start()):
            opened = bool(mark["opens"] or (opened and mark["shuts"] != "=="))
            # Of a link the words that it shows, else its target.
            shown = mark.span("shown" if mark["shown"] else "target")
            found += (at, mark.start()), shown
            at = mark.end()
    found.append((at, len(line)))
    return [(first, last) for first, last in found if first < last]
