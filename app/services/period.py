"""The day, week, month or year that a question names ("yesterday", "in March"). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from notehop.app.answer.facts import facts_of

_WEEKDAYS = (
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
    ["montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"],
)
_RELATIVE = re.compile(
    r"\b(?:(?P<today>today|heute)|(?P<yesterday>yesterday|gestern)"
    r"|(?:(?P<this>this|diese[nrs]?)|(?P<last>last|past|previous|letzte[nrs]?))"
    r" (?:(?P<week>week|woche)|(?P<month>month|monat)|(?P<year>year|jahr))"
    rf"|(?:on|last|am|letzten) (?P<weekday>{'|'.join(map('|'.join, _WEEKDAYS))})"
    r"|in (?P<number>(?:19|20)\d\d))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Period:
    """From ``first`` to before ``end``, and the text without the words that say so."""

    first: date
    end: date
    rest: str


def period_of(text: str, today: date) -> Period | None:
    """Return the one period that a question names; None for none, and for several.

    Without a year it is the last one that has begun by ``today``.
    """
    days = facts_of(text).days
    found = _RELATIVE.search(text)
    if len(days) + (found is not None) != 1:
        return None
    if found is not None:
        first, end = _relative(found, today)
        return Period(first, end, text[: found.start()] + text[found.end() :])
    (day,) = days
    if day.month is None or day.either:
        return None
    begins = _day(day.year or today.year, day.month, day.day or 1)
    if begins is not None and day.year is None and begins > today:
        begins = _day(today.year - 1, day.month, day.day or 1)
    if begins is None:
        return None
    end = begins + timedelta(days=1) if day.day else _next_month(begins)
    return Period(begins, end, text.replace(day.shown, "", 1))


def _relative(found: re.Match[str], today: date) -> tuple[date, date]:
    day = timedelta(days=1)
    if found["today"]:
        return today, today + day
    if found["yesterday"]:
        return today - day, today
    if said := found["weekday"]:
        number = next(week.index(said.lower()) for week in _WEEKDAYS if said.lower() in week)
        back = (today.weekday() - number - 1) % 7 + 1
        return today - back * day, today - (back - 1) * day
    if found["number"]:
        return date(int(found["number"]), 1, 1), date(int(found["number"]) + 1, 1, 1)
    if found["week"]:
        monday = today - today.weekday() * day
        return (monday, monday + 7 * day) if found["this"] else (monday - 7 * day, monday)
    if found["month"]:
        first = today.replace(day=1)
        return (
            (first, _next_month(first)) if found["this"] else ((first - day).replace(day=1), first)
        )
    year = today.year - (found["last"] is not None)
    return date(year, 1, 1), date(year + 1, 1, 1)


def _next_month(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
