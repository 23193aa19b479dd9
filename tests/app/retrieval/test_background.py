"""What tells a match from chance: the words of a question in the vault, the likeness of its notes."""

from __future__ import annotations

import math

import pytest

from tests.support.fake_index import FakeIndex, cosine
from tests.support.product import (
    LexicalIndex,
    Tokenizer,
    background_of,
    coverage,
    idf,
    question_words,
)


def words_of(*texts: str, language: str = "en") -> LexicalIndex:
    tokenizer = Tokenizer(language)
    return LexicalIndex.build(
        (str(at), {"content": tuple(tokenizer(text))}) for at, text in enumerate(texts)
    )


@pytest.mark.parametrize(
    ("language", "question", "missing"),
    [
        ("en", "How do I insret a template?", ["insret"]),
        ("en", "Where do the templates stand", ["stand"]),
        ("en", "the template: a template?", []),
        ("en", "what is it", []),
        # Small words of another language say nothing either.
        ("en", "Wie ist die Vorlage und was sind die Schablonen?", ["Vorlage", "Schablonen"]),
        ("zh", "模板猫", ["板猫", "猫"]),
    ],
)
def test_what_stands_nowhere_is_named_as_it_was_written(
    language: str, question: str, missing: list[str]
) -> None:
    texts = ("插入模板" if language == "zh" else "A template is inserted.", "Notes")
    found = question_words(question, Tokenizer(language), words_of(*texts, language=language))
    assert [word.written for word in found if word.missing] == missing


def test_a_word_that_the_vault_has_in_compounds_does_not_stand_nowhere() -> None:
    vocabulary = words_of("Roggenmehl und Wasser", language="de")
    (word,) = question_words("Welches Mehl?", Tokenizer("de"), vocabulary)
    assert (word.written, word.missing) == ("Mehl", False)


def test_the_share_of_a_question_goes_by_rarity() -> None:
    vocabulary = words_of("gate", "gate sluice", "gate", "gate")
    words = question_words("gate, sluice, unknown", Tokenizer(), vocabulary)
    weights = [idf(4, 4), idf(1, 4), idf(0, 4)]
    assert [word.idf for word in words] == pytest.approx(weights)
    assert coverage(words, {"gate": 1, "other": 1}) == pytest.approx(
        weights[0] / math.fsum(weights)
    )
    assert coverage(words, {}) == 0.0
    assert coverage((), {"gate": 1}) == 0.0


def test_the_background_is_the_likeness_of_passages_of_different_notes() -> None:
    index = FakeIndex().add("A.md", 0, 1)
    angles = [(0, 0), (0, 1), *((note, 10 * note + 5) for note in range(1, 8))]
    for note, angle in angles[2:]:
        index.add(f"{note}.md", angle)
    background = background_of(index)
    alike = sorted(cosine(far - near) for a, near in angles for b, far in angles if a < b)
    assert background.likeness.tolist() == pytest.approx(alike, abs=1e-6)
    assert background.quantile(1.0) == pytest.approx(max(alike), abs=1e-6)
    assert background_of(index) is background
