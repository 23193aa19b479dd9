"""The grammar of markers: how sources and connected notes are named in a context and an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_NAME = r"(?:[0-9]{1,3}|[Cc][0-9]{1,3})"
_GAP = r"[ \t]{0,3}"
_ITEM = rf"{_NAME}(?:{_GAP}[-–]{_GAP}{_NAME})?"
_ITEMS = rf"{_GAP}(?P<items>{_ITEM}(?:{_GAP}[,;]{_GAP}{_ITEM}){{0,40}}){_GAP}"
_OPEN, _CLOSE = r"(?<![\[\\^])\[", r"\](?![\](:])"
_LONGEST = 1_000
"""Characters between the brackets of what may become a marker: 41 items have fewer."""

MARKER = re.compile(f"{_OPEN}{_ITEMS}{_CLOSE}")
"""``[1]``, ``[1, 2]``, ``[1-3]``, ``[C1]``, ``[C1-3]``, ``[1, C2]``; not ``[[1]]``, ``[^1]``,
``[1](url)`` or ``[1]: url``, which mean something else in Markdown, and no year: a number has at
most three digits.
"""

_RANGE = re.compile(r"([Cc]?)([0-9]{1,3})[ \t]*[-–][ \t]*([Cc]?)([0-9]{1,3})")
_FOREIGN = re.compile(r"【[ \t]*[Cc]?[0-9]|\[\^[Cc]?[0-9]")


@dataclass(frozen=True, slots=True)
class Grammar:
    """How markers are written in one answer: ``written`` finds them, ``begun`` what may become one
    at the end of a text."""

    written: re.Pattern[str]
    begun: re.Pattern[str]


def _grammar(openings: Sequence[str], closings: Sequence[str]) -> Grammar:
    opening, closing = "|".join(openings), "|".join(closings)
    inside = rf"(?:[0-9Cc][0-9Cc,; \t–-]{{0,{_LONGEST}}}(?:†[^】\n]{{0,80}})?)?"
    return Grammar(
        re.compile(f"(?:{opening}){_ITEMS}(?:{closing})"),
        re.compile(rf"(?:{opening}){_GAP}{inside}\Z"),
    )


PLAIN = _grammar([_OPEN], [_CLOSE])
"""Markers as the prompt asks for them: :data:`MARKER`."""

FOREIGN = _grammar([rf"{_OPEN}\^?", "【"], [_CLOSE, r"(?:†[^】\n]{0,80})?】"])
"""The same, ``[^1]``, ``【1】`` and ``【1†lines】``: some models write no others."""


def grammar_for(shown: Iterable[str]) -> Grammar:
    """The grammar of an answer to what a model was shown: a mark that stands in a note, such as
    that of a footnote, may be quoted from it and is no marker then."""
    return PLAIN if any(_FOREIGN.search(text) for text in shown) else FOREIGN


def source_marker(number: int) -> str:
    """The marker of the ``number``-th source, counted from 1."""
    return f"[{number}]"


def label_marker(label: str) -> str:
    """The marker of a connected note by its label (``C1``)."""
    return f"[{label}]"


def names_in(items: str) -> Iterator[str]:
    """Yield the names in the inside of a marker: numbers and labels, ranges written out.

    A range that runs backwards (``3-1``), or from one kind to the other (``1-C3``), yields both its
    ends; ``C1-3`` is ``C1-C3``.
    """
    for item in re.split(r"[,;]", items):
        span = _RANGE.fullmatch(item.strip())
        if span is None:
            yield _canonical(item.strip())
            continue
        first, last = int(span[2]), int(span[4])
        kind, other = span[1].upper(), span[3].upper() or span[1].upper()
        if kind != other or first > last:
            yield from (f"{kind}{first}", f"{other}{last}")
        else:
            yield from (f"{kind}{number}" for number in range(first, last + 1))


def _canonical(name: str) -> str:
    return f"C{int(name[1:])}" if name[0] in "Cc" else str(int(name))
