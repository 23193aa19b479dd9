"""Dates as people and tools write them in properties. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

_DATE = re.compile(
    r"\s*(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})"
    r"(?:(?:T|\s+)(?P<time>\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(?P<zone>Z|[-+]\d{2}:?\d{2})?)?"
    r"\s*"
)
_EPOCH_SECONDS = (10**8, 10**11)  # 1973 to 5138; below it may be a day, above it is finer
_EPOCH_MILLISECONDS = (10**11, 10**14)
_DAY_NUMBER = (1900_01_01, 2200_01_01)


def seconds_of(value: Any) -> float | None:
    """Return a date as seconds since the epoch, None if it is none.

    Read are ISO 8601 dates and times (also with ``/`` or ``.``, a blank instead of ``T``, and
    inside ``[[…]]`` as a link to a daily note), ``20240131``, and epoch numbers in seconds or
    milliseconds. Without a zone the time is UTC.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _number(float(value))
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text.startswith("[[") and text.endswith("]]"):
        text = text[2:-2].partition("|")[0].rpartition("/")[2]
    if text.isascii() and text.isdigit() and len(text) <= 14:
        return _number(float(text))
    found = _DATE.fullmatch(text)
    return _moment(found) if found else None


def _number(value: float) -> float | None:
    if _EPOCH_SECONDS[0] <= value < _EPOCH_SECONDS[1]:
        return value
    if _EPOCH_MILLISECONDS[0] <= value < _EPOCH_MILLISECONDS[1]:
        return value / 1000
    if _DAY_NUMBER[0] <= value < _DAY_NUMBER[1] and value.is_integer():
        digits = str(int(value))
        return seconds_of(f"{digits[:4]}-{digits[4:6]}-{digits[6:]}")
    return None


def _moment(found: re.Match[str]) -> float | None:
    year, month, day = int(found["year"]), int(found["month"]), int(found["day"])
    clock = found["time"] or "0:00"
    hour, _, rest = clock.partition(":")
    zone = (found["zone"] or "Z").replace("Z", "+00:00")
    try:
        moment = datetime.fromisoformat(
            f"{year:04}-{month:02}-{day:02}T{int(hour):02}:{rest[:15]}{zone}"
        )
        return moment.astimezone(UTC).timestamp()
    except (ValueError, OverflowError):
        return None
