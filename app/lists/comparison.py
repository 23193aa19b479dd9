"""Questions for the notes with a number of a property in bounds ("customers with a rate above 90 €"), or of
one that notes of many days have ("my lowest weight"), or all of a kind ("deadlines of the grants")."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import date
from itertools import chain
from typing import NamedTuple

from notehop.app.answer.draft import NOTHING_LISTED_PREFIX
from notehop.app.answer.quotes.question import parse_question
from notehop.app.lists.kinds import are_of_one_kind, asks_for_a_list
from notehop.app.lists.lines import ARTICLE, SUMS, Lines
from notehop.app.lists.period import Period, day_said
from notehop.app.lists.vault_question import (
    BEGINNING,
    DONE,
    HAVING,
    LONGEST,
    NO_KIND,
    NOT,
    WORDS,
    VaultQuestion,
    plain_words,
    telling,
)
from notehop.app.retrieval.filters import Paths, Stands, among
from notehop.app.retrieval.intents import SMALL
from notehop.indexing.shown import counted
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.vault.dates import day_in_name

_COMPARING = WORDS["comparing"]
_UNITS: dict[str, str] = _COMPARING["units"]
_IDLE = frozenset(_COMPARING["idle"])
_SERIES = [frozenset(WORDS["series"][one]) for one in ("newest", "lowest", "highest", "course")]
_HOW = re.compile(WORDS["series"]["how"])
_WHAT_THEY_HAVE = re.compile(WORDS["what_they_have"])
_SYMBOLS = "%£$€¥"
_MANY: dict[str, float] = _COMPARING["many"]
_DIGITS = r"(?P<sign>[-−]?)(?:(?P<money>[£$€¥])\s?)?(?P<digits>\d(?:[\d.,'’]*\d)?)"
_UNIT = rf"(?P<many>\s?(?:{'|'.join(_MANY)})\b)?(?:\s?(?P<unit>[%£$€¥]|[^\W\d_]+))?"
_SIDES_SAID = {
    "at_least": ("of at least", "since"),
    "at_most": ("of at most", "until"),
    "above": ("above", "after"),
    "below": ("below", "before"),
}
_SIDES = "|".join(
    f"(?P<{side}>{_COMPARING[side].replace(chr(10), '').replace('    ', '')})"
    for side in _SIDES_SAID
)
_COMPARED = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\w){_COMPARING['between']}\s+(?P<low>[-−]?\d(?:[\d.,'’]*\d)?)\D{{0,8}}\s{_COMPARING['and']}\s+"
        rf"{_DIGITS}{_UNIT}",
        rf"(?<!\w)(?:(?P<not>{_COMPARING['not']})\s+)?(?:{_SIDES})\s*(?:(?:{ARTICLE})\s+)?{_DIGITS}{_UNIT}",
        rf"(?<!\w){_DIGITS}{_UNIT}\s*(?:(?P<at_least>{_COMPARING['more']})|(?P<at_most>{_COMPARING['less']}))",
    )
]
_NUMBER = re.compile(rf"(?<![\w.,]){_DIGITS}{_UNIT}")
_HOURS = re.compile(r"(?<![\w.,])(\d{1,3})\s?h\s?([0-5]\d)(?:\s?m(?:in)?)?(?!\w)")
_DIGIT = re.compile(r"\d")
_DECIMAL = re.compile(rf"^\D*\d+\.(?:\d{{1,2}}|\d{{4,}})(?!\d|\s?(?:{'|'.join(_MANY)})\b)")
_YEAR = re.compile(r"(?:1\d|20|21)\d\d")
_MONTH = re.compile(rf"(?:0?[1-9]|1[0-2])[./](?P<year>{_YEAR.pattern})")


class Comparison(NamedTuple):
    """The numbers that a question wants, from ``low`` to ``high``. ``shown`` is how it has them with their
    unit, ``numbers`` without; ``side`` is which it bounds (empty for both); ``unit`` is empty for none,
    ``words`` say how it compares, and ``rest`` is the text without both."""

    shown: str
    side: str
    low: float
    high: float
    unit: str
    numbers: tuple[str, ...]
    words: str
    rest: str

    def holds(self, number: float) -> bool:
        bound = {"above": self.low, "below": self.high}.get(self.side)
        return self.low <= number <= self.high and number != bound

    @property
    def years(self) -> bool:
        """Whether it may be one, or two, and is no number of something."""
        of_something = self.unit in _SYMBOLS or plain_words(self.unit) in _UNITS
        return all(map(_YEAR.fullmatch, self.numbers)) and not (self.unit and of_something)

    def said(self, key: str, *, years: bool) -> str:
        """What notes with such a number of a property have in common."""
        side = _SIDES_SAID[self.side][years] if self.side else "from"
        return f"{'' if side == key.casefold() else f'{key} '}{side} {self.shown}"


def comparison_in(text: str) -> Comparison | None:
    """Read the comparison with a number that a text has: "over 90 €", "4 or more stars"."""
    found = next(filter(None, (one.search(text) for one in _COMPARED)), None)
    if found is None:
        return None
    parts, low = found.groupdict(), found.groupdict().get("low")
    side = next((one for one in _SIDES_SAID if parts.get(one)), "")
    words = parts[side] if side else ""
    if parts.get("not"):
        side = {"above": "at_most", "below": "at_least"}.get(side, side)
    number = _read(found)
    unit = found["money"] or found["unit"] or ""
    # "Above 90 in Linz" is 90 of nothing.
    unit = "" if plain_words(unit) in SMALL else unit
    digits = f"{found['sign']}{found['digits']}{found['many'] or ''}"
    shown = f"{digits} {unit}" if unit and unit in _SYMBOLS else digits
    return Comparison(
        f"{low} to {shown}" if low else shown,
        side,
        -math.inf if side in ("at_most", "below") else _number(low) if low else number,
        math.inf if side in ("at_least", "above") else number,
        unit,
        (low, digits) if low else (digits,),
        words,
        f"{text[: found.start()]} {found['unit'] or ''} {text[found.end() :]}",
    )


def compared_lines(
    question: VaultQuestion, compared: Comparison, within: Paths | None
) -> tuple[Lines, tuple[ChunkId, ...]] | None:
    """Read a question for the notes with a number of a property in bounds ("customers with a rate above
    90 €"): the line of each, lowest first, and passages with that property; None where it is another, or
    either of two properties may be meant."""
    view = question.view
    plain, unit = plain_words(compared.rest), plain_words(compared.unit)
    named = [one for one in telling(plain) if one not in HAVING | DONE | _IDLE]
    if not asks_for_a_list(plain) or len(named) > 2 * LONGEST or NOT.search(plain):
        return None
    words = question.tokens(named)
    asked_words = question.tokens(f"{plain} {compared.words}")
    found = question.candidates(plain)
    # Surest first: properties called by their name, by a part of it, and by what their values are.
    keys: list[dict[str, frozenset[str]]] = [{}, {}, {}]
    for key in view.labels.property_keys():
        own = question.key_of_a_day(key, asked_words)
        part = own or frozenset(question.tokens(key)).intersection(words)
        if key not in NO_KIND:
            keys[0 if own else 1 if part else 2][key] = part
    for by_name in keys:
        told: dict[Paths, tuple[str, str, list[tuple[float, str, _Value]], Paths]] = {}
        for key, own in by_name.items():
            # What has no digit is no number.
            having = {
                value: those
                for value, those in question.values(key).items()
                if _DIGIT.search(value)
            }
            numbers = [*_numbers(having, compared, question, named=bool(own))]
            holding = frozenset[str]().union(*(one.notes for one in numbers))
            is_unit = unit in _UNITS or any(
                unit in plain_words(one.text).split() for one in numbers
            )
            known = {*own, *(question.tokens(unit) if is_unit else ())}
            rest = [one for one in words if one not in known]
            of_days = not question.words_for_days.isdisjoint(rest)
            days = question.words_for_days if of_days else ()
            rest, some = ([one for one in those if one not in days] for those in (rest, words))
            others = [one for one in found if one[1].key != key]
            kinds = (question.notes_called(one, others) for one in (some, rest) if one or own)
            kind = next(filter(None, kinds), Paths())
            kind = kind & question.days if of_days else kind
            unknown = len(rest) == 1 and not any(rest[0] in its for its, _ in found)
            called = own or (
                not _IDLE.isdisjoint(plain.split()) and all(one.is_day for one in numbers)
            )
            otherwise = called and unknown and not kind & holding
            if otherwise and not view.lexical.holding(rest, "title"):
                # Of what is called otherwise in the vault.
                kind = holding if are_of_one_kind(question, holding) else kind
            held = frozenset(one for one in kind & holding if not question.is_template(one))
            units = {one.unit for one in numbers if one.unit and one.notes & held}
            unread = frozenset[str]().union(*having.values()) - holding
            if held and (kind & unread or (not unit and len(units) > 1)):
                return None  # Some have one that is no number of one unit alone: "5 h 10 min".
            wanted = sorted(
                (one.number, path, one)
                for one in numbers
                if compared.holds(one.number)
                for path in held & one.notes & (held if within is None else within)
            )
            # That none has it can be said of a kind all of whose notes have a number.
            none = of_days and within is None and question.allowed is None
            none = none or bool(rest and kind <= holding and (is_unit or not unit))
            if held and (wanted or none):
                years = all(one.is_day for one in numbers if one.notes & held)
                said = compared.said(key, years=years)
                if wanted and rest and not of_days:
                    said += question.lack_said(kind - holding, [path for _, path, _ in wanted])
                if not wanted and any(compared.holds(one.number) for one in numbers):
                    said += f", of the {counted(len(kind), 'note')} that may be meant"
                told.setdefault(frozenset(path for _, path, _ in wanted), (said, key, wanted, held))
        # What is before 1990 in one sense is not denied by another.
        told = {notes: one for notes, one in told.items() if notes} or told
        if len(told) > 1:
            return None
        for said, key, wanted, held in told.values():
            lines = question.lines_of((key, one.text, path) for _, path, one in wanted)
            passages = (id_ for path in sorted(held) for id_ in view.chunk_ids_of(path))
            return (said, lines), tuple(among(passages, question.allowed))[:1]
    return None


def lines_of_series(question: VaultQuestion, period: Period | None, stands: Stands) -> Lines | None:
    """Read a question for a property that notes of many days have: its newest value, its lowest or highest
    ones ("latest weight"), or those of a time; None where it asks for anything beside. Notes that are gone
    have none."""
    plain = question.plain if period is None else plain_words(period.rest)
    words = {*question.tokens(one for one in telling(plain) if one not in HAVING | DONE)}
    newest, lowest, highest, course, summed = (
        not one.isdisjoint(plain.split()) for one in (*_SERIES, SUMS)
    )
    course |= not question.words_for_days.isdisjoint(words)  # "days with weight"
    beside = question.words_for_days.union(
        question.tokens(SUMS.union(_UNITS, _IDLE, *_SERIES, _HOW.findall(plain)))
    )
    view = question.view
    if len(words) > LONGEST or NOT.search(plain) or "reason" in parse_question(question.text).forms:
        return None
    by_itself = "yesno" not in parse_question(question.text).forms
    begins = {one[:BEGINNING] for one in plain.split()}
    for key in view.labels.property_keys() if words else ():
        measures = (one["how"] for one in WORDS["rewriting"]["measures"] if key in one["nouns"])
        named = any(one[:BEGINNING] in begins for one in plain_words(key).split())
        own = question.key_words(key, words) if named else frozenset()
        own = own or frozenset(words.intersection(question.tokens(chain.from_iterable(measures))))
        if words - own - beside or not own or key in NO_KIND:
            continue
        values = question.values(key)
        having = frozenset[str]().union(*values.values())
        if question.allowed is not None:
            having &= {*filter(None, view.paths_of(question.allowed))}
        having = frozenset(one for one in having if not question.is_template(one))
        day_of = {path: day for path in having & question.days if (day := day_in_name(path))}
        if not 1 < len(day_of) >= len(having) - len(day_of):
            continue  # few of the notes that have it are of a day
        day_of = {path: day for path, day in day_of.items() if stands([path])}
        past = [path for path, day in day_of.items() if day <= question.today]
        times = () if period is None else period.and_before()
        held = (
            [path for path, day in day_of.items() if one.first <= day < one.end] for one in times
        )
        days = past if period is None else next(filter(None, held), [])
        days.sort(key=lambda path: (day_of[path], path))
        numbers = [*_amounts({value: notes.intersection(days) for value, notes in values.items()})]
        those: list[tuple[str, str | None, str]] = [(key, None, path) for path in days]
        shown, count = f"{{has|have}} {key}", counted(len(days), "note")
        kinds = (its for its, one in question.candidates(plain) if one.kind != "property")
        if not numbers and any(its & own for its in kinds):
            continue  # "current projects"
        if not days:
            return f"{NOTHING_LISTED_PREFIX}note of that time has {key}.", {}
        if lowest or highest:
            if len({unit for _, unit, _, _ in numbers if unit}) > 1 or not numbers:
                continue
            sides = {"lowest": min, "highest": max}
            asked = [one for one in sides if (lowest, highest)[one == "highest"]]
            best = {sides[one](numbers)[0] for one in asked}
            most = sorted((number, day_of[path], path, value) for number, _, value, path in numbers)
            those = [(key, value, path) for number, _, path, value in most if number in best]
            shown = f"The {' and '.join(asked)} {key} of {count}"
            if lack := len(days) - len({path for *_, path in numbers}):
                shown += f" ({lack:,} without a number)"
        elif summed or ((course or period) and not newest):
            if period is not None:
                first, last = day_of[days[0]], day_of[days[-1]]
                shown += f", {first}" if first == last else f", {first} to {last}"
            shown += " (they are not added up)" * summed
            those = those if period else those[::-1]
        elif newest or (by_itself and numbers and not view.lexical.holding(sorted(own), "title")):
            those, shown = those[-1:], f"The newest of {count} with {key}"
        else:
            continue
        lines = question.lines_of(those)
        return (shown, lines) if lines else None
    return None


def lines_of_property(question: VaultQuestion) -> Lines | None:
    """Read a question for what all notes of a kind have for a property ("deadlines of the grants"), the
    least or most first where that is asked for; None where it is another."""
    plain = question.plain
    if NOT.search(plain) or not (asks_for_a_list(plain) or _WHAT_THEY_HAVE.match(plain)):
        return None
    said = plain.split()
    lowest, highest = (not one.isdisjoint(said) for one in _SERIES[1:3])
    words = question.tokens(one for one in telling(plain) if one not in _SERIES[1] | _SERIES[2])
    for key in question.view.labels.property_keys() if 1 < len(words) <= LONGEST else ():
        own = question.key_words(key, words)
        rest = [one for one in words if one not in own]
        kind = [one for one in rest if one not in SUMS]
        if not own or not kind:
            continue
        for chosen in question.readings(kind, question.candidates(plain)):
            those = question.notes_meeting(chosen)
            values = question.values(key)
            each = sorted((key, value, path) for value in values for path in values[value] & those)
            amounts = {one[2:]: one[0] for one in _amounts(values)}
            if ordered := lowest != highest and any(one[1:] in amounts for one in each):
                side = -1 if highest else 1
                each.sort(key=lambda one: side * amounts.get(one[1:], side * math.inf))
            lines = {one: line for one, line in question.lines_of(each).items() if line[0]}
            if len(lines) > 1:
                summed = " (they are not added up)" if kind != rest else ""
                having = frozenset[str]().union(*values.values()) & those
                lack = question.lack_said(those - having, having)
                order = f", the {'highest' if highest else 'lowest'} first" if ordered else ""
                return f"{{has|have}} {key}{summed}{lack}{order}", lines
    return None


def _amounts(having: Mapping[str, Paths]) -> Iterator[tuple[float, str, str, str]]:
    """The number, unit, text and note of each value that is one number."""
    for value, notes in having.items():
        found = [*_NUMBER.finditer(_in_hours(value))]
        if len(found) == 1 and day_said(value) is None:
            unit = found[0]["unit"] or found[0]["money"] or ""
            yield from ((_read(found[0]), unit, value, path) for path in sorted(notes))


class _Value(NamedTuple):
    """A value of a property, the notes with it, its number and unit, and whether it is a day or a year."""

    text: str
    notes: Paths
    number: float
    unit: str
    is_day: bool


def _numbers(
    having: Mapping[str, Paths], compared: Comparison, question: VaultQuestion, *, named: bool
) -> Iterator[_Value]:
    """The values of a property that are numbers of the unit that is asked for, or days where it is a year.

    :param having: value -> the notes with it.
    :param named: whether the property is called by its name: else it is known by its unit, or as a year.
    """

    def unit_of(said: str) -> str:
        plain = plain_words(said)
        return _UNITS.get(plain) or " ".join(question.tokens(plain)) or said

    decimal = any(map(_DECIMAL.match, having)) and not any("," in one for one in having)
    wanted = unit_of(compared.unit)
    for value, notes in having.items():
        said_there = value.strip("['\"]")
        day, numbers = day_said(said_there), [*_NUMBER.finditer(_in_hours(value))]
        if month := _MONTH.fullmatch(said_there):
            day = date(int(month["year"]), 1, 1)
        if not numbers or (day is None and len(numbers) > 1):
            continue
        number = numbers[0]
        own = unit_of(number["unit"] or number["money"] or "")
        same = own == wanted if own and wanted else named
        dated = compared.years and (day is not None or _YEAR.fullmatch(value) is not None)
        if dated or (same and day is None):
            said = float(day.year) if day else _read(number, decimal=decimal)
            yield _Value(value, notes, said, own, dated)


def _in_hours(value: str) -> str:
    """A value with its hours and minutes as hours: 6h30 are 6.5 h."""
    return _HOURS.sub(lambda found: f"{int(found[1]) + int(found[2]) / 60:.3g} h", value)


def _read(found: re.Match[str], *, decimal: bool = False) -> float:
    """The number that was found, with its sign and what it is counted in ("65k")."""
    many = _MANY.get((found["many"] or "").strip().casefold(), 1)
    return many * _number(f"{found['sign']}{found['digits']}", decimal=decimal)


def _number(digits: str, *, decimal: bool = False) -> float:
    """A number as it is written, in English or German.

    :param decimal: whether a point before three digits is one of a decimal fraction.
    """
    digits = digits.replace("'", "").replace("’", "").replace("−", "-")
    point = max(digits.rfind("."), digits.rfind(","))
    mark = digits[point] if point >= 0 else ""
    other = {".": ",", ",": "."}.get(mark, "")
    groups = len(digits) - point == 4 and not (decimal and mark == ".")  # three behind it
    if mark and (
        digits.count(mark) > 1 or (groups and other not in digits and digits.lstrip("-")[0] != "0")
    ):
        return float(digits.replace(mark, "").replace(other, "") if other else digits)
    return float(digits.replace(other, "").replace(mark, ".")) if mark else float(digits)
