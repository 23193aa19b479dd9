"""Owns the dates of ``after:`` and ``before:``: a day, a month, a year, or a time ago. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from types import MappingProxyType

from notehop.config.errors import QueryError

ACCEPTED = "write 2026-10-07, 2026-10, 2026, today, yesterday, or a time ago: 7d, 2w, 3m, 1y"

_WRITTEN = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?")
_AGO = re.compile(r"(\d{1,5})([dwmy])")


def _months_before(day: date, months: int) -> date:
    """The same day so many months before, or the last of that month."""
    month = day.year * 12 + day.month - 1 - months
    first = date(month // 12, month % 12 + 1, 1)
    after = date(first.year + first.month // 12, first.month % 12 + 1, 1)
    return first + timedelta(days=min(day.day, (after - first).days) - 1)


_UNITS: Mapping[str, Callable[[date, int], date]] = MappingProxyType(
    {
        "d": lambda today, count: today - timedelta(days=count),
        "w": lambda today, count: today - timedelta(weeks=count),
        "m": _months_before,
        "y": lambda today, count: _months_before(today, 12 * count),
    }
)


def day_of(said: str, today: date) -> date:
    """Return the day that a date begins with: of a month or year, its first.

    :param said: as a person writes it, without regard to case.
    :raises QueryError: if it is none of what is accepted; the message says what is.
    """
    text = said.strip().casefold()
    try:
        if text == "today":
            return today
        if text == "yesterday":
            return today - timedelta(days=1)
        if ago := _AGO.fullmatch(text):
            return _UNITS[ago[2]](today, int(ago[1]))
        if written := _WRITTEN.fullmatch(text):
            return date(int(written[1]), int(written[2] or 1), int(written[3] or 1))
    except (ValueError, OverflowError):
        # A 31st of June, or a time before the first year.
        pass
    raise QueryError(f"{said!r} is no date; {ACCEPTED}")
