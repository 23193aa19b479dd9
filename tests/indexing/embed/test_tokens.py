"""Tokens are counted as the model counts them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.config.errors import ModelError
from notehop.indexing.embed.bundled import bundled_folder
from notehop.indexing.embed.tokens import TokenOffsets

FILE = bundled_folder() / "tokenizer.json"
TOKENS = TokenOffsets.from_file(FILE)


def test_offsets_are_characters_of_the_text() -> None:
    text = "Ünïcode über alles, “quoted” 😀 東京"
    words = [text[start:end] for start, end in TOKENS(text)]
    assert words[:4] == ["Ünïcode", "über", "all", "es"]
    assert words[-2:] == ["東", "京"]


def test_long_texts_are_neither_cut_nor_padded() -> None:
    assert len(TOKENS("word " * 1_000)) == 1_000
    assert TOKENS("") == []


def test_special_tokens_and_prompt_count() -> None:
    assert TOKENS.overhead == TOKENS.specials == 2
    assert TOKENS.count("hello world") == 4
    prompted = TokenOffsets.from_file(FILE, "passage: ")
    assert prompted.count("hello world") == 6
    assert prompted.overhead == 2 + 2 + 1  # one for the seam


@pytest.mark.parametrize(
    ("window", "limit", "room"),
    [
        pytest.param(256, 0, 254, id="the-window"),
        pytest.param(256, 100, 100, id="the-limit"),
        pytest.param(256, 1_000, 254, id="limit-above-the-window"),
        pytest.param(256, 1, 16, id="a-limit-too-small-to-say-anything"),
    ],
)
def test_room(window: int, limit: int, room: int) -> None:
    assert TOKENS.room(window, limit) == room


def test_a_prompt_that_fills_the_window_is_an_error() -> None:
    prompted = TokenOffsets.from_file(FILE, "please " * 60)
    with pytest.raises(ModelError, match="passage_prompt"):
        prompted.room(64)


@given(
    st.lists(
        st.sampled_from(
            [*"abcdefgh xyz\n\t .,-_'0123456789ÄöüßéñÇ東京はन가😀​", "embedding", "ing"]
        ),
        max_size=200,
    ).map("".join)
)
def test_size_is_the_number_of_offsets(text: str) -> None:
    assert TOKENS.size(text) == len(TOKENS(text))


def test_size_knows_a_long_word() -> None:
    assert TOKENS.size("x" * 90) == len(TOKENS("x" * 90))


@pytest.mark.parametrize("content", [None, "{}", "no json"], ids=["missing", "other", "damaged"])
def test_a_file_that_is_no_tokenizer(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "tokenizer.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ModelError, match="tokenizer"):
        TokenOffsets.from_file(file)
