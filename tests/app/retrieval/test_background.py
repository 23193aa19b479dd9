"""Words that say little: common in the vault, of templates, of lists of links."""

from __future__ import annotations

import math

import pytest
from llama_index.core.schema import NodeWithScore, TextNode

from tests.support.fake_index import FakeIndex, cosine, direction, light
from tests.support.product import (
    SKELETON,
    ConnectedNotesPostprocessor,
    LexicalIndex,
    Tokenizer,
    TracedQuery,
    asks_for_templates,
    background_of,
    coverage,
    held_back,
    idf,
    is_skeleton,
    line_keys,
    question_words,
)
from tests.support.tables import rows


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


DAILY = "# {{date}}\n\n## Tasks\n- [ ] \n\n## How was the day?\n\n## Week <% tp.date.now('ww') %>\n"

LINES = frozenset(line_keys(DAILY))


def test_a_line_goes_by_its_letters() -> None:
    assert line_keys(DAILY) == ["tasks", "how was the day", "week"]


@pytest.mark.parametrize(
    ("text", "expected"),
    rows(__file__, "skeletons"),
)
def test_skeletons(text: str, expected: bool) -> None:
    assert is_skeleton(text, "Sunday walk", LINES) is expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("meeting template", True),
        ("Vorlagen für Besprechungen", True),
        ("会议模板", True),
        ("what did we decide in the meeting?", False),
    ],
)
def test_who_asks_for_templates_gets_them(query: str, expected: bool) -> None:
    assert asks_for_templates(query) is expected


def hit(name: str, score: float, **metadata: object) -> NodeWithScore:
    return NodeWithScore(node=TextNode(id_=name, metadata=metadata), score=score)


def back(hits: list[NodeWithScore]) -> list[NodeWithScore]:
    """With the hit "a" held back."""
    return list(held_back([(one, SKELETON if one.node_id == "a" else None) for one in hits], 0.5))


def test_hits_held_back_keep_a_share_of_their_score() -> None:
    hits = [hit("a", 0.9), hit("b", 0.6), hit("c", 0.3)]
    found = back(hits)
    assert [(one.node.node_id, one.score) for one in found] == [("b", 0.6), ("a", 0.45), ("c", 0.3)]
    assert found[1].node.metadata["held_back"] == SKELETON
    assert hits[0].score == 0.9
    assert "held_back" not in hits[0].node.metadata


def test_a_note_named_exactly_keeps_its_place() -> None:
    named = hit("a", 0.9, signals={"title": {"rank": 1}})
    assert back([named, hit("b", 0.6)])[0] is named


def manual(*others: str) -> FakeIndex:
    """A how-to that links to two notes, and other how-tos that link to the first of them, too."""
    index = FakeIndex().add("Themes.md", 0).add("Settings.md", 50).add("Fonts.md", 55)
    index.add("Passage.md", 45, 45)
    for number, sentence in enumerate(others):
        index.add(f"Howto {number}.md", 90)
        index.link(f"Howto {number}.md", "Settings.md", 20, sentence=sentence)
    index.link("Themes.md", "Settings.md", 20, sentence="Open **Settings**.")
    return index.link("Themes.md", "Fonts.md", 25, sentence="A theme may bring Fonts of its own.")


ALIKE = ("Open **Settings**.", "Then open Settings.", "open Settings", "Open Settings!")


@pytest.mark.parametrize(
    ("others", "most", "expected"),
    [
        ((), 1, ["Settings.md:0"]),
        (ALIKE, 1, ["Fonts.md:0"]),
        ((), 2, ["Settings.md:0", "Fonts.md:0"]),
        # Such a sentence alone is no evidence: the passage that would lose its place is likelier.
        (ALIKE, 2, ["Fonts.md:0"]),
    ],
)
def test_what_many_notes_say_alike_counts_less(
    others: tuple[str, ...], most: int, expected: list[str]
) -> None:
    stage = ConnectedNotesPostprocessor(
        view=manual(*others), top_k=1, context_chunks=1 + most, max_connected=most
    )
    asked = TracedQuery("themes", embedding=direction(0))
    found = stage.postprocess_nodes(light("Themes.md:0", "Passage.md:0", "Passage.md:1"), asked)
    shown = [hit.node.node_id for hit in found if hit.node.metadata["role"] == "connected"]
    assert shown == expected
