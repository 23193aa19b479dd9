"""Sentence spans tile their text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from indexing.vault.sentences import sentence_spans


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
