"""The time that a question names, as days."""

from datetime import date

import pytest

from tests.support.product import parse_period
from tests.support.tables import rows

TODAY = date(2026, 11, 25)  # a Wednesday


@pytest.mark.parametrize(("text", "first", "end"), rows(__file__, "a_period"))
def test_a_period(text: str, first: str, end: str) -> None:
    found = parse_period(text, TODAY, ahead="due" in text)
    assert (found.first.isoformat(), found.end.isoformat()) == (first, end)


@pytest.mark.parametrize("text", rows(__file__, "no_period_or_several"))
def test_no_period_or_several(text: str) -> None:
    assert parse_period(text, TODAY) is None


def test_what_is_left_is_the_text_without_it() -> None:
    found = parse_period("which meetings were in September?", TODAY)
    assert found is not None
    assert found.rest.split() == ["which", "meetings", "were", "in", "?"]
