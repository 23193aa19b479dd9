"""A note in a line: its own summary, else its first words, without marks."""

from __future__ import annotations

import pytest

from notehop.app.container.summary import LENGTH, shortened, summary


def test_the_summary_of_its_owner() -> None:
    assert summary({"Summary": " Why the\nwall goes. "}, "Text") == "Why the wall goes."
    assert summary({"description": "D", "summary": "S"}, "Text") == "S"


@pytest.mark.parametrize("value", [None, "", "  ", 3, ["a"], {"a": 1}])
def test_what_is_no_summary(value: object) -> None:
    assert summary({"summary": value}, "Text") == "Text"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Title\n\nFirst  line\nsecond.", "First line second."),
        ("- one\n- [ ] two\n> three\n1. four", "one two three four"),
        ("**Bold** and ==marked== and __so__", "Bold and marked and so"),
        ("---\n\nText", "Text"),
        ("| a | b |\n| --- | --- |\n| 1 | 2 |", "| a | b | | 1 | 2 |"),
        ("# Only a title", "Only a title"),
        ("", ""),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name"),
    ],
)
def test_first_words(text: str, said: str) -> None:
    assert summary({}, text) == said


def test_long_texts_end_after_a_sentence_if_they_can() -> None:
    sentence = "The clay lies one winter, and then another one because of the rain, they say."
    assert summary({}, f"{sentence} {'word ' * 40}") == sentence
    cut = shortened("word " * 60)
    assert cut.endswith("word …")
    assert LENGTH - 10 < len(cut) <= LENGTH
    assert len(shortened("x" * 500)) <= LENGTH
    assert shortened("x" * LENGTH) == "x" * LENGTH
