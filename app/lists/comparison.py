"""Questions for the notes with a number of a property in bounds ("customers with a rate above 90 €"), or of
one that notes of many days have ("my lowest weight"), or all of a kind ("deadlines of the grants")."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import date
from itertools import chain, filterfalse
from typing import NamedTuple

from notehop.app.answer.draft import NOTHING_LISTED_PREFIX
from notehop.app.answer.quotes.question import parse_question
from notehop.app.lists.note_conditions import are_of_one_kind, asks_for_a_list
from notehop.app.lists.note_lines import ARTICLES, SUM_WORDS, ListedLines
from notehop.app.lists.period import Period, parse_day
from notehop.app.lists.vault_question import (
    ACTION_WORDS,
    MAX_LIST_WORDS,
    NEGATION,
    NON_KIND_KEYS,
    POSSESSION_WORDS,
    PREFIX_LETTERS,
    WORDS,
    VaultQuestion,
    content_words,
    normalize_words,
)
from notehop.app.retrieval.filters import AnyNoteExists, Paths, keep_allowed
from notehop.app.retrieval.intents import ALL_FUNCTION_WORDS
from notehop.indexing.display import counted
from notehop.indexing.stores.rows import ChunkId
from notehop.indexing.vault.dates import day_in_name

_COMPARING = WORDS["comparing"]
_UNITS: dict[str, str] = _COMPARING["units"]
_IDLE_WORDS = frozenset(_COMPARING["idle"])
_SERIES_WORDS = [frozenset(WORDS["series"][one]) for one in ("newest", "lowest", "highest", "course")]
_HOW_WORDS = re.compile(WORDS["series"]["how"])
_WHAT_THEY_HAVE = re.compile(WORDS["what_they_have"])
_SYMBOLS = "%£$€¥"
_MULTIPLIERS: dict[str, float] = _COMPARING["many"]
_DIGITS = r"(?P<sign>[-−]?)(?:(?P<money>[£$€¥])\s?)?(?P<digits>\d(?:[\d.,'’]*\d)?)"
_UNIT = rf"(?P<many>\s?(?:{'|'.join(_MULTIPLIERS)})\b)?(?:\s?(?P<unit>[%£$€¥]|[^\W\d_]+))?"
_SIDE_PHRASES = {
    "at_least": ("of at least", "since"),
    "at_most": ("of at most", "until"),
    "above": ("above", "after"),
    "below": ("below", "before"),
}
_SIDE_PATTERNS = "|".join(
    f"(?P<{side}>{_COMPARING[side].replace(chr(10), '').replace('    ', '')})" for side in _SIDE_PHRASES
)
_COMPARISONS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\w){_COMPARING['between']}\s+(?P<low>[-−]?\d(?:[\d.,'’]*\d)?)\D{{0,8}}\s{_COMPARING['and']}\s+"
        rf"{_DIGITS}{_UNIT}",
        rf"(?<!\w)(?:(?P<not>{_COMPARING['not']})\s+)?(?:{_SIDE_PATTERNS})\s*(?:(?:{ARTICLES})\s+)?{_DIGITS}{_UNIT}",
        rf"(?<!\w){_DIGITS}{_UNIT}\s*(?:(?P<at_least>{_COMPARING['more']})|(?P<at_most>{_COMPARING['less']}))",
    )
]
_NUMBER = re.compile(rf"(?<![\w.,]){_DIGITS}{_UNIT}")
_HOURS = re.compile(r"(?<![\w.,])(\d{1,3})\s?h\s?([0-5]\d)(?:\s?m(?:in)?)?(?!\w)")
_DIGIT = re.compile(r"\d")
_DECIMAL = re.compile(rf"^\D*\d+\.(?:\d{{1,2}}|\d{{4,}})(?!\d|\s?(?:{'|'.join(_MULTIPLIERS)})\b)")
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

    def includes(self, number: float) -> bool:
        bound = {"above": self.low, "below": self.high}.get(self.side)
        return self.low <= number <= self.high and number != bound

    @property
    def may_be_years(self) -> bool:
        """Whether its numbers may be years, and are not of something."""
        of_something = self.unit in _SYMBOLS or normalize_words(self.unit) in _UNITS
        return all(map(_YEAR.fullmatch, self.numbers)) and not (self.unit and of_something)

    def describe(self, key: str, *, years: bool) -> str:
        """Describe what notes with such a number of a property have in common."""
        side = _SIDE_PHRASES[self.side][years] if self.side else "from"
        return f"{'' if side == key.casefold() else f'{key} '}{side} {self.shown}"


def parse_comparison(text: str) -> Comparison | None:
    """Read the comparison with a number that a text has: "over 90 €", "4 or more stars"."""
    match = next(filter(None, (one.search(text) for one in _COMPARISONS)), None)
    if match is None:
        return None
    parts, low = match.groupdict(), match.groupdict().get("low")
    side = next((one for one in _SIDE_PHRASES if parts.get(one)), "")
    words = parts[side] if side else ""
    if parts.get("not"):
        side = {"above": "at_most", "below": "at_least"}.get(side, side)
    number = _parse_match(match)
    unit = match["money"] or match["unit"] or ""
    # "Above 90 in Linz" is 90 of nothing.
    unit = "" if normalize_words(unit) in ALL_FUNCTION_WORDS else unit
    digits = f"{match['sign']}{match['digits']}{match['many'] or ''}"
    shown = f"{digits} {unit}" if unit and unit in _SYMBOLS else digits
    return Comparison(
        f"{low} to {shown}" if low else shown,
        side,
        -math.inf if side in ("at_most", "below") else _parse_number(low) if low else number,
        math.inf if side in ("at_least", "above") else number,
        unit,
        (low, digits) if low else (digits,),
        words,
        f"{text[: match.start()]} {match['unit'] or ''} {text[match.end() :]}",
    )


def find_compared_lines(
    question: VaultQuestion, comparison: Comparison, within: Paths | None
) -> tuple[ListedLines, tuple[ChunkId, ...]] | None:
    """Read a question for the notes with a number of a property in bounds ("customers with a rate above
    90 €"): the line of each, lowest first, and passages with that property; None where it is another, or
    either of two properties may be meant."""
    view = question.view
    plain, unit = normalize_words(comparison.rest), normalize_words(comparison.unit)
    ignored = POSSESSION_WORDS | ACTION_WORDS | _IDLE_WORDS
    content = [one for one in content_words(plain) if one not in ignored]
    if not asks_for_a_list(plain) or len(content) > 2 * MAX_LIST_WORDS or NEGATION.search(plain):
        return None
    words = question.tokens(content)
    asked_words = question.tokens(f"{plain} {comparison.words}")
    matches = question.match_terms(plain)
    # Surest first: properties called by their name, by a part of it, and by what their values are.
    keys: list[dict[str, frozenset[str]]] = [{}, {}, {}]
    for key in view.labels.property_keys():
        key_tokens = question.matched_day_key_tokens(key, asked_words)
        part = key_tokens or frozenset(question.tokens(key)).intersection(words)
        if key not in NON_KIND_KEYS:
            keys[0 if key_tokens else 1 if part else 2][key] = part
    for by_name in keys:
        results: dict[Paths, tuple[str, str, list[tuple[float, str, _NumberValue]], Paths]] = {}
        for key, key_tokens in by_name.items():
            # What has no digit is no number.
            having = {
                value: notes for value, notes in question.property_values(key).items() if _DIGIT.search(value)
            }
            numbers = [*_comparable_values(having, comparison, question, is_named=bool(key_tokens))]
            notes_with_number = frozenset[str]().union(*(one.notes for one in numbers))
            is_unit = unit in _UNITS or any(unit in normalize_words(one.text).split() for one in numbers)
            excluded = {*key_tokens, *(question.tokens(unit) if is_unit else ())}
            rest = [one for one in words if one not in excluded]
            of_days = not question.day_tokens.isdisjoint(rest)
            days = question.day_tokens if of_days else ()
            rest, some = ([one for one in tokens if one not in days] for tokens in (rest, words))
            others = [one for one in matches if one[1].key != key]
            kinds = (question.notes_named_by(one, others) for one in (some, rest) if one or key_tokens)
            kind = next(filter(None, kinds), Paths())
            kind = kind & question.dated_notes if of_days else kind
            unknown = len(rest) == 1 and not any(rest[0] in its for its, _ in matches)
            is_called = key_tokens or (
                not _IDLE_WORDS.isdisjoint(plain.split()) and all(one.is_day for one in numbers)
            )
            is_renamed = is_called and unknown and not kind & notes_with_number
            if is_renamed and not view.lexical.holding(rest, "title"):
                # Of what is called otherwise in the vault.
                kind = notes_with_number if are_of_one_kind(question, notes_with_number) else kind
            matching_notes = kind & notes_with_number
            matching_notes = frozenset(filterfalse(question.is_template, matching_notes))
            units = {one.unit for one in numbers if one.unit and one.notes & matching_notes}
            unread_notes = frozenset[str]().union(*having.values()) - notes_with_number
            if matching_notes and (kind & unread_notes or (not unit and len(units) > 1)):
                return None  # Some have one that is no number of one unit alone: "5 h 10 min".
            listed_notes = matching_notes if within is None else matching_notes & within
            wanted = sorted(
                (one.number, path, one)
                for one in numbers
                if comparison.includes(one.number)
                for path in listed_notes & one.notes
            )
            # That none has it can be said of a kind all of whose notes have a number.
            none_is_known = of_days and within is None and question.allowed is None
            none_is_known = none_is_known or bool(
                rest and kind <= notes_with_number and (is_unit or not unit)
            )
            if matching_notes and (wanted or none_is_known):
                years = all(one.is_day for one in numbers if one.notes & matching_notes)
                description = comparison.describe(key, years=years)
                if wanted and rest and not of_days:
                    listed = [path for _, path, _ in wanted]
                    description += question.describe_lack(kind - notes_with_number, listed)
                if not wanted and any(comparison.includes(one.number) for one in numbers):
                    description += f", of the {counted(len(kind), 'note')} that may be meant"
                paths = frozenset(path for _, path, _ in wanted)
                results.setdefault(paths, (description, key, wanted, matching_notes))
        # What is before 1990 in one sense is not denied by another.
        results = {notes: one for notes, one in results.items() if notes} or results
        if len(results) > 1:
            return None
        for description, key, wanted, matching_notes in results.values():
            lines = question.property_lines((key, one.text, path) for _, path, one in wanted)
            passages = (id_ for path in sorted(matching_notes) for id_ in view.chunk_ids_of(path))
            return (description, lines), tuple(keep_allowed(passages, question.allowed))[:1]
    return None


def find_series_lines(
    question: VaultQuestion, period: Period | None, any_exists: AnyNoteExists
) -> ListedLines | None:
    """Read a question for a property that notes of many days have: its newest value, its lowest or highest
    ones ("latest weight"), or those of a time; None where it asks for anything beside. Notes that are gone
    have none."""
    plain = question.plain if period is None else normalize_words(period.rest)
    ignored = POSSESSION_WORDS | ACTION_WORDS
    words = {*question.tokens(one for one in content_words(plain) if one not in ignored)}
    newest, lowest, highest, course, summed = (
        not one.isdisjoint(plain.split()) for one in (*_SERIES_WORDS, SUM_WORDS)
    )
    course |= not question.day_tokens.isdisjoint(words)  # "days with weight"
    known_words = SUM_WORDS.union(_UNITS, _IDLE_WORDS, *_SERIES_WORDS, _HOW_WORDS.findall(plain))
    known_tokens = question.day_tokens.union(question.tokens(known_words))
    view, forms = question.view, parse_question(question.text).forms
    if len(words) > MAX_LIST_WORDS or NEGATION.search(plain) or "reason" in forms:
        return None
    by_itself = "yesno" not in forms
    begins = {one[:PREFIX_LETTERS] for one in plain.split()}
    for key in view.labels.property_keys() if words else ():
        measures = (one["how"] for one in WORDS["rewriting"]["measures"] if key in one["nouns"])
        named = any(one[:PREFIX_LETTERS] in begins for one in normalize_words(key).split())
        key_tokens = question.matched_key_tokens(key, words) if named else frozenset()
        key_tokens = key_tokens or frozenset(
            words.intersection(question.tokens(chain.from_iterable(measures)))
        )
        if words - key_tokens - known_tokens or not key_tokens or key in NON_KIND_KEYS:
            continue
        values = question.property_values(key)
        notes_with_key = frozenset[str]().union(*values.values())
        if question.allowed is not None:
            notes_with_key &= {*filter(None, view.paths_of(question.allowed))}
        notes_with_key = frozenset(one for one in notes_with_key if not question.is_template(one))
        day_of = {path: day for path in notes_with_key & question.dated_notes if (day := day_in_name(path))}
        if not 1 < len(day_of) >= len(notes_with_key) - len(day_of):
            continue  # few of the notes that have it are of a day
        day_of = {path: day for path, day in day_of.items() if any_exists([path])}
        past = [path for path, day in day_of.items() if day <= question.today]
        times = () if period is None else period.with_earlier_years()
        days_by_period = (
            [path for path, day in day_of.items() if one.first <= day < one.end] for one in times
        )
        days = past if period is None else next(filter(None, days_by_period), [])
        days.sort(key=lambda path: (day_of[path], path))
        numbers = [*_single_numbers({value: notes.intersection(days) for value, notes in values.items()})]
        lines_wanted: list[tuple[str, str | None, str]] = [(key, None, path) for path in days]
        shown, count = f"{{has|have}} {key}", counted(len(days), "note")
        kinds = (its for its, one in question.match_terms(plain) if one.kind != "property")
        if not numbers and any(its & key_tokens for its in kinds):
            continue  # "current projects"
        if not days:
            return f"{NOTHING_LISTED_PREFIX}note of that time has {key}.", {}
        if lowest or highest:
            if len({unit for _, unit, _, _ in numbers if unit}) > 1 or not numbers:
                continue
            sides = {"lowest": min, "highest": max}
            side_names = [one for one in sides if (lowest, highest)[one == "highest"]]
            best = {sides[one](numbers)[0] for one in side_names}
            most = sorted((number, day_of[path], path, value) for number, _, value, path in numbers)
            lines_wanted = [(key, value, path) for number, _, path, value in most if number in best]
            shown = f"The {' and '.join(side_names)} {key} of {count}"
            if lack := len(days) - len({path for *_, path in numbers}):
                shown += f" ({lack:,} without a number)"
        elif summed or ((course or period) and not newest):
            if period is not None:
                first, last = day_of[days[0]], day_of[days[-1]]
                shown += f", {first}" if first == last else f", {first} to {last}"
            shown += " (they are not added up)" * summed
            lines_wanted = lines_wanted if period else lines_wanted[::-1]
        elif newest or (by_itself and numbers and not view.lexical.holding(sorted(key_tokens), "title")):
            lines_wanted, shown = lines_wanted[-1:], f"The newest of {count} with {key}"
        else:
            continue
        lines = question.property_lines(lines_wanted)
        return (shown, lines) if lines else None
    return None


def find_property_lines(question: VaultQuestion) -> ListedLines | None:
    """Read a question for what all notes of a kind have for a property ("deadlines of the grants"), the
    least or most first where that is asked for; None where it is another."""
    plain = question.plain
    if NEGATION.search(plain) or not (asks_for_a_list(plain) or _WHAT_THEY_HAVE.match(plain)):
        return None
    question_words = plain.split()
    lowest, highest = (not one.isdisjoint(question_words) for one in _SERIES_WORDS[1:3])
    words = question.tokens(
        one for one in content_words(plain) if one not in _SERIES_WORDS[1] | _SERIES_WORDS[2]
    )
    for key in question.view.labels.property_keys() if 1 < len(words) <= MAX_LIST_WORDS else ():
        key_tokens = question.matched_key_tokens(key, words)
        rest = [one for one in words if one not in key_tokens]
        kind = [one for one in rest if one not in SUM_WORDS]
        if not key_tokens or not kind:
            continue
        for chosen in question.interpretations(kind, question.match_terms(plain)):
            notes = question.notes_matching_all(chosen)
            values = question.property_values(key)
            each = sorted((key, value, path) for value in values for path in values[value] & notes)
            amounts = {one[2:]: one[0] for one in _single_numbers(values)}
            side = -1 if highest and not lowest else 1
            each.sort(key=lambda one: side * amounts.get(one[1:], side * math.inf))
            ordered = lowest != highest and any(one[1:] in amounts for one in each)
            lines = {one: line for one, line in question.property_lines(each).items() if line[0]}
            if len(lines) > 1:
                summed = " (they are not added up)" if kind != rest else ""
                notes_with_key = frozenset[str]().union(*values.values()) & notes
                lack = question.describe_lack(notes - notes_with_key, notes_with_key)
                order = f", the {'highest' if highest else 'lowest'} first" if ordered else ""
                return f"{{has|have}} {key}{summed}{lack}{order}", lines
    return None


def _single_numbers(notes_by_value: Mapping[str, Paths]) -> Iterator[tuple[float, str, str, str]]:
    """The number, unit, text and note of each value that is one number."""
    for value, notes in notes_by_value.items():
        matches = [*_NUMBER.finditer(_minutes_to_hours(value))]
        if len(matches) == 1 and parse_day(value) is None:
            unit = matches[0]["unit"] or matches[0]["money"] or ""
            yield from ((_parse_match(matches[0]), unit, value, path) for path in sorted(notes))


class _NumberValue(NamedTuple):
    """A value of a property, the notes with it, its number and unit, and whether it is a day or a year."""

    text: str
    notes: Paths
    number: float
    unit: str
    is_day: bool


def _comparable_values(
    notes_by_value: Mapping[str, Paths], compared: Comparison, question: VaultQuestion, *, is_named: bool
) -> Iterator[_NumberValue]:
    """The values of a property that are numbers of the unit that is asked for, or days where it is a year.

    :param notes_by_value: value -> the notes with it.
    :param is_named: whether the property is called by its name: else it is known by its unit, or as a year.
    """

    def unit_of(value_number: str) -> str:
        plain = normalize_words(value_number)
        return _UNITS.get(plain) or " ".join(question.tokens(plain)) or value_number

    decimal = any(map(_DECIMAL.match, notes_by_value)) and not any("," in one for one in notes_by_value)
    wanted = unit_of(compared.unit)
    for value, notes in notes_by_value.items():
        bare_value = value.strip("['\"]")
        day, numbers = parse_day(bare_value), [*_NUMBER.finditer(_minutes_to_hours(value))]
        if month := _MONTH.fullmatch(bare_value):
            day = date(int(month["year"]), 1, 1)
        if not numbers or (day is None and len(numbers) > 1):
            continue
        number = numbers[0]
        unit = unit_of(number["unit"] or number["money"] or "")
        same = unit == wanted if unit and wanted else is_named
        dated = compared.may_be_years and (day is not None or _YEAR.fullmatch(value) is not None)
        if dated or (same and day is None):
            value_number = float(day.year) if day else _parse_match(number, decimal=decimal)
            yield _NumberValue(value, notes, value_number, unit, dated)


def _minutes_to_hours(value: str) -> str:
    """A value with its hours and minutes as hours: 6h30 are 6.5 h."""
    return _HOURS.sub(lambda found: f"{int(found[1]) + int(found[2]) / 60:.3g} h", value)


def _parse_match(match: re.Match[str], *, decimal: bool = False) -> float:
    """The number that was found, with its sign and what it is counted in ("65k")."""
    multiplier = _MULTIPLIERS.get((match["many"] or "").strip().casefold(), 1)
    return multiplier * _parse_number(f"{match['sign']}{match['digits']}", decimal=decimal)


def _parse_number(digits: str, *, decimal: bool = False) -> float:
    """A number as it is written, in English or German.

    :param decimal: whether a point before three digits is one of a decimal fraction.
    """
    digits = digits.replace("'", "").replace("’", "").replace("−", "-")
    point = max(digits.rfind("."), digits.rfind(","))
    mark = digits[point] if point >= 0 else ""
    other = {".": ",", ",": "."}.get(mark, "")
    groups = len(digits) - point == 4 and not (decimal and mark == ".")  # three behind it
    if mark and (digits.count(mark) > 1 or (groups and other not in digits and digits.lstrip("-")[0] != "0")):
        return float(digits.replace(mark, "").replace(other, "") if other else digits)
    return float(digits.replace(other, "").replace(mark, ".")) if mark else float(digits)
