"""Which questions are about the whole vault, and which only look like it."""

from __future__ import annotations

import pytest

from tests.support.product import THEME_RULES, asks_for_themes
from tests.support.tables import rows


@pytest.mark.parametrize("rule", THEME_RULES, ids=lambda rule: rule.example)
def test_each_rule_takes_its_example(rule) -> None:  # type: ignore[no-untyped-def]
    assert asks_for_themes(rule.example) == rule.about


@pytest.mark.parametrize(("question", "about"), rows(__file__, "as_people_write"))
def test_as_people_write(question: str, about: str | None) -> None:
    assert asks_for_themes(question) == about


@pytest.mark.parametrize("question", rows(__file__, "other_questions_are_left_alone"))
def test_other_questions_are_left_alone(question: str) -> None:
    assert asks_for_themes(question) is None
