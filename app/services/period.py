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


_COUNTED = re.compile(
    r"\b(?:(?:in|during|over|within|for) )?(?:the )?(?:last|past|previous|letzten|vergangenen)"
    r" (?P<count>\d{1,3}|two|three|four|five|six|seven|ten|zwei|drei|vier|fünf|sechs|sieben|zehn)"
    r" (?P<unit>days?|weeks?|months?|tagen?|wochen?|monaten?)\b",
    re.IGNORECASE,
)
_NUMBERS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10,
    "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "zehn": 10,
}  # fmt: skip
_PART = re.compile(
    r"(?:\b(?:in|on|at) )?\b(?:the )?(?:"
    r"(?P<week>first|second|third|fourth|last|erste[nr]?|zweite[nr]?|dritte[nr]?|vierte[nr]?|letzte[nr]?)"
    r" (?:week|woche) (?:of|in|im|des)"
    r"|(?P<early>early|(?:beginning|start) of|anfang)"
    r"|(?P<mid>mid(?=[ -])|(?:the )?middle of|mitte)"
    r"|(?P<late>late|(?:the )?end of|ende)"
    r")(?: in)?[ -]$",
    re.IGNORECASE,
)
"""What stands before a month and means a part of it."""

_WEEKS = ("first", "second", "third", "fourth")
_WOCHEN = ("erst", "zweit", "dritt", "viert")


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

    def without(start: int, end: int) -> str:
        return text[:start] + text[end:]

    days = facts_of(text).days
    counted = _COUNTED.search(text)
    if counted is not None and not days:
        number = _NUMBERS.get(counted["count"].lower()) or int(counted["count"])
        first = today - timedelta(
            days=number * {"w": 7, "m": 30}.get(counted["unit"][0].lower(), 1)
        )
        return Period(first, today + timedelta(days=1), without(*counted.span()))
    at = text.find(days[0].shown) if len(days) == 1 else -1
    part = _PART.search(text, 0, at) if at > 0 and not days[0].day else None
    # "The last week of March" is no last week.
    found = _RELATIVE.search(text) if part is None else None
    if len(days) + (found is not None) != 1:
        return None
    if found is not None:
        first, end = _relative(found, today)
        return Period(first, end, without(*found.span()))
    (day,) = days
    if day.month is None or day.either:
        return None
    begins = _day(day.year or today.year, day.month, day.day or 1)
    if begins is not None and day.year is None and begins > today:
        begins = _day(today.year - 1, day.month, day.day or 1)
    if begins is None:
        return None
    if day.day:
        return Period(begins, begins + timedelta(days=1), text.replace(day.shown, "", 1))
    first, end = (begins, _next_month(begins)) if part is None else _part(part, begins)
    return Period(first, end, without(at if part is None else part.start(), at + len(day.shown)))


def _part(part: re.Match[str], month: date) -> tuple[date, date]:
    """The days of a part of a month: weeks are counted from its first day, thirds are ten days."""
    after = _next_month(month)
    if said := (part["week"] or "").lower():
        numbers = [*_WEEKS, *_WOCHEN]
        at = next((numbers.index(one) % 4 for one in numbers if said.startswith(one)), None)
        if at is None:
            return after - timedelta(days=7), after
        return month + timedelta(days=7 * at), month + timedelta(days=7 * (at + 1))
    if part["early"]:
        return month, month.replace(day=11)
    if part["mid"]:
        return month.replace(day=11), month.replace(day=21)
    return month.replace(day=21), after


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
