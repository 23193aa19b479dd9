"""Owns the time of a note: the day that its news is of, and when it was last worked on. Pure.

The two differ. A daily note is of its day whenever its file was touched; a project's page is worked
on for months. Where a note does not say, its file does.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from functools import lru_cache

from notehop.indexing.stores.model import NoteRow
from notehop.indexing.vault.dates import day_in_name

DAY = 86_400.0
"""Seconds."""

_PERIOD = re.compile(r"(?P<year>\d{4})-(?:[Ww](?P<week>\d{2})|(?P<month>\d{2}))")


@lru_cache(maxsize=50_000)
def day_of(path: str) -> float | None:
    """The day in the name of a note, in seconds since the epoch (noon, UTC); None if it has none.

    Noon is on that day from Honolulu to Auckland, as good as anywhere. A note of a week or a month
    (``2026-W41``, ``2026-10``) is of its first day.
    """
    day = day_in_name(path) or _period_in_name(path)
    return None if day is None else _noon(day)


def own_day(note: NoteRow) -> float | None:
    """The day that a note is of by its own account: that in its name, else its date of creation.

    The name counts first: journals that were brought in from elsewhere have the date of that day in
    their properties.
    """
    day = day_of(note.path)
    return note.created if day is None else day


def worked_on(note: NoteRow) -> float:
    """When a note was last worked on, in seconds since the epoch.

    The day in its name, for what is called after a day is of that day, whatever a tool wrote into
    it since; else what its properties say of its last change; else of its creation; else the time
    of its file, which every copy of a vault sets anew.
    """
    day = day_of(note.path)
    if day is not None:
        return day
    if note.modified != note.mtime_ns / 1e9 or note.created is None:
        return note.modified
    return note.created


def says_its_time(note: NoteRow) -> bool:
    """Whether the time of a note is its own word, and not that of its file."""
    changed = note.modified != note.mtime_ns / 1e9
    return changed or note.created is not None or day_of(note.path) is not None


def newest(times: Iterable[float], now: float) -> float | None:
    """The newest of the times that is not to come; None if there is none.

    A day in the future is a plan or a mistake. One day is let pass: it is tomorrow somewhere.

    :param now: seconds since the epoch, as ``times``.
    """
    return max((one for one in times if one <= now + DAY), default=None)


def _period_in_name(path: str) -> date | None:
    """The first day of the week or month that a note is called after."""
    found = _PERIOD.fullmatch(posixpath.basename(path).removesuffix(".md").strip())
    if found is None:
        return None
    year, week, month = found["year"], found["week"], found["month"]
    try:
        if week is not None:
            return date.fromisocalendar(int(year), int(week), 1)
        return date(int(year), int(month), 1)
    except ValueError:
        return None


def _noon(day: date) -> float:
    return datetime.combine(day, time(12), UTC).timestamp()
