"""What a model writes is made plain text before it is kept."""

from __future__ import annotations

import pytest

from notehop.indexing.enrich.clean import cleaned


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        pytest.param("A boat leaks.", "A boat leaks.", id="plain"),
        pytest.param("<think>Hm. A boat?</think>\nIt leaks.", "It leaks.", id="thoughts"),
        pytest.param("<think>Hm, without an end", "", id="thoughts without end"),
        pytest.param("Summary: It leaks.", "It leaks.", id="label"),
        pytest.param("Here is the summary:\n\n- It **leaks**.", "It leaks.", id="talk and marks"),
        pytest.param('"It leaks."', "It leaks.", id="quotes"),
        pytest.param('"Leaks" and "rot".', '"Leaks" and "rot".', id="quotes within"),
        pytest.param("![x](https://evil.example/?q=secret) It leaks.", "x It leaks.", id="image"),
        pytest.param("See [this](https://evil.example) now.", "See this now.", id="link"),
        pytest.param("Go to https://evil.example/a?b now.", "Go to now.", id="address"),
        pytest.param("See [[Private note|it]] and [[Boat]].", "See it and Boat.", id="wikilinks"),
        pytest.param("<script>alert(1)</script>It leaks.", "alert(1)It leaks.", id="tags"),
        pytest.param("It \x1b[31mleaks\x07\u202e.", "It [31mleaks .", id="controls"),
        pytest.param("```\nIt leaks.\n```", "It leaks.", id="fence"),
        pytest.param("…", "", id="no word"),
        pytest.param("潮汐是涨落。", "潮汐是涨落。", id="Chinese"),
    ],
)
def test_cleaned(said: str, kept: str) -> None:
    assert cleaned(said, 300) == kept


def test_a_long_answer_ends_after_a_sentence() -> None:
    text = "This is the first sentence of an answer that goes on and on. " * 9
    found = cleaned(text, 150)
    assert len(found) <= 150
    assert found.endswith("on.")
