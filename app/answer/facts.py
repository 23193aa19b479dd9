"""Numbers, dates, names and negations of a sentence, compared with those of its source. Pure.

Words are compared as the index reads them, folded and stemmed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import isinf

from text_to_num import find_numbers

from notehop.app.answer.names import NAME_TOKEN, Tokenize
from notehop.indexing.tokens.words import detect_language, fold
from notehop.indexing.vault.dates import MONTH_NUMBERS

NumberValues = frozenset[str]
"""The numbers that one spelling may mean: ``4.500`` is one thing in English, another in German."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is written, what it may mean, and what kind it is: ``year``, ``time``, ``%``,
    a currency, a unit or the word behind it; empty for none."""

    written_as: str
    values: NumberValues
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Day:
    """A date as it is written; what it leaves open is None. ``may_be_swapped``: day and month may be meant
    the other way round (5/3/2024)."""

    written_as: str
    year: int | None = None
    month: int | None = None
    day: int | None = None
    may_be_swapped: bool = False

    def agrees(self, other: Day) -> bool:
        """Whether ``other`` says all that this says, in one way of reading both."""
        return any(
            all(one in (None, two) for one, two in zip(mine, theirs, strict=True))
            for mine, theirs in product(self.possible_dates, other.possible_dates)
        )

    @property
    def possible_dates(self) -> Sequence[tuple[int | None, ...]]:
        """The year, month and day that it may be."""
        read = self.year, self.month, self.day
        return (read, (self.year, self.day, self.month)) if self.may_be_swapped else (read,)


@dataclass(frozen=True, slots=True)
class Facts:
    """Numbers that stand in no date, and dates, in the order of the text."""

    numbers: tuple[Number, ...] = ()
    days: tuple[Day, ...] = ()


YEAR_PATTERN = r"(?:1[5-9]|20|21)\d\d"  # a number that is one without a month

_MONTH = r"(?P<month>[^\W\d_]{3,12})\.?"
_DATE_YEAR = r"(?P<year>(?:1[0-9]|20|21)\d{2})(?!\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|er|º|\.)?"
_OF = r"(?:\s+(?:of|de|di|del))?\s+"
_DATES = tuple(
    re.compile(rf"(?<![\w.])(?:{pattern})(?!\w)", re.IGNORECASE)
    for pattern in (
        r"(?P<year>\d{4})[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})",
        r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})",
        r"(?:(?<=\b(?:bis|vom|zum|den|dem) )|(?<=\b(?:am|ab) ))(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.",
        r"(?P<first>\d{1,2})/(?P<second>\d{1,2})/(?P<year>\d{4})",
        rf"{_DAY}{_OF}{_MONTH},?{_OF}{_DATE_YEAR}",
        rf"{_MONTH}\s+{_DAY},?\s+{_DATE_YEAR}",
        rf"{_DATE_YEAR}\s+{_MONTH}\s+{_DAY}",
        rf"{_DAY}{_OF}{_MONTH}",
        rf"{_MONTH}\s+{_DAY}",
        rf"{_MONTH},?{_OF}{_DATE_YEAR}",
        r"(?P<year>\d{4})-(?P<month>0[1-9]|1[0-2])",
    )
)
_LONE_MONTH = re.compile(r"(?<![\w-])[^\W\d_]{3,12}(?![\w-])")
_AMBIGUOUS_MONTHS = frozenset(("may", "march", "mar", "mars", "mai", "gen", "set", "ago", "dic", "ene"))
"""Words that are no month more often than one; alone they count as one with a capital only."""

_TIME = re.compile(
    r"(?<![\w.:,])(?P<hour>[01]?\d|2[0-4])(?:[:.h](?P<minute>[0-5]\d))?"
    r"(?:\s?(?P<half>[ap])\.?\s?m\b\.?|\s?(?P<clock>uhr|h|heures|uur|o['’]clock)(?!\w))"
    r"|(?<![\w.:,])(?P<hours>[01]?\d|2[0-4])h(?P<minutes>[0-5]\d)(?!\w)",
    re.IGNORECASE,
)
"""Hours that say so; ``9:00`` says it by its colon."""

_NUMBER = re.compile(
    r"(?<![\w.])(?:v(?=\d))?(?P<currency>[£$€¥])?\s?"
    r"(?P<digits>\d{1,3}(?:[,.'’\u00a0\u202f ]\d{3})+(?:[.,]\d+)?"
    r"|\d+(?:[.,:]\d+)*)(?P<unit>\s?%|[^\W\d_]{1,3}(?!\w)|st\b|nd\b|rd\b|th\b)?(?!\w)"
    r"(?:\s(?P<next>[^\W\d_]+))?"
)
_DECIMAL = re.compile(r"\d+\.?\d*(?:e\+\d+)?|inf")
_SCALES = {
    **dict.fromkeys(("k", "thousand", "tausend", "mille", "mil", "duizend", "tusen"), 1e3),
    **dict.fromkeys(("m", "mio", "mn", "million", "millions", "millionen", "milioni"), 1e6),
    **dict.fromkeys(("millones", "milhoes", "miljoen", "miljoner"), 1e6),
    **dict.fromkeys(("bn", "billion", "billions", "mrd", "milliarden", "milliards"), 1e9),
}
_ORDINALS = frozenset(("st", "nd", "rd", "th"))
_PER_CENT = frozenset(("%", "percent", "per", "prozent", "pourcent"))
_TOKEN = re.compile(r"[^\W_]+|[^\w\s]+|\s+|_+")
_NUMBER_WORD_LANGUAGES = frozenset(("en", "de", "fr", "es", "it", "nl", "pt"))
"""Languages whose numbers are read in words."""

_NO_NUMBERS = frozenset(("o", "second", "seconds"))
"""Words that are something else as often: of "ten o'clock", and a part of a minute."""

_TIMES_OVER = {
    **dict.fromkeys(("twice", "zweimal", "tweemaal"), "2"),
    **dict.fromkeys(("thrice", "dreimal", "driemaal"), "3"),
}


@lru_cache(maxsize=4_096)
def facts_of(text: str, language: str = "en") -> Facts:
    """Return the numbers and dates of a text; those in words count, from two on.

    :param language: ISO 639-1 code of what is read where the text itself does not tell.
    """
    days: list[tuple[int, Day]] = []
    unread = text
    for pattern in _DATES:
        for match in list(pattern.finditer(unread)):
            day = _parse_day(match)
            if day is not None:
                days.append((match.start(), day))
                unread = unread[: match.start()] + " " * len(match[0]) + unread[match.end() :]
    for match in _LONE_MONTH.finditer(unread):
        word = fold(match[0]).casefold()
        month = MONTH_NUMBERS.get(word)
        if (
            month is None
            or len(word) < 4
            or (word in _AMBIGUOUS_MONTHS and not _is_capitalized_inside_sentence(unread, match))
        ):
            continue
        days.append((match.start(), Day(match[0], month=month)))
    days.sort(key=lambda one: one[0])
    return Facts(tuple(_find_numbers(unread, language)), tuple(day for _, day in days))


def missing_facts(stated: Facts, known: Facts) -> list[str]:
    """Return what of the numbers and dates of a sentence its source does not have, as written."""
    have = frozenset(one for number in known.numbers for one in number.values)
    years = {day.year for day in known.days} | {
        int(number.written_as) for number in known.numbers if number.kind == "year"
    }
    spelt = {str(part) for day in known.days for part in (day.year, day.day) if part is not None}
    found = [day.written_as for day in stated.days if not _is_known(day, known.days, years)]
    found += [number.written_as for number in stated.numbers if not number.values & (have | spelt)]
    return list(dict.fromkeys(found))


def has_contradicting_value(stated: Facts, known: Facts) -> bool:
    """Whether the source has another value where the sentence states one that it lacks.

    Another year, time, per cent or sum, another number of the same thing, or another day.
    """
    missing = frozenset(missing_facts(stated, known))
    stated_values = frozenset(one for number in stated.numbers for one in number.values)
    kinds = {one.kind for one in known.numbers if one.kind and not one.values & stated_values}
    if any(day.year is not None for day in known.days):
        kinds.add("year")
    if any(one.written_as in missing and one.kind in kinds for one in stated.numbers):
        return True
    return any(
        day.written_as in missing and any(_differ_when_both_known(day, other) for other in known.days)
        for day in stated.days
    )


def _differ_when_both_known(day: Day, other: Day) -> bool:
    """Whether two dates are as exact as each other somewhere and differ there, however read."""
    return all(
        any(None not in (one, two) and one != two for one, two in zip(mine, theirs, strict=True))
        for mine, theirs in product(day.possible_dates, other.possible_dates)
    )


def _is_known(day: Day, known: Sequence[Day], years: set[int | None]) -> bool:
    if any(day.agrees(other) for other in known):
        return True
    # The year may stand elsewhere in the source: in its heading, or in another date.
    without = replace(day, year=None)
    if day.month is None or day.year not in years:
        return False
    if day.day is None and any(other.year == day.year and other.month != day.month for other in known):
        return False
    return any(other.year is None and without.agrees(other) for other in known)


def _parse_day(match: re.Match[str]) -> Day | None:
    parts = match.groupdict()
    if parts.get("first"):
        low, high = sorted((int(parts["first"]), int(parts["second"])))
        if not 1 <= low <= 12 or high > 31:
            return None
        return Day(match[0], int(parts["year"]), low, high, may_be_swapped=high <= 12)
    month = parts.get("month") or ""
    number = int(month) if month.isdigit() else MONTH_NUMBERS.get(fold(month).casefold())
    if number is None or not 1 <= number <= 12:
        return None
    day = int(parts["day"]) if parts.get("day") else None
    if day is not None and not 1 <= day <= 31:
        return None
    year = int(parts["year"]) if parts.get("year") else None
    return Day(match[0].strip(" .,"), year, number, day)


def _is_capitalized_inside_sentence(text: str, match: re.Match[str]) -> bool:
    """Whether a word has a capital where no sentence begins."""
    before = text[: match.start()].rstrip()
    return match[0][0].isupper() and bool(before) and before[-1] not in ".!?:"


def _find_numbers(text: str, language: str) -> Iterator[Number]:
    for match in _TIME.finditer(text):
        if (time := _parse_time(match)) is not None:
            yield time
            text = text[: match.start()] + " " * len(match[0]) + text[match.end() :]
    for match in _NUMBER.finditer(text):
        digits, unit = match["digits"], (match["unit"] or "").strip().casefold()
        following = fold(match["next"] or "").casefold()
        values = set(_number_values(digits))
        if unit in _ORDINALS:
            values.add(f"{digits}.")
        for word in (unit, following):
            if word in _SCALES:
                floats = (float(one) for one in values if _DECIMAL.fullmatch(one))
                scaled = {_format_number(value * _SCALES[word]) for value in floats}
                # "3 million" is no 3; but "60 m" may be metres, and a table has "2.84" in millions.
                whole = len(word) > 3 and digits.isdigit()
                values = scaled if whole else values | scaled
        yield Number(
            _number_as_written(match), frozenset(values), _number_kind(match, digits, unit, following)
        )
    yield from _find_number_words(text, language)


def _parse_time(match: re.Match[str]) -> Number | None:
    """The time of a day, as a clock of 24 hours shows it."""
    hour = int(match["hour"] or match["hours"])
    minute = match["minute"] or match["minutes"] or "00"
    half = (match["half"] or "").casefold()
    if half and not 1 <= hour <= 12:
        return None
    if (match["clock"] or "").casefold() == "h" and match["minute"] is None:
        return None  # 24 h is as long as a day
    if half:
        hour = hour % 12 + 12 * (half == "p")
    values = {f"{hour:02}:{minute}"}
    if not half and 1 <= hour <= 12 and match["clock"]:
        values.add(f"{hour % 12 + 12:02}:{minute}")
    return Number(match[0].strip(" ."), frozenset(values), "time")


@dataclass(frozen=True, slots=True)
class _Token:
    """A word as :func:`text_to_num.find_numbers` asks for it."""

    shown: str

    def text(self) -> str:
        return self.shown

    def nt_separated(self, previous: _Token) -> bool:  # noqa: ARG002
        return False

    def not_a_number_part(self) -> bool:
        return self.shown.isdigit() or self.shown.casefold() in _NO_NUMBERS


def _find_number_words(text: str, language: str) -> Iterator[Number]:
    tokens = [_Token(found[0]) for found in _TOKEN.finditer(text)]
    taken: set[int] = set()
    # A sentence tells its language in three of four cases; the vault's own is as likely.
    for spoken in dict.fromkeys((language, detect_language([text], language))):
        for found in find_numbers(tokens, spoken, 1.9) if spoken in _NUMBER_WORD_LANGUAGES else ():
            place = range(found.start, found.end)
            words = "".join(tokens[at].shown for at in place)
            # "3 million" was read with its digits.
            if fold(words).casefold() in _SCALES or not taken.isdisjoint(place):
                continue
            taken.update(place)
            if found.is_ordinal:
                yield Number(words, frozenset([f"{found.value:.0f}."]), "ordinal")
                continue
            behind = next((one.shown for one in tokens[found.end :] if one.shown.isalpha()), "")
            kind = f"word {fold(behind).casefold()}"
            yield Number(words, frozenset([_format_number(found.value)]), kind)
    for token in tokens:
        if (times := _TIMES_OVER.get(fold(token.shown).casefold())) is not None:
            yield Number(token.shown, frozenset([f"{times}."]), "ordinal")


def _number_as_written(match: re.Match[str]) -> str:
    scale = match["next"] or ""
    behind = f" {scale}" if fold(scale).casefold() in _SCALES else ""
    return f"{match['currency'] or ''}{match['digits']}{match['unit'] or ''}{behind}"


def _number_kind(match: re.Match[str], digits: str, unit: str, following: str) -> str:
    if match["currency"]:
        return "money"
    if ":" in digits:
        return "time"
    if unit == "%" or following in _PER_CENT:
        return "%"
    if re.fullmatch(YEAR_PATTERN, digits) and not unit:
        return "year"
    if unit in _ORDINALS:
        return "ordinal"
    return f"word {unit or following}".strip() if unit or following else ""


def _number_values(digits: str) -> Iterator[str]:
    """The numbers that digits with marks in them may mean, without zeros that say nothing."""
    if ":" in digits:
        yield ":".join(part.zfill(2) for part in digits.split(":"))
        return
    if re.fullmatch(r"(?:[01]?\d|2[0-3])\.[0-5]\d", digits):
        yield digits.replace(".", ":").zfill(5)
    grouped = re.fullmatch(r"\d{1,3}(?:([,.'’\u00a0\u202f ])\d{3})+(?:[.,]\d+)?", digits)
    if grouped:
        mark = grouped[1]
        whole = digits.replace(mark, "").replace(",", ".")
        if whole.count(".") <= 1:
            yield _format_number(float(whole))
        # One point before three digits is a decimal point in English, and none in German.
        if mark != "." or digits.count(mark) > 1 or digits.endswith("000"):
            return
    with_points = digits.replace(",", ".")
    if with_points.count(".") <= 1:
        yield _format_number(float(with_points))
    else:
        yield digits


def _format_number(value: float) -> str:
    # Digits by the hundred, as of a key, are more than a float holds.
    if isinf(value):
        return "inf"
    return str(int(value)) if value == int(value) else f"{value:.6g}"


NEGATION_SCOPE_WORDS = 6
"""Words that say something behind a negation that are taken to be denied, within its clause."""

_BREAK = re.compile(
    r"[.!?:;,()\[\]“”\"«»|\n]|\s[–—-]\s|(?:^|\s)(?:but|aber|sondern|mais|pero|ma|mas|maar|men|но)(?=\s)"
)
_DENY = """
    no not never none nothing nobody nowhere neither nor without cannot cant dont doesnt didnt isnt
    arent wasnt werent wont wouldnt shouldnt couldnt hasnt havent hadnt
    nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder
    pas jamais sans aucun aucune rien ni
    nunca jamas sin ningun ninguna nada nadie tampoco
    non mai senza nessuno nessuna niente nulla
    nao sem nenhum nenhuma ninguem
    niet geen nooit niets niemand zonder
    inte icke ingen inget aldrig utan ej
    не нет ни без никогда ничего никто
    """
_NEGATIONS = frozenset(_DENY.split())
_AMBIGUOUS_NEGATIONS = frozenset(("ni", "mai", "men", "ej", "sin", "nada", "non", "pas"))
"""Words that deny in one language and say something else in English notes; with a capital they
are names."""


@dataclass(frozen=True, slots=True)
class Negations:
    """Words of a text, and those among them that stand nowhere but
    behind a negation in their clause."""

    words: frozenset[str]
    negated_words: frozenset[str]
    negation: str = ""


def find_negations(text: str, words: Tokenize, function_words: Collection[str]) -> Negations:
    """Return what a text denies.

    :param function_words: words that say nothing.
    """
    affirmed: set[str] = set()
    negated: set[str] = set()
    mark = ""
    for clause in _BREAK.split(text):
        tokens = [match[0] for match in NAME_TOKEN.finditer(clause)]
        words_left = 0
        for token in tokens:
            folded = re.sub(r"['’]", "", fold(token).casefold())
            if folded in _NEGATIONS and not (folded in _AMBIGUOUS_NEGATIONS and token[0].isupper()):
                words_left = NEGATION_SCOPE_WORDS
                mark = mark or token
                continue
            words_of_token = [word for word in words(token) if word not in function_words]
            if words_of_token and words_left:
                negated.update(words_of_token)
                words_left -= 1
            else:
                affirmed.update(words_of_token)
    return Negations(frozenset(affirmed | negated), frozenset(negated - affirmed), mark)


def is_negation_reversed(sentence: Negations, source: Negations) -> bool:
    """Whether one denies what the other states, of what both speak of.

    A sentence that denies anything needs a source that denies something. A source may deny what the
    sentence leaves out.
    """
    shared = sentence.words & source.words
    if sentence.negation and not source.negation:
        return bool(shared)
    differ = (sentence.negated_words ^ source.negated_words) & shared
    return len(differ) >= 2 or (bool(differ) and len(differ) >= len(shared) / 5)
