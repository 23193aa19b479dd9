"""What a query is after: every rule by its example, and questions that no rule may take."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from tests.support.product import RULES, Rule, about, names_of
from tests.support.product import intents_read as read

KNOWN = {"atlas", "priya", "tidal prism"}


def named(names: Collection[str]) -> list[str]:
    return [name for name in names if name.lower() in KNOWN]


def nobody(_: Collection[str]) -> list[str]:
    return []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.example)
def test_every_rule_takes_its_example(rule: Rule) -> None:
    found = read(rule.example, named)
    assert found.intent == rule.intent
    assert found.rule in RULES
    assert {name.lower() for name in names_of(found.about)} & KNOWN


@pytest.mark.parametrize("rule", [r for r in RULES if r.strict], ids=lambda rule: rule.example)
def test_a_strict_rule_takes_names_only(rule: Rule) -> None:
    assert read(rule.example, nobody).intent == "none"


@pytest.mark.parametrize(
    ("query", "intent", "subject"),
    [
        pytest.param("what is the STATUS of Atlas", "status", "Atlas", id="case, no question mark"),
        pytest.param("  What’s the latest on Atlas?! ", "status", "Atlas", id="typographic"),
        pytest.param("What is the status of the Atlas?", "status", "the Atlas", id="article"),
        pytest.param("Quel est l’etat de Atlas", "status", "Atlas", id="without accents"),
        pytest.param("QUEL EST L'ÉTAT D'ATLAS ?", "status", "ATLAS", id="elided"),
        pytest.param("Ou en est on avec Atlas", "status", "Atlas", id="without hyphen"),
        pytest.param("What is the status of a and b?", "status", "a and b", id="two things"),
        pytest.param("who is Priya today?", "person", "Priya", id="a word behind the name"),
        pytest.param("What is the Atlas project?", "concept", "Atlas", id="words around the name"),
        pytest.param("Status: Atlas", "status", "Atlas", id="colon"),
    ],
)
def test_ways_to_write_it(query: str, intent: str, subject: str) -> None:
    found = read(query, named)
    assert (found.intent, found.about) == (intent, subject)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?",
        "Atlas",
        "status",
        "How far is Paris from London?",
        "Who is the spouse of the director of Atlas?",
        "What is the population of Atlas?",
        "When was Priya born?",
        "What state is Atlas in?",
        "How is the width of the breach chosen?",
        "What is the status quo?",
        "What happened at the meeting in May about the budget?",
        "Which award did the performer of the song Atlas receive?",
        "Wie ist das Wetter in Atlas?",
        "¿Qué es la vida de Atlas?",
        "the " * 30 + "status of Atlas",
    ],
)
def test_ordinary_questions_are_after_nothing(query: str) -> None:
    assert read(query, named).intent == "none"
    assert read(query, named).about == query


def test_an_intent_that_is_named_needs_no_rule() -> None:
    assert about("Pell Sluice", "status").about == "Pell Sluice"
    assert about("Who is Priya?", "person").about == "Priya"
    assert about("Who is Priya?", "status").about == "Who is Priya?"
    assert about("Who is Priya?", "status").intent == "status"
