"""The dates that ``after:`` and ``before:`` take, and what they say of others."""

from __future__ import annotations

from contextlib import suppress
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.app.retrieval.filters.days import day_of
from notehop.config.errors import QueryError

TODAY = date(2026, 3, 31)


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("2026-10-07", "2026-10-07"),
        ("2026/1/7", "2026-01-07"),
        ("2026.10.07", "2026-10-07"),
        ("2026-10", "2026-10-01"),
        ("2026", "2026-01-01"),
        (" Today ", "2026-03-31"),
        ("yesterday", "2026-03-30"),
        ("7d", "2026-03-24"),
        ("2W", "2026-03-17"),
        ("1m", "2026-02-28"),
        ("13m", "2025-02-28"),
        ("3m", "2025-12-31"),
        ("2y", "2024-03-31"),
        ("0d", "2026-03-31"),
    ],
)
def test_a_date(said: str, day: str) -> None:
    assert day_of(said, TODAY).isoformat() == day


def test_a_leap_day_a_year_later_is_the_last_of_february() -> None:
    assert day_of("1y", date(2024, 2, 29)) == date(2023, 2, 28)


@pytest.mark.parametrize(
    "said", ["noon", "", "2026-13", "2026-02-30", "0000", "07.10.2026", "-7d", "7", "7h", "9999y"]
)
def test_no_date_says_what_is_accepted(said: str) -> None:
    with pytest.raises(QueryError, match="is no date; write 2026-10-07, 2026-10, 2026, today"):
        day_of(said, TODAY)


@given(said=st.text("0123456789dwmy-/.", max_size=11))
def test_any_text_is_a_date_or_refused(said: str) -> None:
    with suppress(QueryError):
        assert isinstance(day_of(said, TODAY), date)
