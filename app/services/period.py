"""The time that a question names: days, weeks, months and years, in the words of ``lists.toml``."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from notehop.app.answer.facts import facts_of

MONTH = timedelta(days=31)

_TIME = tomllib.loads(Path(__file__).with_name("lists.toml").read_text("utf-8"))["time"]
_WEEKDAYS: list[list[str]] = _TIME["weekdays"]
_RELATIVE = re.compile(
    rf"\b(?:{'|'.join(_TIME['relative'])})\b".replace(
        "{weekday}", "|".join(map("|".join, _WEEKDAYS))
    ),
    re.IGNORECASE,
)
_NUMBERS: dict[str, int] = _TIME["numbers"]
_COUNTED = re.compile(_TIME["counted"].replace("{number}", "|".join(_NUMBERS)), re.IGNORECASE)
_PART = re.compile(
    rf"(?:\b(?:in|on|at) )?\b(?:the )?(?:{'|'.join(_TIME['part'])})(?: in)?[ -]$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Period:
    """From ``first`` to before ``end``, and the text without the words that say so."""

    first: date
    end: date
    rest: str

    @property
    def days(self) -> tuple[str, str]:
        """``first`` and ``end`` as notes are dated."""
        return self.first.isoformat(), self.end.isoformat()

    @property
    def is_short(self) -> bool:
        """Whether it is a month at most."""
        return self.end - self.first <= MONTH


def period_of(text: str, today: date) -> Period | None:
    """The one period that a question names, without a year the last that has begun; None for several, and
    for a part of a month."""

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
    if at > 0 and not days[0].day and _PART.search(text, 0, at):
        return None  # "the last week of March" is neither a last week nor all of March
    found = _RELATIVE.search(text)
    if len(days) + (found is not None) != 1:
        return None
    if found is not None:
        first, end = _relative(found, today)
        return Period(first, end, without(*found.span()))
    (day,) = days
    if day.month is None or day.either:
        return None
    try:
        begins = date(day.year or today.year, day.month, day.day or 1)
        if day.year is None and begins > today:
            begins = date(today.year - 1, day.month, day.day or 1)
    except ValueError:
        return None
    if day.day:
        return Period(begins, begins + timedelta(days=1), text.replace(day.shown, "", 1))
    return Period(begins, _next_month(begins), without(at, at + len(day.shown)))


def _relative(found: re.Match[str], today: date) -> tuple[date, date]:
    """The first of the days that are told from today on, and the one after the last."""
    day = timedelta(days=1)
    if found["number"]:
        return date(int(found["number"]), 1, 1), date(int(found["number"]) + 1, 1, 1)
    if found["week"]:
        monday = today - (today.weekday() + (0 if found["this"] else 7)) * day
        return monday, monday + 7 * day
    if found["month"]:
        first = today.replace(day=1)
        first = first if found["this"] else (first - day).replace(day=1)
        return first, _next_month(first)
    if found["today"] or found["yesterday"] or found["weekday"]:
        back = 1 if found["yesterday"] else 0
        if said := (found["weekday"] or "").lower():
            number = next(week.index(said) for week in _WEEKDAYS if said in week)
            back = (today.weekday() - number - 1) % 7 + 1
        return today - back * day, today - (back - 1) * day
    year = today.year - (found["last"] is not None)
    return date(year, 1, 1), date(year + 1, 1, 1)


def _next_month(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1)
