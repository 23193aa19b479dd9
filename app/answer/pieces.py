"""Gives an answer that is being written piece by piece, without the markers that name nothing.

Pure.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from notehop.app.answer.citations import HOLE, close_holes, kept_of
from notehop.app.answer.code_spans import fence_after
from notehop.app.answer.markers import PLAIN, Grammar
from notehop.indexing.vault.sentences import sentence_spans

_LINE_BEGUN = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)]?)?[ \t]*(?:`*|~*)")
"""The beginning of a line that may still become that of a fence of code."""

_TOKEN = re.compile(r"\n|`+|[\[【]")

_BLANK_END = re.compile(rf"(?<![\s{HOLE}])[\s{HOLE}]+\Z")
"""Blanks and holes at the end of a text, which what follows may change."""

_QUOTES = str.maketrans("“”", "  ")
"""A quote is one sentence for who splits a text: without its marks it is those it holds."""


def sentences_of(text: str) -> Iterator[str]:
    """The text in whole sentences, which together are the text."""
    for start, end in sentence_spans(text.translate(_QUOTES)):
        yield text[start:end]


@dataclass(slots=True)
class _Changed:
    """A marker that is changed where it stands in prose.

    ``depth`` counts the runs of backticks before it that may still be closed behind it, which would
    make it code; with 0 it is known that ``shown`` is what stands there.
    """

    written: str
    shown: str
    depth: int


class MarkerFilter:
    """Takes the text of an answer in any pieces; gives what
    :func:`notehop.app.answer.citations.check_citations` leaves of it.

    What is given together is the checked text, without blanks around it. Held back is only what may
    still change: blanks at the end, what may become a marker or a fence of code, a marker that is
    removed until it is known what follows, and all behind one of which it is not known yet whether
    it is code. What was read is not read again, however long the answer.
    """

    def __init__(
        self, markers: Collection[str], labels: Collection[str], grammar: Grammar = PLAIN
    ) -> None:
        """:param markers: of the sources, as ``[1]``; ``labels``: of connected notes, as ``C1``."""
        self._markers = frozenset(markers)
        self._labels = frozenset(labels)
        self._grammar = grammar
        self._begun = False
        # What is to be read, from ``_at`` on; a character before it is kept to look back at.
        self._text = ""
        self._at = 0
        # Where a line begins, and in a fence, it is read as a line; else it is prose.
        self._in_line = True
        self._line = ""
        self._fence: str | None = None
        # Lengths, all different, of the runs of backticks in this paragraph that are open.
        self._runs: list[int] = []
        self._read: deque[str | _Changed] = deque()
        self._waiting: list[_Changed] = []
        # What is settled but for blanks and holes at its end, and the last character before it.
        self._marked = ""
        self._last = ""

    def feed(self, piece: str) -> str:
        """Take a piece; return what is settled by it, which may be nothing."""
        self._text += piece
        if not self._begun:
            self._text = self._text.lstrip()
            self._begun = bool(self._text)
        self._scan(whole=False)
        return self._settled(whole=False)

    def close(self) -> str:
        """Return the rest: nothing follows."""
        self._text = self._text[: self._at] + self._text[self._at :].rstrip()
        self._scan(whole=True)
        self._end_paragraph()
        return self._settled(whole=True)

    def _scan(self, *, whole: bool) -> None:
        """Read as far as what is there can be told.

        :param whole: nothing follows.
        """
        while self._at < len(self._text):
            if not (self._scan_line if self._in_line else self._scan_prose)(whole):
                break
        kept = max(0, self._at - 1)
        self._text, self._at = self._text[kept:], self._at - kept

    def _scan_line(self, whole: bool) -> bool:
        """Read a line of a fence, or tell what the line is that begins; False: not yet."""
        newline = self._text.find("\n", self._at)
        end = len(self._text) if newline < 0 else newline + 1
        line = self._text[self._at : end]
        if self._fence is not None:
            self._line += line
            self._take(line, end)
            if newline >= 0:
                self._fence, self._line = fence_after(self._fence, self._line), ""
            return True
        fence = fence_after(None, line)
        if newline < 0 and not whole and (fence or _LINE_BEGUN.fullmatch(line)):
            return False
        if fence is None and line.strip(" \t\n"):
            self._in_line = False
            return True
        self._end_paragraph()
        self._fence = fence
        self._take(line, end)
        return True

    def _scan_prose(self, whole: bool) -> bool:
        """Read up to the end of a line, or to the next thing in it; False: that is not all there."""
        found = _TOKEN.search(self._text, self._at)
        if found is None:
            self._take(self._text[self._at :], len(self._text))
            return True
        start, end = found.span()
        self._take(self._text[self._at : start], start)
        last = end == len(self._text) and not whole
        if found[0] == "\n":
            self._in_line = True
        elif found[0][0] == "`":
            if last:
                return False
            self._count(end - start)
        elif (marker := self._grammar.written.match(self._text, start)) is not None:
            end = marker.end()
            shown = kept_of(marker, self._markers, self._labels)
            if shown != marker[0] and end == len(self._text) and not whole:
                return False
            if shown == marker[0] or not self._runs:
                self._take(shown, end)
            else:
                changed = _Changed(marker[0], shown, len(self._runs))
                self._waiting.append(changed)
                self._read.append(changed)
                self._at = end
            return True
        elif not whole and self._grammar.begun.match(self._text, start):
            return False
        self._take(self._text[start:end], end)
        return True

    def _take(self, text: str, until: int) -> None:
        self._read.append(text)
        self._at = until

    def _count(self, run: int) -> None:
        """Count a run of backticks: it closes one of its length, and all between them is code."""
        if run not in self._runs:
            self._runs.append(run)
            return
        closed = self._runs.index(run)
        del self._runs[closed:]
        while self._waiting and self._waiting[-1].depth > closed:
            code = self._waiting.pop()
            code.shown, code.depth = code.written, 0

    def _end_paragraph(self) -> None:
        """What is open now is closed by nothing: it is prose."""
        self._runs.clear()
        for changed in self._waiting:
            changed.depth = 0
        self._waiting.clear()

    def _settled(self, *, whole: bool) -> str:
        """What can change no more, and was not given yet."""
        parts = [self._marked]
        while self._read:
            first = self._read[0]
            if isinstance(first, _Changed) and first.depth:
                break
            parts.append(first if isinstance(first, str) else first.shown)
            self._read.popleft()
        marked = "".join(parts)
        if whole:
            marked = marked.rstrip()
        settled = marked if whole else _BLANK_END.sub("", marked)
        self._marked = marked[len(settled) :]
        given = close_holes(self._last + settled)[len(self._last) :]
        self._last = settled[-1:] or self._last
        return given
