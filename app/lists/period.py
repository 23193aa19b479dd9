"""The time that a question names: days, weeks, months and years, in the words of ``lists.toml``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache

from notehop.app.answer.facts import Day, facts_of
from notehop.app.lists.vault_question import ACTION_WORDS, WORDS, VaultQuestion, content_words
from notehop.indexing.stores.rows import ChunkId
from notehop.indexing.tokens.words import fold
from notehop.indexing.vault.dates import MONTH_NUMBERS

MONTH = timedelta(days=31)
LEAP_YEAR = 2000  # stands for the year where none is said
MAX_YEARS_BACK = 10  # in which a day or month without a year is looked for

_TIME = WORDS["time"]
_WEEKDAYS: list[list[str]] = _TIME["weekdays"]


def expand_names(text: str) -> str:
    """Replace the names in braces of a pattern by their words."""
    for name in _TIME["named"]:
        words = WORDS["comparing"].get(name) or _TIME[name]
        if isinstance(words, dict):
            words = "|".join(f"(?P<{part}>{one})" for part, one in words.items())
        text = text.replace(f"{{{name}}}", words)
    return text.replace("{weekday}", f"(?:{'|'.join(map('|'.join, _WEEKDAYS))})")


def time_pattern(text: str) -> re.Pattern[str]:
    """Whole words, in a pattern with names in braces for words of a time."""
    return re.compile(rf"\b(?:{expand_names(text)})\b", re.IGNORECASE)


_RELATIVE = time_pattern("|".join(_TIME["relative"]))
_TIME_NAMES = ("this", "last", "next", "weekend", "week", "month", "year", "yesterday", "tomorrow", "weekday")
TIME_PATTERNS = {name: time_pattern(f"{{{name}}}") for name in _TIME_NAMES}
_NUMBERS: dict[str, int] = _TIME["numbers"]
_COUNTED = re.compile(_TIME["counted"].replace("{number}", "|".join(_NUMBERS)), re.IGNORECASE)
_BEFORE, _UNTIL, _SINCE, _AFTER = (
    re.compile(rf"\b{_TIME[one]} (?:{_TIME['article']} )?$", re.IGNORECASE)
    for one in ("before", "until", "since", "after")
)
_REWRITES = [(re.compile(expand_names(said), re.IGNORECASE), words) for words, said in _TIME["read_as"]]
_WHICH, _LEADS = (re.compile(_TIME[one], re.IGNORECASE) for one in ("which", "leads"))
_PART, _WEEK_OF, _FROM = (
    re.compile(rf"(?<![\w.:])(?:{expand_names(_TIME[one])})$", re.IGNORECASE)
    for one in ("part", "week_of", "from_day")
)
_ORDINALS = {word: n for n, words in enumerate(_TIME["nth"]) for word in words.split()}


@dataclass(frozen=True, slots=True)
class Period:
    """From ``first`` to before ``end``; the text without the words that say so, and where these stood.
    ``yearly``: no year is named, as of a birthday."""

    first: date
    end: date
    rest: str
    at: int = 0
    yearly: bool = False

    def contains(self, day: date) -> bool:
        """Tell whether a day is in the period, of any year if none is named."""
        if not self.yearly:
            return self.first <= day < self.end
        months = day.month == self.first.month
        return months and (self.end - self.first > timedelta(days=1) or day.day == self.first.day)

    def with_earlier_years(self, since: date = date.min) -> Iterator[Period]:
        """Yield the period and, where it names no year, those of earlier years that have such a day; none
        that ends before ``since``."""
        yield self
        for back in range(1, MAX_YEARS_BACK if self.yearly else 1):
            with suppress(ValueError):  # 29 February
                first = self.first.replace(year=self.first.year - back)
                one_day = self.end - self.first <= timedelta(days=1)
                end = first + timedelta(days=1) if one_day else next_month(first)
                if end > since:
                    yield replace(self, first=first, end=end)

    def candidate_periods(self, plain: str, question: VaultQuestion) -> Iterator[Period]:
        """Yield the periods that may be meant. Where more is asked than what is of a month without a year,
        none is from before the last year of the vault: the month is a word like others then."""
        is_all = {*content_words(plain)} <= ACTION_WORDS or self.end - self.first <= timedelta(days=1)
        return self.with_earlier_years(date.min if is_all else question.year_before_newest)

    def apply_bounds(self, text: str) -> Period:
        """Extend the period to all before it, or from it on, where a text says so: "since March"."""
        first, end, before = self.first, self.end, text[: self.at]
        if (until := _UNTIL.search(before)) or _BEFORE.search(before):
            first, end = date.min, end if until else first
        elif (after := _AFTER.search(before)) or _SINCE.search(before):
            first, end = end if after else first, date.max
        else:
            return self
        return replace(self, first=first, end=end, yearly=False)

    @property
    def iso_bounds(self) -> tuple[str, str]:
        """``first`` and ``end`` in ISO format, as notes are dated."""
        return self.first.isoformat(), self.end.isoformat()

    @property
    def spellings(self) -> list[str]:
        """Years, or spellings of its month: one of them is in any date of it, however written."""
        if not self.yearly:
            return [f"{year}" for year in range(self.first.year, self.end.year + 1)]
        month = self.first.month
        numbers = (f"{before}{month:0{width}}" for before in "-./" for width in (1, 2))
        return [*numbers, *(name for name, one in MONTH_NUMBERS.items() if one == month)]

    @property
    def is_short(self) -> bool:
        """Whether it is a month at most, or has no end."""
        return self.end - self.first <= MONTH or self.end == date.max


def parse_period(text: str, today: date, *, ahead: bool = False) -> Period | None:
    """Parse the one period that a question names, without a year the last that has begun; None for several.

    :param ahead: whether the future is meant: "on Monday" and "in June" are the next ones.
    """

    def of(first: date, end: date, at: int, length: int, *, yearly: bool = False) -> Period:
        return Period(first, end, text[:at] + text[at + length :], at, yearly)

    text = _rewrite_as_days(text)
    days = facts_of(text).days
    counted = _COUNTED.search(text)
    if counted is not None and not days:
        number = _NUMBERS.get(counted["count"].lower()) or int(counted["count"])
        length = timedelta(days=number * {"w": 7, "m": 30}.get(counted["unit"][0].lower(), 1))
        first = today if counted["next"] else today - length
        last = today + length if counted["next"] else today
        return of(first, last + timedelta(days=1), counted.start(), len(counted[0]))
    at = text.find(days[0].written_as) if days else len(text)
    since, begins = None, days[0] if days else None
    if len(days) == 1 and begins and begins.day and (since := _FROM.search(text, 0, at)):
        begins = replace(begins, day=int(re.findall(r"\d+", since[0])[-1]))
    elif len(days) == 2 and begins:
        behind = at + len(begins.written_as)
        later = text.find(days[1].written_as, behind)
        if since := _FROM.search(f"{text[:at]}1{text[behind:later]}"):
            at, days = later, days[1:]
    which = None if not days or days[0].year or since else _WHICH.search(text, 0, at)
    start = at if which is None else which.start()
    narrower = since or (_WEEK_OF if days and days[0].day else _PART).search(text, 0, start)
    if narrower and narrower.groupdict().get("nth") and _parse_ordinal(narrower) is None:
        narrower = None
    start = narrower.start() if narrower else start
    stop = at + len(days[0].written_as) if days else at
    match = _RELATIVE.search(f"{text[:start]}{' ' * (stop - start)}{text[stop:]}")
    if len(days) + (match is not None) != 1:
        return None
    if match is not None:
        first, end = _parse_relative(match[0], today, ahead=ahead)
        if (
            ahead
            and first == today
            and TIME_PATTERNS["weekday"].search(match[0])
            and _UNTIL.search(text, 0, match.start())
        ):
            first, end = first + timedelta(days=7), end + timedelta(days=7)  # not only today
        start, stop = match.span()
        if narrower := _PART.search(text, 0, start):
            first, end, start = *_part_of_period(first, end, narrower), narrower.start()
        return of(first, end, start, stop - start)
    (day,) = days
    if day.month is None or day.may_be_swapped:
        return None
    if which is not None:
        ahead = which["next"] is not None
    above = _BEFORE.search(text, 0, start) or _UNTIL.search(text, 0, start)
    for years in range(MAX_YEARS_BACK):  # of 29 February, to the one that there is
        with suppress(ValueError, OverflowError):
            first, end = _day_bounds(day, today.year + (years if ahead else -years))
            begun, over = first <= today, end <= today
            fits = not (begun if which else over) if ahead else (over if which else begun or above)
            if day.year or fits:
                if since and begins:
                    firsts = (_day_bounds(begins, first.year - back)[0] for back in (0, 1))
                    first = next(one for one in firsts if one < end)
                elif narrower:
                    first, end = _part_of_period(first, end, narrower)
                yearly = not (day.year or which or narrower)
                return of(first, end, start, stop - start, yearly=yearly)
    return None


@lru_cache(maxsize=64)  # a question is asked about several times
def _rewrite_as_days(text: str) -> str:
    for pattern, words in _REWRITES:
        text = pattern.sub(words, text)
    return text


def _part_of_period(first: date, end: date, match: re.Match[str]) -> tuple[date, date]:
    """Return the part of a period that the words before it mean: its week or weekend, a third of it."""
    day, groups = timedelta(days=1), match.groupdict()
    if groups.get("unit"):
        weekend = TIME_PATTERNS["weekend"].search(match["unit"]) is not None
        if "nth" not in groups:
            first += (5 * weekend - first.weekday()) * day
        elif nth := _parse_ordinal(match):
            first += ((5 - first.weekday()) % 7 * weekend + 7 * (nth - 1)) * day
        else:
            first = end - ((end.weekday() + 1) % 7 + 1 if weekend else 7) * day
        return first, first + (2 if weekend else 7) * day
    third = (end - first).days // 3 * day
    begins = first if groups["beginning"] else end - third if groups["end"] else first + third
    return begins, end if groups["end"] else begins + third if groups["beginning"] else end - third


def _parse_ordinal(match: re.Match[str]) -> int | None:
    return _ORDINALS.get(fold(match["nth"]).casefold())


def has_month_note(text: str, find_named: Callable[[str], object]) -> bool:
    """Tell whether a note is called as the month in a text, and no word says that it is a time."""
    day = next(iter(facts_of(text).days), None)
    if day is None or day.day or not find_named(day.written_as):
        return False
    return _LEADS.search(text, 0, max(text.find(day.written_as), 0)) is None


def find_period_chunks(period: Period, question: VaultQuestion) -> set[ChunkId]:
    """Find the passages with a day of a short period, however it is written."""
    lexical = question.view.lexical

    def holding(*tokens: str) -> set[ChunkId]:
        fields = ("title", "h1", "h2", "h3", "content")
        return set().union(*(lexical.holding(tokens, field) for field in fields))

    days = [period.first + timedelta(at) for at in range((period.end - period.first).days)]
    months = {day.month for day in days}
    names = (question.tokenizer(name) for name, one in MONTH_NUMBERS.items() if one in months)
    with_month = set().union(*(holding(*tokens) for tokens in names))
    numbers = [f"{day.day:{width}}" for day in days for width in ("", "02")]
    chunk_ids = {one for one, day_numbers in lexical.held(numbers, with_month).items() if day_numbers}
    isos = [f"{day}" for day in days]
    if period.yearly and len(days) == 1:
        isos = lexical.tokens_with(f"{days[0]:-%m-%d}")
    dotted = [f"{day.day}.{day.month}" for day in days] + [f"{day:%d.%m}" for day in days]
    return chunk_ids.union(*map(holding, (*isos, *dotted, *(f"{one}.{period.first.year}" for one in dotted))))


def parse_day(text: str, *, yearly: bool = False, last: bool = False) -> date | None:
    """Parse the day that a text begins with, of a month its first or ``last``: ``2026-06-03``,
    ``3 June 2026``, ``03.06.2026``; None if there is none, or it may be one of two.

    :param yearly: whether one without a year is one, too.
    """
    with suppress(ValueError):
        return date.fromisoformat(text[:10])
    days = facts_of(text).days
    if not days or days[0].may_be_swapped or not (days[0].month and text.startswith(days[0].written_as)):
        return None
    with suppress(ValueError, OverflowError):
        first, end = _day_bounds(days[0], LEAP_YEAR * yearly)
        return end - timedelta(days=1) if last else first
    return None


def _day_bounds(day: Day, year: int) -> tuple[date, date]:
    """The first of the days of a day or month, of that year if it names none, and the one after the last.

    :raises ValueError: if it has no such day.
    """
    begins = date(day.year or year, day.month or 1, day.day or 1)
    return begins, begins + timedelta(days=1) if day.day else next_month(begins)


def _parse_relative(text: str, today: date, *, ahead: bool) -> tuple[date, date]:
    """The first of the days that are told from today on, and the one after the last."""
    day = timedelta(days=1)
    if text[-4:].isdigit():
        return date(int(text[-4:]), 1, 1), date(int(text[-4:]) + 1, 1, 1)
    time_words = {name: found[0] for name, one in TIME_PATTERNS.items() if (found := one.search(text))}
    later = ("next" in time_words) - ("last" in time_words)
    if weekday := time_words.get("weekday", "").lower():
        number = next(week.index(weekday) for week in _WEEKDAYS if weekday in week)
        back = (today.weekday() - number - 1) % 7 + 1
        if later > 0:
            back = (today.weekday() - number) % 7 - 7
        elif ahead and not later:
            back -= 7
        return today - back * day, today - (back - 1) * day
    if "weekend" in time_words:
        saturday = today + (5 - today.weekday() + 7 * later) * day
        if not (later or ahead or "this" in time_words) and saturday > today:
            saturday -= 7 * day
        return saturday, saturday + 2 * day
    if "week" in time_words:
        monday = today - (today.weekday() - 7 * later) * day
        return monday, monday + 7 * day
    if "month" in time_words:
        first = today.replace(day=1)
        if later:
            first = next_month(first) if later > 0 else (first - day).replace(day=1)
        return first, next_month(first)
    if "year" in time_words:
        return date(today.year + later, 1, 1), date(today.year + later + 1, 1, 1)
    back = ("yesterday" in time_words) - ("tomorrow" in time_words)
    return today - back * day, today - (back - 1) * day


def next_month(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1)
