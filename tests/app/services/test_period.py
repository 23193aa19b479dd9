"""The time that a question names, as days."""

from __future__ import annotations

from datetime import date

import pytest

from tests.support.product import period_of

TODAY = date(2026, 11, 25)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "first", "end"),
    [
        ("what did I do today", "2026-11-25", "2026-11-26"),
        ("what did I do yesterday?", "2026-11-24", "2026-11-25"),
        ("notes of this week", "2026-11-23", "2026-11-30"),
        ("what happened last week", "2026-11-16", "2026-11-23"),
        ("what happened on Monday", "2026-11-23", "2026-11-24"),
        ("what happened on Wednesday", "2026-11-18", "2026-11-19"),
        ("what happened last month", "2026-10-01", "2026-11-01"),
        ("notes of this month", "2026-11-01", "2026-12-01"),
        ("books of last year", "2025-01-01", "2026-01-01"),
        ("meetings in 2024", "2024-01-01", "2025-01-01"),
        ("meetings in September", "2026-09-01", "2026-10-01"),
        ("meetings in December", "2025-12-01", "2026-01-01"),
        ("on 24 December", "2025-12-24", "2025-12-25"),
        ("am 28. September 2026", "2026-09-28", "2026-09-29"),
        ("2026-02-28", "2026-02-28", "2026-03-01"),
        ("in December 2026", "2026-12-01", "2027-01-01"),
    ],
)
def test_a_period(text: str, first: str, end: str) -> None:
    found = period_of(text, TODAY)
    assert found is not None
    assert (found.first.isoformat(), found.end.isoformat()) == (first, end)


@pytest.mark.parametrize(
    "text",
    [
        "what happened",
        "what may be done",
        "from 3 May to 4 June",
        "last week and in March",
        "on 5/3/2026",
        "on 31 February",
    ],
)
def test_no_period_or_several(text: str) -> None:
    assert period_of(text, TODAY) is None


def test_what_is_left_is_the_text_without_it() -> None:
    found = period_of("which meetings were in September?", TODAY)
    assert found is not None
    assert found.rest.split() == ["which", "meetings", "were", "in", "?"]
