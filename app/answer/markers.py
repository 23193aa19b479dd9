"""The grammar of markers: how sources and connected notes are named in a context and an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NAME = r"(?:[0-9]{1,3}|[Cc][0-9]{1,3})"
_ITEM = rf"{_NAME}(?:[ \t]*[-–][ \t]*[0-9]{{1,3}})?"

MARKER = re.compile(
    rf"(?<![\[\\^])\[[ \t]*(?P<items>{_ITEM}(?:[ \t]*[,;][ \t]*{_ITEM})*)[ \t]*\](?![\](:])"
)
"""``[1]``, ``[1, 2]``, ``[1-3]``, ``[C1]``, ``[1, C2]``; not ``[[1]]``, ``[^1]``, ``[1](url)`` or
``[1]: url``, which mean something else in Markdown, and no year: a number has at most three digits.
"""

_RANGE = re.compile(r"([0-9]{1,3})[ \t]*[-–][ \t]*([0-9]{1,3})")


def source_marker(number: int) -> str:
    """The marker of the ``number``-th source, counted from 1."""
    return f"[{number}]"


def label_marker(label: str) -> str:
    """The marker of a connected note by its label (``C1``)."""
    return f"[{label}]"


def names_in(items: str) -> Iterator[str]:
    """Yield the names in the inside of a marker: numbers and labels, ranges written out.

    A range that runs backwards (``3-1``) yields both its ends.
    """
    for item in re.split(r"[,;]", items):
        span = _RANGE.fullmatch(item.strip())
        if span is None:
            yield _canonical(item.strip())
            continue
        first, last = int(span[1]), int(span[2])
        numbers = range(first, last + 1) if first <= last else (first, last)
        yield from (str(number) for number in numbers)


def _canonical(name: str) -> str:
    return f"C{int(name[1:])}" if name[0] in "Cc" else str(int(name))
