"""What a query is after, the whole vault among it: each rule by its example, and what none may take."""

from collections.abc import Collection

import pytest

from tests.support.product import (
    RULES,
    THEME_RULES,
    IntentRule,
    detect_intent,
    find_themes_subject,
    find_topic,
    name_candidates,
)
from tests.support.tables import rows

KNOWN = {"atlas", "priya", "tidal prism"}


def named(names: Collection[str]) -> list[str]:
    return [name for name in names if name.lower() in KNOWN]


def nobody(_: Collection[str]) -> list[str]:
    return []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.example)
def test_every_rule_takes_its_example(rule: IntentRule) -> None:
    found = detect_intent(rule.example, named)
    assert found.intent == rule.intent
    assert found.rule in RULES
    assert {name.lower() for name in name_candidates(found.topic)} & KNOWN


@pytest.mark.parametrize("rule", [r for r in RULES if r.strict], ids=lambda rule: rule.example)
def test_a_strict_rule_takes_names_only(rule: IntentRule) -> None:
    assert detect_intent(rule.example, nobody).intent == "none"


@pytest.mark.parametrize(("query", "intent", "subject"), rows(__file__, "ways_to_write_it"))
def test_ways_to_write_it(query: str, intent: str, subject: str) -> None:
    found = detect_intent(query, named)
    assert (found.intent, found.topic) == (intent, subject)


@pytest.mark.parametrize("query", rows(__file__, "ordinary_questions_are_after_nothing"))
def test_ordinary_questions_are_after_nothing(query: str) -> None:
    assert detect_intent(query, named).intent == "none"
    assert detect_intent(query, named).topic == query


def test_an_intent_that_is_named_needs_no_rule() -> None:
    assert find_topic("Pell Sluice", "status").topic == "Pell Sluice"
    assert find_topic("Who is Priya?", "person").topic == "Priya"
    assert find_topic("Who is Priya?", "status").topic == "Who is Priya?"
    assert find_topic("Who is Priya?", "status").intent == "status"


@pytest.mark.parametrize("rule", THEME_RULES, ids=lambda rule: rule.example)
def test_a_rule_of_themes_takes_its_example(rule: IntentRule) -> None:
    assert find_themes_subject(rule.example) == rule.topic


@pytest.mark.parametrize(("question", "about"), rows(__file__, "themes_as_people_write"))
def test_themes_as_people_write(question: str, about: str | None) -> None:
    assert find_themes_subject(question) == about


@pytest.mark.parametrize("question", rows(__file__, "other_questions_are_after_no_themes"))
def test_other_questions_are_after_no_themes(question: str) -> None:
    assert find_themes_subject(question) is None
