"""Sentence spans tile their text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import sentence_spans


def test_examples() -> None:
    text = "Mr. Smith left. Did he? Yes!  So.\n\nNew paragraph"
    assert [text[start:end].strip() for start, end in sentence_spans(text)] == [
        "Mr. Smith left.",
        "Did he?",
        "Yes!",
        "So.",
        "New paragraph",
    ]
    assert sentence_spans("") == []
    assert sentence_spans("Eins. Zwei.", "de") == [(0, 6), (6, 11)]
    assert sentence_spans("One. Two.", "no such language")[-1][1] == 9


@given(st.text() | st.text(alphabet="aB. !?\n\"'”。🌊e\u0301"))
def test_spans_tile_the_text(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Der Wagen kommt am 3. Mai 2027 um acht. Das Boot wartet.", 2),
        ("Am 8. April 2027 ist es so weit. Am 12. März auch.", 2),
        ("See page 3. May follows.", 2),
        ("It ranked 8. April was wet.", 2),
        ("That was in 1993. Mai came.", 2),
    ],
)
def test_a_day_is_not_cut_where_the_vault_has_another_language(text: str, count: int) -> None:
    assert len(sentence_spans(text, "en")) == count
