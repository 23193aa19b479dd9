"""Gives an answer that is being written piece by piece, without the markers that name nothing.

Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from notehop.app.answer.citations import check_citations
from notehop.app.answer.code_spans import code_spans, inside, open_fence
from notehop.app.answer.markers import MARKER, names_in
from notehop.indexing.vault.sentences import sentence_spans

_BEGUN = re.compile(r"(?<![\[\\^])\[[ \t]*(?:[0-9Cc][0-9Cc,; \t–-]{0,80})?$")
"""What may become a marker."""

_FENCE = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?`{3}")

_BLANK_LINE = re.compile(r"\n[ \t]*\n")

_CODE = re.compile("[`~]")

_BETWEEN_WORDS = re.compile(r"(?<=[^\W\d_]) (?=[^\W\d_cC])")
"""A place in prose that no marker, hole or start of a line reaches over; a ``c`` may be of one."""


_QUOTES = str.maketrans("“”", "  ")
"""A quote is one sentence for who splits a text: without its marks it is those it holds."""


def sentences_of(text: str) -> Iterator[str]:
    """The text in whole sentences, which together are the text."""
    for start, end in sentence_spans(text.translate(_QUOTES)):
        yield text[start:end]


class MarkerFilter:
    """Takes the text of an answer in any pieces; gives what :func:`check_citations` leaves of it.

    What is given together is the checked text, without blanks around it. Held back is only what may
    still change: blanks at the end, what may become a marker, and a marker to be removed until it
    is known what follows.
    """

    def __init__(self, markers: Collection[str], labels: Collection[str]) -> None:
        """:param markers: of the sources, as ``[1]``; ``labels``: of connected notes, as ``C1``."""
        self._markers = frozenset(markers)
        self._labels = frozenset(labels)
        self._text = ""
        self._given = 0
        self._begun = False

    def feed(self, piece: str) -> str:
        """Take a piece; return what is settled by it, which may be nothing."""
        self._text += piece
        if not self._begun:
            self._text = self._text.lstrip()
            self._begun = bool(self._text)
        return self._give(self._settled())

    def close(self) -> str:
        """Return the rest: nothing follows."""
        return self._give(len(self._text.rstrip()))

    def _give(self, until: int) -> str:
        clean = self._checked(self._text[:until])
        given = clean[self._given :]
        self._given = max(self._given, len(clean))
        self._forget(until)
        return given

    def _forget(self, until: int) -> None:
        """Drop what is done with, so that the time is not quadratic in the length."""
        self._forget_paragraphs(until)
        code = _CODE.search(self._text, 0, until)
        done = None
        for done in _BETWEEN_WORDS.finditer(self._text, 0, code.start() if code else until):  # noqa: B007
            pass
        if done is not None and done.end() < until:
            self._drop(done.end())

    def _forget_paragraphs(self, until: int) -> None:
        """Drop the paragraphs that are done with: no mark of code reaches over a blank line."""
        done = None
        for done in _BLANK_LINE.finditer(self._text, 0, until):  # noqa: B007 (the last is wanted)
            pass
        if done is None or open_fence(self._text[: done.end()]) is not None:
            return
        self._drop(done.end())

    def _drop(self, until: int) -> None:
        self._given -= len(self._checked(self._text[:until]))
        self._text = self._text[until:]

    def _checked(self, text: str) -> str:
        return check_citations(text, self._markers, self._labels).text

    def _settled(self) -> int:
        """How much of the text can change no more, whatever follows."""
        text = self._text
        end = len(text)
        while True:
            end = len(text[:end].rstrip())
            if begun := _BEGUN.search(text, 0, end):
                end = begun.start()
            elif (marker := self._last_marker(end)) is not None:
                end = marker
            else:
                break
        return min(end, self._undecided())

    def _last_marker(self, end: int) -> int | None:
        """Where a marker begins that ends the text and is to be removed or changed."""
        start = self._text.rfind("[", 0, end)
        found = MARKER.fullmatch(self._text, start, end) if start >= 0 else None
        return start if found and not self._stays(found) else None

    def _undecided(self) -> int:
        """Where the first marker stands that an open span of code may yet turn into text."""
        # A run of marks at the end may be longer yet, and then it closes nothing.
        spans = code_spans(self._text.rstrip("`"))
        open_at = next(
            (
                tick.start()
                for tick in re.finditer("`+", self._text)
                if not inside(spans, tick.start())
                and not _BLANK_LINE.search(self._text, tick.end())
            ),
            None,
        )
        # A line that begins as a fence of code does may still become one of text.
        line = self._text.rfind("\n") + 1
        fence = _FENCE.match(self._text, line)
        for found in MARKER.finditer(self._text):
            at = found.start()
            undecided = open_at is not None and at > open_at and not inside(spans, at)
            if not self._stays(found) and (undecided or (fence and at > line)):
                return len(self._text[:at].rstrip())
        return len(self._text)

    def _stays(self, marker: re.Match[str]) -> bool:
        return all(
            name in self._labels or f"[{name}]" in self._markers
            for name in names_in(marker["items"])
        )
