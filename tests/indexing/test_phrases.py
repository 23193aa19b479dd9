"""A phrase stands in a text where its words follow one another, as the index folds words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import LANGUAGES, Phrase, Tokenizer, said_by, words_said


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        pytest.param("tide gate", "The Tide Gate shuts.", id="case"),
        pytest.param("tide gate", "the tide-gate", id="hyphen"),
        pytest.param("tide-gate", "the **tide**\ngate", id="marks-and-lines"),
        pytest.param("cafe creme", "Café, crème", id="accents"),
        pytest.param("the gate's lid", "the gate’s lid", id="apostrophes"),
        pytest.param("the gate lid", "the gate's lid", id="possessive"),
        pytest.param("don't", "dont", id="contraction"),
        pytest.param("foo bar", "foo_bar", id="identifier"),
        pytest.param("2026.4.10", "v1, 2026.4.10!", id="version"),
        pytest.param("1.5 bar", "held 1.5 bar", id="number"),
        pytest.param("C++", "in C++ and C", id="signs"),
        pytest.param("東京", "東京都の", id="within-an-unspaced-run"),
        pytest.param("ｔｉｄｅ", "tide", id="width"),
        pytest.param("gate", "gate", id="one-word"),
        pytest.param("the end of", "at the end of it", id="function-words"),
    ],
)
def test_it_stands_there(phrase: str, text: str) -> None:
    assert Phrase(phrase).stands_in(said_by(text))


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        pytest.param("tide gate", "the gate of the tide", id="order"),
        pytest.param("tide gate", "tide and gate", id="words-between"),
        pytest.param("tide gate", "the tide gates", id="another-ending"),
        pytest.param("gate", "gateway navigate", id="part-of-a-word"),
        pytest.param("C", "C++", id="signs"),
        pytest.param("京東", "東京都", id="characters-in-order"),
        pytest.param("gate", "", id="no-text"),
    ],
)
def test_it_does_not(phrase: str, text: str) -> None:
    assert not Phrase(phrase).stands_in(said_by(text))


@pytest.mark.parametrize("text", ["", " ", "?!", "__", "—"])
def test_a_text_without_words(text: str) -> None:
    assert words_said(text) == []


texts = st.text(
    st.sampled_from("abcXYZ019 éßñİŁ'’-_.+#&東京が한국ไท👍🇩🇪½ﬁ\n\u0301\u200b/:()[]|*")
    | st.characters(),
    max_size=60,
)


@given(text=texts, language=st.sampled_from(sorted(LANGUAGES)))
def test_every_word_said_is_found_by_its_token(text: str, language: str) -> None:
    tokenizer = Tokenizer(language)
    held = set(tokenizer(text))
    assert {tokenizer.of_spoken(word) for word in words_said(text)} <= held


@given(text=texts)
def test_every_stretch_of_a_text_stands_in_it(text: str) -> None:
    words = words_said(text)
    for start in range(len(words)):
        stretch = " ".join(words[start : start + 3])
        assert f" {stretch} " in said_by(text)
