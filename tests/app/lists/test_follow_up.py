"""What goes on from a question about a time."""

from datetime import date

import pytest

from tests.support.product import shift_period


@pytest.mark.parametrize(
    ("year", "first", "last"), [("", "2026-11-21", "2026-11-27"), ("2024", "2024-11-21", "2024-11-27")]
)
def test_a_day_without_a_year_is_of_the_year_that_answered(year: str, first: str, last: str) -> None:
    asked = "what did I do on 20 November?", "and the week after?", date(2026, 11, 27), year
    assert shift_period(*asked) == f"what did I do on {first} to {last}?"
