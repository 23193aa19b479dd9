"""Dates as people and tools write them in properties and names of notes. Pure."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, date, datetime
from typing import Any

_MONTHS = (
    ("january", "jan", "januar", "janvier", "janv", "enero", "ene", "gennaio", "gen", "janeiro"),
    ("february", "feb", "februar", "fevrier", "fevr", "febrero", "febbraio", "fevereiro"),
    ("march", "mar", "marz", "maerz", "mars", "marzo", "maart", "marco", "mrz"),
    ("april", "apr", "avril", "avr", "abril", "abr", "aprile"),
    ("may", "mai", "mayo", "maggio", "mei", "maio", "maj"),
    ("june", "jun", "juni", "juin", "junio", "giugno", "junho"),
    ("july", "jul", "juli", "juillet", "juil", "julio", "luglio", "julho"),
    ("august", "aug", "aout", "agosto", "ago", "augustus", "augusti"),
    ("september", "sep", "sept", "septembre", "septiembre", "settembre", "setembro"),
    ("october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre", "outubro"),
    ("november", "nov", "novembre", "noviembre", "novembro"),
    ("december", "dec", "dezember", "dez", "decembre", "diciembre", "dic", "dicembre", "dezembro"),
)
# By names in small letters without accents.
MONTH_NUMBERS = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names}

_YEAR = r"((?:19|20|21)\d{2})"
_TAIL = r"(?:st|nd|rd|th)?"
# Days in the plain name of a note, surest first, and which groups are year, month and day.
_IN_NAMES = tuple(
    (re.compile(pattern), parts)
    for pattern, parts in (
        (r"(?<!\d)(\d{4})([-_.])(\d{2})\2(\d{2})(?!\d)", (1, 3, 4)),
        (rf"\A{_YEAR}(\d{{2}})(\d{{2}})(?:\d{{4}}(?:\d{{2}})?)?(?!\d)", (1, 2, 3)),
        (rf"(?<![\d.])(\d{{1,2}})\.\s?(\d{{1,2}})\.\s?{_YEAR}(?!\d)", (3, 2, 1)),
        (
            r"(?<!\d)(\d{1,2})(?:\.|st|nd|rd|th|er|º)?[ _-]+(?:de[ _])?([a-z]{3,10})\.?,?[ _-]+"
            rf"(?:de[ _])?{_YEAR}(?!\d)",
            (3, 2, 1),
        ),
        (rf"(?<![a-z])([a-z]{{3,10}})\.?[ _-]+(\d{{1,2}}){_TAIL},?[ _-]+{_YEAR}(?!\d)", (3, 1, 2)),
        (rf"(?<!\d){_YEAR}[ _-]+([a-z]{{3,10}})\.?[ _-]+(\d{{1,2}}){_TAIL}(?!\d)", (1, 2, 3)),
    )
)
_IN_FOLDERS = re.compile(
    rf"(?:^|/){_YEAR}/(?:(?:19|20|21)\d{{2}}-)?(\d{{2}})(?:[-_ ][^/\d]+)?/"
    r"(?:\d{2}[-_])?(\d{2})(?:[-_ ,]+[^\W\d]+)?\.md",
    re.IGNORECASE,
)


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(MONTH_NUMBERS.get(month, month)), int(day))
    except ValueError:
        return None


# The numbers that ISO 8601 has with two digits each, and people with one.
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:(?:T|\s+)(\d{1,2}):)?")

_DAY_FIRST = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)")


def seconds_of(value: Any) -> float | None:
    """A date as seconds since the epoch, None if it is none.

    Read are ISO 8601 dates and times (also with ``/`` or ``.``, a blank instead of ``T``, and in
    ``[[…]]``), ``31.01.2024``, ``20240131``, and epoch numbers in seconds or milliseconds. Without a
    zone, it is UTC.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(float(value))
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text.startswith("[[") and text.endswith("]]"):
        text = text[2:-2].partition("|")[0].rpartition("/")[2]
    if text.isascii() and text.isdigit() and len(text) <= 14:
        return _number(float(text))
    if turned := _DAY_FIRST.match(text):
        text = f"{turned[3]}-{turned[2]}-{turned[1]}{text[turned.end() :].replace(',', ' ')}"
    found = _DATE.match(text)
    rest = text[found.end() :].replace(" ", "") if found else ""
    if not found or (rest and not found[4]):
        return None
    year, month, day, hour = (int(number or 0) for number in found.groups())
    try:
        moment = datetime.fromisoformat(f"{year:04}-{month:02}-{day:02}T{hour:02}:{rest or '00'}")
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC).timestamp()
    except (ValueError, OverflowError):
        return None


def day_in_name(path: str) -> date | None:
    """The day that the path of a note holds, as those of daily notes do.

    The first ``2026-10-07`` (also with ``_`` or ``.``) anywhere in its name, or ``20261007`` at its
    start, where a time may follow; ``7.10.2026``, ``7 October 2026``, ``7. Oktober 2026``, ``7 de
    octubre de 2026``, ``October 7th, 2026``, ``2026 October 7`` (months in English, German, French,
    Spanish, Italian, Portuguese and Dutch, also cut short); ``2026/10/07.md`` over folders.
    ``07-10-2026`` and ``10/07`` mean one day here and another there, and are not read.
    """
    name = path.rpartition("/")[2].lower()
    if not name.isascii():
        letters = unicodedata.normalize("NFD", name.casefold())
        name = "".join(letter for letter in letters if not unicodedata.combining(letter))
    for pattern, parts in _IN_NAMES:
        for found in pattern.finditer(name):
            if day := _day(*found.group(*parts)):
                return day
    folders = _IN_FOLDERS.search(path)
    return _day(*folders.groups()) if folders else None


def _number(value: float) -> float | None:
    if 10**8 <= value < 10**11:  # 1973 to 5138; below it may be a day, above it is finer
        return value
    if 10**11 <= value < 10**14:
        return value / 1000
    if 1900_01_01 <= value < 2200_01_01 and value.is_integer():
        digits = str(int(value))
        return seconds_of(f"{digits[:4]}-{digits[4:6]}-{digits[6:]}")
    return None
