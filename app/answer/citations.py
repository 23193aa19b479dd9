"""The markers of sources and connected notes: their grammar, in a context, an answer or code, and
which of an answer name something, also while it is being written; code, and what a reader sees of
a block of a note, with its places in the source. Pure.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from notehop.indexing.vault.plain import sentence_spans

Range = tuple[int, int]  # half-open range of characters in a text

_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?P<marks>`{3,}|~{3,})(?P<info>.*)")
_TICKS = re.compile(r"`+")


def code_spans(text: str) -> list[Range]:
    """Return the ranges of ``text`` that are code, in order, without overlap.

    Fences (backticks or tildes, also inside quotes and list items; an unclosed one reaches to the
    end) and inline spans, whose closing run has the length of the opening one (CommonMark 0.31, 4.5
    and 6.1) and, here, stands in the same line.
    """
    spans: list[Range] = []
    at = 0
    for start, end in fence_ranges(text):
        spans += _inline_code_spans(text, at, start)
        spans.append((start, end))
        at = end
    return spans + list(_inline_code_spans(text, at, len(text)))


def unclosed_fence(text: str) -> str | None:
    """Return the marks that would close the fence still open at the end of ``text``, or None."""
    opened: str | None = None
    for line in text.split("\n"):
        opened = fence_after(opened, line)
    return opened


def is_inside(spans: list[Range], at: int) -> bool:
    """Whether the character at ``at`` lies in one of ``spans``, which are in order."""
    last = bisect_right(spans, at, key=itemgetter(0)) - 1
    return last >= 0 and at < spans[last][1]


def fence_after(opened: str | None, line: str) -> str | None:
    """Return the marks of the open fence after ``line``, given those before it; None for none."""
    match = _FENCE.fullmatch(line.rstrip("\r\n"))
    if match is None:
        return opened
    marks, info = match["marks"], match["info"]
    if opened is None:
        return None if marks[0] == "`" and "`" in info else marks
    closes = marks[0] == opened[0] and len(marks) >= len(opened) and not info.strip()
    return None if closes else opened


def fence_ranges(text: str) -> Iterator[Range]:
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


def _inline_code_spans(text: str, start: int, end: int) -> Iterator[Range]:
    at = start
    while (opening := _TICKS.search(text, at, end)) is not None:
        newline = text.find("\n", opening.end(), end)
        runs = _TICKS.finditer(text, opening.end(), end if newline < 0 else newline)
        closing = next((run for run in runs if len(run[0]) == len(opening[0])), None)
        at = (closing or opening).end()
        if closing is not None:
            yield opening.start(), at


_NAME = r"(?:[0-9]{1,3}|[Cc][0-9]{1,3})"
_GAP = r"[ \t]{0,3}"
_ITEM = rf"{_NAME}(?:{_GAP}[-–]{_GAP}{_NAME})?"
_ITEMS = rf"{_GAP}(?P<items>{_ITEM}(?:{_GAP}[,;]{_GAP}{_ITEM}){{0,40}}){_GAP}"
_OPEN, _CLOSE = r"(?<![\[\\^])\[", r"\](?![\](:])"
_MAX_MARKER_CHARS = 1_000  # characters between the brackets of what may become a marker: 41 items have fewer

MARKER = re.compile(rf"(?:{_OPEN}|【){_ITEMS}(?:{_CLOSE}|(?:†[^】\n]{{0,80}})?】)")
"""``[1]``, ``[1, 2]``, ``[1-3]``, ``[C1]``, ``[C1-3]``, ``[1, C2]``, and ``【1】`` and ``【1†lines】``, which
some models write; not ``[[1]]``, ``[^1]``, ``[1](url)`` or ``[1]: url``, which mean something else in
Markdown, and no year: a number has at most three digits.
"""

_UNFINISHED_MARKER = re.compile(
    rf"(?:{_OPEN}|【){_GAP}(?:[0-9Cc][0-9Cc,; \t–-]{{0,{_MAX_MARKER_CHARS}}}(?:†[^】\n]{{0,80}})?)?\Z"
)
"""The end of a text that may become a marker."""

_RANGE = re.compile(r"([Cc]?)([0-9]{1,3})[ \t]*[-–][ \t]*([Cc]?)([0-9]{1,3})")


def marker_of(name: str | int) -> str:
    """Return the marker of a source by its number, from 1, or of a connected note by its label (``C1``)."""
    return f"[{name}]"


def names_in(items: str) -> Iterator[str]:
    """Yield the names in the inside of a marker: numbers and labels, ranges written out.

    A range that runs backwards (``3-1``), or from one kind to the other (``1-C3``), yields both its
    ends; ``C1-3`` is ``C1-C3``.
    """
    for item in re.split(r"[,;]", items):
        name = item.strip()
        span = _RANGE.fullmatch(name)
        if span is None:
            yield f"C{int(name[1:])}" if name[0] in "Cc" else str(int(name))
            continue
        first, last = int(span[2]), int(span[4])
        kind, other = span[1].upper(), span[3].upper() or span[1].upper()
        if kind != other or first > last:
            yield from (f"{kind}{first}", f"{other}{last}")
        else:
            yield from (f"{kind}{number}" for number in range(first, last + 1))


def close_holes(text: str) -> str:
    """Return a text without its holes: a space is left between words, else nothing."""
    return _HOLES.sub(_hole_replacement, text)


HOLE = "\0"
# It begins where a run of blanks does: begun at each, a run takes its length squared.
_HOLES = re.compile(rf"(?<![ \t])[ \t]*{HOLE}(?:[ \t]*{HOLE})*[ \t]*")
_WORD_AFTER = re.compile(r"[^\s.,;:!?)\]]")


def _hole_replacement(hole: re.Match[str]) -> str:
    """Return what stands where markers were taken out: one space between words, else nothing."""
    text, start = hole.string, hole.start()
    begins = start == 0 or text[start - 1] == "\n"
    between = not begins and _WORD_AFTER.match(text, hole.end()) is not None
    return " " if between and (hole[0][0] in " \t" or hole[0][-1] in " \t") else ""


_UNFINISHED_LINE = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)]?)?[ \t]*(?:`*|~*)")
"""The beginning of a line that may still become that of a fence of code."""

_BLANK_END = re.compile(rf"(?<![\s{HOLE}])[\s{HOLE}]+\Z")
"""Blanks and holes at the end of a text, which what follows may change."""

_QUOTES = str.maketrans("“”", "  ")
"""A quote is one sentence for who splits a text: without its marks it is those it holds."""


def split_sentences(text: str) -> Iterator[str]:
    """Yield the text in whole sentences, which together are the text."""
    for start, end in sentence_spans(text.translate(_QUOTES)):
        yield text[start:end]


class MarkerFilter:
    """Takes the text of an answer in any pieces, and removes the markers that name nothing.

    Markers are never renumbered; those in code are text. One with some unknown names keeps the known
    ones, in order; one that is not written in square brackets is. What is given together is the
    checked text, without blanks around it. Held back is only what may still change: blanks at the end,
    what may become a marker or a fence of code, a marker that is removed until it is known what
    follows, and what of a line stands behind one of which it is not known yet whether it is code.

    Of the lines that are whole, and of all after :meth:`close`: ``cited`` are the markers of sources
    (``[1]``), ``mentioned`` the labels of connected notes (``C1``), each once, and ``unknown`` counts
    the names that were removed, all in order of first appearance.
    """

    def __init__(self, markers: Collection[str], labels: Collection[str]) -> None:
        """:param markers: of the sources, as ``[1]``; ``labels``: of connected notes, as ``C1``."""
        self.cited: dict[str, None] = {}
        self.mentioned: dict[str, None] = {}
        self.unknown: dict[str, int] = {}
        self._markers = frozenset(markers)
        self._labels = frozenset(labels)
        self._fence: str | None = None
        # The line that is begun, and how much of it, checked, is read.
        self._line = ""
        self._settled_chars = 0
        # What is read but for blanks and holes at its end, and the last character that was given.
        self._held_blanks = ""
        self._last_char = ""

    def feed(self, piece: str) -> str:
        """Take a piece; return what is settled by it, which may be nothing."""
        has_begun = self._line or self._held_blanks or self._last_char
        *whole, line = (self._line + (piece if has_begun else piece.lstrip())).split("\n")
        settled = [self._held_blanks]
        for whole_line in whole:
            settled.append(self._check_line(whole_line)[self._settled_chars :])
            self._fence = fence_after(self._fence, whole_line)
            self._settled_chars = 0
        self._line = line
        settled_part = self._settled_part()
        settled.append(settled_part[self._settled_chars :])
        self._settled_chars = max(self._settled_chars, len(settled_part))
        text = "\n".join([settled[0] + settled[1], *settled[2:]])
        settled_text = _BLANK_END.sub("", text)
        self._held_blanks = text[len(settled_text) :]
        return self._close_holes(settled_text)

    def close(self) -> str:
        """Return the rest: nothing follows."""
        return self._close_holes(
            (self._held_blanks + self._check_line(self._line)[self._settled_chars :]).rstrip()
        )

    def _close_holes(self, settled: str) -> str:
        closed = close_holes(self._last_char + settled)[len(self._last_char) :]
        self._last_char = closed[-1:] or self._last_char
        return closed

    def _settled_part(self) -> str:
        """Return the checked line as far as nothing that follows can change it."""
        line = self._line
        if self._fence is not None:
            return line
        if fence_after(None, line) or _UNFINISHED_LINE.fullmatch(line):
            return ""
        # Code that is begun, a marker that is, and at the end one to remove: it may become a link.
        line = line.rstrip("`")
        code = list(_inline_code_spans(line, 0, len(line)))
        unsettled = [one.start() for one in _TICKS.finditer(line) if not is_inside(code, one.start())]
        unsettled += [one.start() for one in _UNFINISHED_MARKER.finditer(line)]
        unsettled += [
            one.start()
            for one in MARKER.finditer(line)
            if one.end() == len(line) and self._known_part(one) != one[0]
        ]
        settled_part = line[: min((at for at in unsettled if not is_inside(code, at)), default=len(line))]
        return self._replace_markers(settled_part, code)

    def _check_line(self, line: str) -> str:
        """Return a whole line without its unknown markers, and count them."""
        if self._fence is not None or fence_after(None, line):
            return line
        code = list(_inline_code_spans(line, 0, len(line)))
        for marker in MARKER.finditer(line):
            for name in names_in(marker["items"]) if not is_inside(code, marker.start()) else ():
                if name in self._labels:
                    self.mentioned[name] = None
                elif f"[{name}]" in self._markers:
                    self.cited[f"[{name}]"] = None
                else:
                    self.unknown[name] = self.unknown.get(name, 0) + 1
        return self._replace_markers(line, code)

    def _replace_markers(self, line: str, code: list[Range]) -> str:
        def replace_marker(marker: re.Match[str]) -> str:
            return marker[0] if is_inside(code, marker.start()) else self._known_part(marker)

        return MARKER.sub(replace_marker, line)

    def _known_part(self, marker: re.Match[str]) -> str:
        """Return what stands in prose for a marker: itself, the names of it that are known, or a hole."""
        names = list(names_in(marker["items"]))
        known = [one for one in names if one in self._labels or f"[{one}]" in self._markers]
        if known == names and marker[0].startswith("["):
            return marker[0]
        return f"[{', '.join(known)}]" if known else HOLE


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
class MappedText:
    """The text of a block, lines apart, with the place in the source of each of its characters."""

    text: str = ""
    origins: Sequence[int] = ()

    def part(self, start: int, end: int) -> MappedText:
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
                return MappedText(text[start:end], self.origins[start:end])

    def words(self) -> str:
        """The text on one line."""
        return " ".join(self.text.split())

    def ranges(self) -> tuple[Range, ...]:
        """Return where the words stand in the source, in order."""
        breaks = [at for at in range(1, len(self.text)) if self.origins[at] != self.origins[at - 1] + 1]
        found: list[Range] = []
        for start, end in pairwise((0, *breaks, len(self.text))):
            piece = self.text[start:end]
            if piece.strip():
                begin = self.origins[start] + len(piece) - len(piece.lstrip())
                found.append((begin, begin + len(piece.strip())))
        return tuple(found)


def map_to_source(content: str, source: str, lines: Iterable[Range], *, code: bool = False) -> MappedText:
    """Find the lines of a block in the lines of the source that it was read from.

    :param content: the text of the block, without the marks of the lists and quotes around it.
    :param lines: where these lines stand in the source, in order.
    :param code: whether all of it is seen as it is written.
    """
    text = ""
    origins: list[int] = []
    spans = code_spans(content) if "`" in content else []
    line_start = 0
    for line, (start, end) in zip(content.split("\n"), lines, strict=False):
        at = source.find(line, start, end)
        origin = at if at >= 0 else start
        for first, last in [(0, len(line))] if code else _visible_ranges(line, line_start, spans):
            text += line[first:last]
            origins += range(origin + first, origin + last)
        text += "\n"
        origins.append(origins[-1] + 1 if origins else origin)
        line_start += len(line) + 1
    text = text.rstrip("\n")
    return MappedText(text, origins[: len(text)])


def _visible_ranges(line: str, begins: int, spans: list[tuple[int, int]]) -> list[Range]:
    """The parts of a line that a reader sees."""
    visible: list[Range] = []
    at, opened = 0, False
    for mark in _MARKUP.finditer(line, at):
        if mark["shuts"] and not opened:
            continue  # "c2VjcmV0==" is no highlight.
        if not is_inside(spans, begins + mark.start()):
            opened = bool(mark["opens"] or (opened and mark["shuts"] != "=="))
            # Of a link the words that it shows, else its target.
            link_words = mark.span("shown" if mark["shown"] else "target")
            visible += (at, mark.start()), link_words
            at = mark.end()
    visible.append((at, len(line)))
    return [(first, last) for first, last in visible if first < last]
