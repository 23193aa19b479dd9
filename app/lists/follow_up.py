"""What goes on from a question about a time, or for a list: the same of another time, or of some of it."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date, timedelta

from notehop.app.lists.kinds import ASKS_OF_A_TIME
from notehop.app.lists.period import SAYS, Period, next_month, period_of, with_names
from notehop.app.lists.tasks import task_questions
from notehop.app.lists.vault_question import WORDS, plain_words
from notehop.app.retrieval.intents import SMALL

_AND = rf"(?:{WORDS['comparing']['and']} )?"
_LATER, _EARLIER, _OF_MONTH, _ONLY = (
    re.compile(_AND + with_names(WORDS["time"][one]), re.IGNORECASE)
    for one in ("later", "earlier", "of_its_month", "only")
)


def going_on(question: str, follow_up: str, today: date, year: str = "") -> str:
    """A question with another time in the place of its own ("and the day after", "and the 14th"), or with
    what narrows its list ("and only those for the bathroom"); empty where the follow-up is another.
    ``year`` is that of the notes by which a time without one was answered; empty where it is not known."""
    text = follow_up.strip(" ?!.…")
    ahead = any(True for _ in task_questions(question, today, lambda _: ()))
    if only := _ONLY.fullmatch(text):
        lists = ahead or ASKS_OF_A_TIME.search(plain_words(question))
        return f"{question.rstrip(' ?!.…')} {only['of']}?" if lists else ""
    was = period_of(question, today, ahead=ahead)
    if was and was.yearly and year:
        was = next((one for one in was.and_before() if f"{one.first.year}" == year), was)
    says_year = re.search(r"\b(?:19|20)\d\d\b", question) is not None
    another = was and _another(was, text, today, ahead=ahead, says_year=says_year)
    if not (was and another):
        return ""
    first, end = another
    said = f"{first}" if end - first == timedelta(1) else f"{first} to {end - timedelta(1)}"
    said = f"{first:%B %Y}" if first.day == 1 and end == next_month(first) else said
    return f"{was.rest[: was.at]}{said}{was.rest[was.at :]}"


def _another(
    was: Period, text: str, today: date, *, ahead: bool, says_year: bool
) -> tuple[date, date] | None:
    """The time that a text names, beside one that was spoken of; None for none, or for years."""
    own = period_of(text, today, ahead=ahead)
    if own and SMALL.issuperset(plain_words(own.rest).split()):
        shift = was.first.year - own.first.year if own.yearly and says_year else 0
        with suppress(ValueError):  # 29 February
            first, end = (one.replace(year=one.year + shift) for one in (own.first, own.end))
            return (first, end) if own.is_short else None
    if found := _OF_MONTH.fullmatch(text):
        with suppress(ValueError):
            first = was.first.replace(day=int(found["day"]))
            return first, first + timedelta(days=1)
    later = _LATER.fullmatch(text) is not None
    if not (later or _EARLIER.fullmatch(text)):
        return None
    if SAYS["month"].search(text):
        first = next_month(was.first) if later else (was.first.replace(day=1) - timedelta(days=1))
        return first.replace(day=1), next_month(first)
    weekend = SAYS["weekend"].search(text)
    step = timedelta(days=7 if weekend or SAYS["week"].search(text) else 1)
    if weekend:
        return (was.first + step, was.end + step) if later else (was.first - step, was.end - step)
    return (was.end, was.end + step) if later else (was.first - step, was.first)
