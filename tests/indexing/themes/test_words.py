"""The words of a theme are those that tell it from the rest, as its notes write them."""

from __future__ import annotations

from notehop.indexing.themes.words import as_written, content_tokens, small_words, telling_tokens
from notehop.indexing.tokens import Tokenizer

ENGLISH = Tokenizer("en")


def telling(passages: dict[str, list[list[str]]], frequency: dict[str, int]) -> list[str]:
    return telling_tokens(passages, lambda token: frequency.get(token, 0), 100)


def test_rare_elsewhere_goes_before_frequent_everywhere() -> None:
    passages = {"a": [["mud", "note", "rare"]], "b": [["mud", "note"]]}
    assert telling(passages, {"mud": 4, "note": 90, "rare": 1}) == ["mud", "note"]


def test_what_one_note_alone_says_is_no_theme() -> None:
    passages = {"a": [["eel"], ["eel"], ["eel"]], "b": [["mud"]], "c": [["mud"]]}
    assert telling(passages, {"eel": 3, "mud": 2}) == ["mud"]
    # But of a single note there is nothing else.
    assert telling({"a": [["eel"]]}, {"eel": 1}) == ["eel"]


def test_numbers_and_abbreviations_say_nothing() -> None:
    words = ["2026", "kg", "c++", "foo_bar", "h2o", "marsh", "沼泽"]
    assert telling({"a": [words], "b": [words]}, {}) == ["marsh", "沼泽"]


def test_ties_are_by_the_word() -> None:
    assert telling({"a": [["eel", "bass"]], "b": [["bass", "eel"]]}, {}) == ["bass", "eel"]


def test_a_passage_says_what_stands_in_it_not_in_its_title() -> None:
    assert content_tokens(
        {"title": ("t",), "tags": ("g",), "h2": ("h",), "content": ("c", "c")}
    ) == {
        "h",
        "c",
    }


def test_words_are_shown_as_they_are_written_most() -> None:
    texts = ["Oysters, oysters, more oysters, an oyster. Husum in May; husum, Husum. The IT room."]
    stems = [ENGLISH("oysters")[0], ENGLISH("Husum")[0], "nowhere"]
    assert as_written(stems, texts, ENGLISH) == ["oysters", "Husum"]


def test_words_without_spaces_are_pairs() -> None:
    assert as_written(["沼泽"], ["这片沼泽很大"], Tokenizer("zh")) == ["沼泽"]


def test_small_words_say_nothing() -> None:
    assert {"the", "about"} <= small_words(ENGLISH)
    assert {"und", "the"} <= small_words(Tokenizer("de"))
