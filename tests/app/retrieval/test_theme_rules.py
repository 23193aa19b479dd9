"""Which questions are about the whole vault, and which only look like it."""

from __future__ import annotations

import pytest

from tests.support.product import THEME_RULES_RULES as RULES
from tests.support.product import asks_for_themes


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.example)
def test_each_rule_takes_its_example(rule) -> None:  # type: ignore[no-untyped-def]
    assert asks_for_themes(rule.example) == rule.about


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("what are the main themes of my work on X", "X"),
        ("  WHAT ARE THE MAIN THEMES OF MY VAULT??", ""),
        ("main themes of Atlas", None),
        ("Quels sont les thèmes de mes notes", ""),
        ("¿Cuáles son los temas de mis notas?", ""),
        ("Was sind die Themen meiner Notizen", ""),
        ("What are the key themes around birds and mud?", "birds and mud"),
    ],
)
def test_as_people_write(question: str, about: str | None) -> None:
    assert asks_for_themes(question) == about


@pytest.mark.parametrize(
    "question",
    [
        "",
        "???",
        "What is the theme of the steering group on 30 September?",
        "What are the costs of the vault door?",
        "Which topics did Priya raise?",
        "What is the dark theme?",
        "What did I write about oysters?",
        "Summarize the meeting with Odile",
        "What are the main topics of the meeting with Odile?",
        "Worum geht es in der Sitzung?",
        "themes",
        "What did I write about?",
        "What have we worked on?",
        "What are the themes of Hamlet?",
        "What are threads in Java?",
        "List threads in Python",
        "Name the theme of the party",
        "Summarize the notes about Bob's call on Friday",
        "List my areas",
        "Show me topics",
        "Was sind die Schwerpunkte im Studium?",
        "Was sind die Themen im Kurs Statistik?",
        "Worüber schreibe ich?",
        "Fasse die Notizen zur Sitzung vom 3. Mai zusammen",
        "Quels sont les axes de symétrie du carré ?",
        "Quels sont les sujets de la réunion de lundi ?",
        "Quels sont les thèmes de Madame Bovary ?",
        "¿Cuáles son las líneas de metro?",
        "¿Cuáles son los temas de la reunión?",
        "¿Cuáles son los asuntos pendientes?",
        "What are the main themes of " + "very " * 40 + "long words",
    ],
)
def test_other_questions_are_left_alone(question: str) -> None:
    assert asks_for_themes(question) is None
