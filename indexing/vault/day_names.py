"""Days as names of daily notes spell them beside ``2026-10-07``: words, points, folders. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import date

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
_NUMBER = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names}

_POINTS = re.compile(r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?((?:19|20|21)\d{2})(?!\d)")
_DAY_FIRST = re.compile(
    r"(?<!\d)(\d{1,2})(?:\.|st|nd|rd|th|er|º)?[ _-]+(?:de[ _])?([a-z]{3,10})\.?,?[ _-]+(?:de[ _])?"
    r"((?:19|20|21)\d{2})(?!\d)"
)
_MONTH_FIRST = re.compile(
    r"(?<![a-z])([a-z]{3,10})\.?[ _-]+(\d{1,2})(?:st|nd|rd|th)?,?[ _-]+((?:19|20|21)\d{2})(?!\d)"
)
_YEAR_FIRST = re.compile(
    r"(?<!\d)((?:19|20|21)\d{2})[ _-]+([a-z]{3,10})\.?[ _-]+(\d{1,2})(?:st|nd|rd|th)?(?!\d)"
)
_IN_FOLDERS = re.compile(
    r"(?:^|/)((?:19|20|21)\d{2})/(?:(?:19|20|21)\d{2}-)?(\d{2})(?:[-_ ][^/\d]+)?/"
    r"(?:\d{2}[-_])?(\d{2})(?:[-_ ,]+[^\W\d]+)?\.md",
    re.IGNORECASE,
)


def month_named(word: str) -> int | None:
    """The number of a month by its name in small letters without accents; None if it is none."""
    return _NUMBER.get(word)


def day_spelt(path: str) -> date | None:
    """Return the day that the path of a note spells out; None if it does not.

    Read are ``7.10.2026``, ``7 October 2026``, ``7. Oktober 2026``, ``7 de octubre de 2026``,
    ``October 7th, 2026``, ``2026 October 7`` in the name (months in English, German, French,
    Spanish, Italian, Portuguese and Dutch, also cut short), and ``2026/10/07.md`` over folders.
    ``07-10-2026`` and ``10/07`` are not read: they mean one day here and another there.
    """
    name = _plain(path.rpartition("/")[2])
    for day in _spelt(name):
        if day is not None:
            return day
    over = _IN_FOLDERS.search(path)
    return _day(over[1], over[2], over[3]) if over else None


def _spelt(name: str) -> Iterator[date | None]:
    for found in _POINTS.finditer(name):
        yield _day(found[3], found[2], found[1])
    if not any(letter.isalpha() for letter in name.removesuffix(".md")):
        return
    for found in _DAY_FIRST.finditer(name):
        yield _day(found[3], _NUMBER.get(found[2]), found[1])
    for found in _MONTH_FIRST.finditer(name):
        yield _day(found[3], _NUMBER.get(found[1]), found[2])
    for found in _YEAR_FIRST.finditer(name):
        yield _day(found[1], _NUMBER.get(found[2]), found[3])


def _plain(name: str) -> str:
    """The name in small letters without accents."""
    if name.isascii():
        return name.lower()
    letters = unicodedata.normalize("NFD", name.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _day(year: str, month: str | int | None, day: str) -> date | None:
    try:
        return None if month is None else date(int(year), int(month), int(day))
    except ValueError:
        return None
