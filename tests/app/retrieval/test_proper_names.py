"""Names that a text writes as such: by their capitals, where capitals tell."""

from __future__ import annotations

import re

import pytest

from notehop.app.retrieval.proper_names import proper_names


def words_of(text: str, language: str = "en") -> list[str]:
    is_proper = proper_names(text, language)
    return [word[0] for word in re.finditer(r"\S+", text) if is_proper(*word.span())]


@pytest.mark.parametrize(
    ("text", "proper"),
    [
        pytest.param("who is the father of Anna Berg?", ["Anna", "Berg?"], id="two words"),
        pytest.param("the plan for the harbour", [], id="no capital"),
        pytest.param("Harbour Office Plan", [], id="all have one"),
        pytest.param("Harbour Office of the Plan", [], id="all but small words"),
        pytest.param("Harbour opening hours", [], id="the sentence's own"),
        pytest.param("«Harbour opening» hours", [], id="the sentence's own, in quotes"),
        pytest.param("🌊 — Harbour opening hours", [], id="the sentence's own, after signs"),
        pytest.param("‘Harbour’ opening hours", [], id="the sentence's own, in other quotes"),
        pytest.param("-Harbour opening of Anna", ["Anna"], id="the sentence's own, after a dash"),
        pytest.param("iPhone battery", ["iPhone"], id="a capital further in"),
        pytest.param("NASA budget", ["NASA"], id="all capitals"),
        pytest.param("что пишет Анна сегодня", ["Анна"], id="Cyrillic"),
        pytest.param("灯塔项目的进展", [], id="letters without case"),
        pytest.param("I need help. Budget numbers please", [], id="the second sentence's"),
        pytest.param("who paid Dr. Berg his salary", ["Dr.", "Berg"], id="a full stop in a name"),
        pytest.param("what's the Plan", [], id="a contraction says nothing"),
        pytest.param("isn't that the Plan", [], id="nor a negated one"),
        pytest.param("où est Pell", [], id="small words with accents"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_a_capital_tells_where_others_have_none(text: str, proper: list[str]) -> None:
    assert words_of(text) == proper


def test_in_german_two_words_have_one() -> None:
    text = "was hat der Hafen mit Anna Berg zu tun"
    assert words_of(text, "de") == []
    is_proper = proper_names(text, "de")
    first = text.index("Anna")
    assert is_proper(first, first + len("Anna Berg"))
    assert not is_proper(text.index("Hafen"), text.index("mit"))
