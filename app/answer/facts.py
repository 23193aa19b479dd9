"""What of a sentence is right or wrong to the letter: its numbers and dates. Pure.

Words may be put otherwise and say the same; these may not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isinf

from notehop.app.answer.number_words import NUMBER_WORDS, ORDINAL_WORDS
from notehop.indexing.tokens.fold import fold
from notehop.indexing.vault.day_names import month_named

Reading = frozenset[str]
"""The numbers that one spelling may mean: ``4.500`` is one thing in English, another in German."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is written, what it may mean, and what kind it is: ``year``, ``time``, ``%``,
    a currency, a unit or the word behind it; empty for none."""

    shown: str
    readings: Reading
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Day:
    """A date as it is written; what it leaves open is None."""

    shown: str
    year: int | None = None
    month: int | None = None
    day: int | None = None

    def agrees(self, other: Day) -> bool:
        """Whether ``other`` says all that this says."""
        return (
            self.year in (None, other.year)
            and self.month in (None, other.month)
            and self.day in (None, other.day)
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """Numbers that stand in no date, and dates, in the order of the text."""

    numbers: tuple[Number, ...] = ()
    days: tuple[Day, ...] = ()


_MONTH = r"(?P<month>[^\W\d_]{3,12})\.?"
_YEAR = r"(?P<year>(?:1[0-9]|20|21)\d{2})(?!\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|er|º|\.)?"
_OF = r"(?:\s+(?:of|de|di|del))?\s+"
_DATES = tuple(
    re.compile(rf"(?<![\w.])(?:{pattern})(?!\w)", re.IGNORECASE)
    for pattern in (
        r"(?P<year>\d{4})[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})",
        r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})",
        rf"{_DAY}{_OF}{_MONTH}{_OF}{_YEAR}",
        rf"{_DAY}{_OF}{_MONTH},?\s+{_YEAR}",
        rf"{_MONTH}\s+{_DAY},?\s+{_YEAR}",
        rf"{_YEAR}\s+{_MONTH}\s+{_DAY}",
        rf"{_DAY}{_OF}{_MONTH}",
        rf"{_MONTH}\s+{_DAY}",
        rf"{_MONTH}{_OF}{_YEAR}",
        rf"{_MONTH},?\s+{_YEAR}",
        r"(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])",
    )
)
_LONE_MONTH = re.compile(r"(?<![\w-])[^\W\d_]{3,12}(?![\w-])")
_AMBIGUOUS = frozenset(("may", "march", "mar", "mars", "mai", "gen", "set", "ago", "dic", "ene"))
"""Words that are no month more often than one; alone they count as one with a capital only."""

_NUMBER = re.compile(
    r"(?<![\w.])(?P<currency>[£$€¥])?\s?(?P<digits>\d{1,3}(?:[,.'’\u00a0\u202f ]\d{3})+(?:[.,]\d+)?"
    r"|\d+(?:[.,:]\d+)*)(?P<unit>\s?%|[^\W\d_]{1,3}(?!\w)|st\b|nd\b|rd\b|th\b)?(?!\w)"
    r"(?:\s(?P<next>[^\W\d_]+))?"
)
_SCALES = {
    **dict.fromkeys(("k", "thousand", "tausend", "mille", "mil", "duizend", "tusen"), 1e3),
    **dict.fromkeys(("m", "mio", "mn", "million", "millions", "millionen", "milioni"), 1e6),
    **dict.fromkeys(("millones", "milhoes", "miljoen", "miljoner"), 1e6),
    **dict.fromkeys(("bn", "billion", "billions", "mrd", "milliarden", "milliards"), 1e9),
}
_ORDINALS = frozenset(("st", "nd", "rd", "th"))
_PER_CENT = frozenset(("%", "percent", "per", "prozent", "pourcent"))
_WORD = re.compile(r"[^\W\d_]+")
_UNITS = re.compile(r"[- ]([^\W\d_]+)")


def facts_of(text: str) -> Facts:
    """Return the numbers and dates of a text; those in words count, from two on."""
    days: list[tuple[int, Day]] = []
    rest = text
    for pattern in _DATES:
        for found in list(pattern.finditer(rest)):
            day = _day(found)
            if day is not None:
                days.append((found.start(), day))
                rest = rest[: found.start()] + " " * len(found[0]) + rest[found.end() :]
    for found in _LONE_MONTH.finditer(rest):
        word = fold(found[0]).casefold()
        month = month_named(word)
        if month is None or len(word) < 4 or (word in _AMBIGUOUS and not _named(rest, found)):
            continue
        days.append((found.start(), Day(found[0], month=month)))
    days.sort(key=lambda one: one[0])
    return Facts(tuple(_numbers(rest)), tuple(day for _, day in days))


def lacking(stated: Facts, known: Facts) -> list[str]:
    """Return what of the numbers and dates of a sentence its source does not have, as written."""
    have = frozenset(reading for number in known.numbers for reading in number.readings)
    years = {day.year for day in known.days} | {_year(number) for number in known.numbers}
    spelt = {str(part) for day in known.days for part in (day.year, day.day) if part is not None}
    found = [day.shown for day in stated.days if not _is_known(day, known.days, years)]
    found += [number.shown for number in stated.numbers if not number.readings & (have | spelt)]
    return list(dict.fromkeys(found))


def contradicted(stated: Facts, known: Facts) -> bool:
    """Whether the source has another value where the sentence states one that it lacks.

    Another year, time, per cent or sum, another number of the same thing, or another day.
    """
    missing = frozenset(lacking(stated, known))
    said = frozenset(reading for number in stated.numbers for reading in number.readings)
    kinds = {one.kind for one in known.numbers if one.kind and not one.readings & said}
    if any(one.shown in missing and one.kind in kinds for one in stated.numbers):
        return True
    if any(one.shown in missing and one.kind == "year" for one in stated.numbers) and any(
        day.year is not None for day in known.days
    ):
        return True
    return any(
        day.shown in missing and any(_rivals(day, other) for other in known.days)
        for day in stated.days
    )


def _rivals(day: Day, other: Day) -> bool:
    """Whether two dates are as exact as each other somewhere and differ there."""
    return any(
        mine is not None and theirs is not None and mine != theirs
        for mine, theirs in (
            (day.year, other.year),
            (day.month, other.month),
            (day.day, other.day),
        )
    )


def _is_known(day: Day, known: Sequence[Day], years: set[int | None]) -> bool:
    if any(day.agrees(other) for other in known):
        return True
    # The year may stand elsewhere in the source: in its heading, or in another date.
    without = Day(day.shown, None, day.month, day.day)
    if day.month is None or day.year not in years:
        return False
    if day.day is None and any(
        other.year == day.year and other.month != day.month for other in known
    ):
        return False
    return any(other.year is None and without.agrees(other) for other in known)


def _year(number: Number) -> int | None:
    return int(number.shown) if number.kind == "year" else None


def _day(found: re.Match[str]) -> Day | None:
    parts = found.groupdict()
    month = parts.get("month") or ""
    number = int(month) if month.isdigit() else month_named(fold(month).casefold())
    if number is None or not 1 <= number <= 12:
        return None
    day = int(parts["day"]) if parts.get("day") else None
    if day is not None and not 1 <= day <= 31:
        return None
    year = int(parts["year"]) if parts.get("year") else None
    return Day(found[0].strip(" .,"), year, number, day)


def _named(text: str, found: re.Match[str]) -> bool:
    """Whether a word has a capital where no sentence begins."""
    before = text[: found.start()].rstrip()
    return found[0][0].isupper() and bool(before) and before[-1] not in ".!?:"


def _numbers(text: str) -> Iterator[Number]:
    for found in _NUMBER.finditer(text):
        digits, unit = found["digits"], (found["unit"] or "").strip().casefold()
        following = fold(found["next"] or "").casefold()
        readings = set(_readings(digits))
        if unit in _ORDINALS:
            readings.add(f"{digits}.")
        for word in (unit, following):
            if word in _SCALES:
                scaled = {_plain(float(one) * _SCALES[word]) for one in _floats(readings)}
                # "3 million" is no 3; but "60 m" may be metres, and a table has "2.84" in millions.
                whole = len(word) > 3 and digits.isdigit()
                readings = scaled if whole else readings | scaled
        yield Number(_shown(found), frozenset(readings), _kind(found, digits, unit, following))
    last = -1
    for word in _WORD.finditer(text):
        plain = fold(word[0]).casefold()
        if plain in ORDINAL_WORDS:
            yield Number(word[0], frozenset([f"{ORDINAL_WORDS[plain]}."]), "ordinal")
        value = NUMBER_WORDS.get(plain)
        if value is not None and word.start() > last:
            rest = _UNITS.match(text, word.end()) if 20 <= value < 100 else None
            units = NUMBER_WORDS.get(fold(rest[1]).casefold(), 100) if rest else 100
            if rest and units < 10:
                last = rest.end()
                yield Number(f"{word[0]}{rest[0]}", frozenset([str(value + units)]))
                continue
            behind = _WORD.search(text, word.end())
            noun = fold(behind[0]).casefold() if behind else ""
            if noun in _SCALES:
                yield Number(f"{word[0]} {behind[0]}", frozenset([_plain(value * _SCALES[noun])]))  # type: ignore[index]
            else:
                yield Number(word[0], frozenset([str(value)]), f"word {noun}")


def _shown(found: re.Match[str]) -> str:
    scale = found["next"] or ""
    behind = f" {scale}" if fold(scale).casefold() in _SCALES else ""
    return f"{found['currency'] or ''}{found['digits']}{found['unit'] or ''}{behind}"


def _kind(found: re.Match[str], digits: str, unit: str, following: str) -> str:
    if found["currency"]:
        return "money"
    if ":" in digits:
        return "time"
    if unit == "%" or following in _PER_CENT:
        return "%"
    if re.fullmatch(r"(?:1[5-9]|20|21)\d\d", digits) and not unit:
        return "year"
    if unit in _ORDINALS:
        return "ordinal"
    return f"word {unit or following}".strip() if unit or following else ""


def _readings(digits: str) -> Iterator[str]:
    """The numbers that digits with marks in them may mean, without zeros that say nothing."""
    if ":" in digits:
        yield ":".join(part.zfill(2) for part in digits.split(":"))
        return
    grouped = re.fullmatch(r"\d{1,3}(?:([,.'’\u00a0\u202f ])\d{3})+(?:[.,]\d+)?", digits)
    if grouped:
        mark = grouped[1]
        whole = digits.replace(mark, "").replace(",", ".")
        if whole.count(".") <= 1:
            yield _plain(float(whole))
        # One point before three digits is a decimal point in English, and none in German.
        if mark != "." or digits.count(mark) > 1 or digits.endswith("000"):
            return
    plain = digits.replace(",", ".")
    if plain.count(".") <= 1:
        yield _plain(float(plain))
    else:
        yield digits


def _floats(readings: set[str]) -> Iterator[float]:
    for one in readings:
        try:
            yield float(one)
        except ValueError:
            continue


def _plain(value: float) -> str:
    # Digits by the hundred, as of a key, are more than a float holds.
    if isinf(value):
        return "inf"
    return str(int(value)) if value == int(value) else f"{value:.6g}"
