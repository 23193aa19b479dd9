"""Claims of an answer, and the markers that they carry, whole and while it is written."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop import open_vault
from tests.app.answer.samples import source
from tests.support import product
from tests.support.tables import rows


def read(text: str, mode: product.Mode = "llm") -> list[list[object]]:
    found = product.split_answer(
        product.Draft(text, mode), product.sentence_spans, ("[1]", "[2]", "[3]"), ("C1",)
    )
    return [[one.claim.text, one.states, one.claim.markers, one.claim.mentioned] for one in found]


@pytest.mark.parametrize(("text", "found"), rows(__file__, "what_a_sentence_is"))
def test_what_a_sentence_is(text: str, found: list[list[object]]) -> None:
    assert read(text) == found


def test_an_answer_that_quotes_is_its_quotes_with_their_places() -> None:
    one = product.Quote(source(1, "A b. C d.", title="Plan"), "A b. C d.", ((0, 9),))
    two = product.Quote(source(2, "- e\n- f", title="List"), "- e\n- f", ((0, 3), (4, 7)))
    draft = product.draft_quotes(product.QuoteResult([one, two], likelihood=1.0))
    assert draft.text == ("Quoted from the notes:\n\n“A b. C d.” [1]\n— Plan\n\n> - e\n> - f\n\n[2]\n— List")
    found = product.split_answer(draft, product.sentence_spans, ("[1]", "[2]"), ())
    assert [(one.claim.text, one.states, one.quoted_span is not None) for one in found] == [
        ("Quoted from the notes:", False, False),
        ("“A b. C d.” [1]", True, True),
        ("— Plan", False, False),
        ("> - e\n> - f\n\n[2]", True, True),
        ("— List", False, False),
    ]


@pytest.mark.parametrize("text", ["The vault does not say [1].", "Sources: [1], [2]", "[1][2]"])
def test_markers_alone_make_no_statement(text: str) -> None:
    found = product.split_answer(product.Draft(text, "llm"), product.sentence_spans, ("[1]", "[2]"), ())
    assert [one.states for one in found] == [False] * len(found)


WORDS = st.sampled_from(
    ["One is [1].", "Two.", "- three [9]", "\n", "\n\n", "```", "# H", "[C1]", "| a |", " ", "— N"]
)


@given(st.lists(WORDS, max_size=20).map("".join))
def test_sentences_cover_an_answer_in_order(text: str) -> None:
    at = 0
    for one in product.split_answer(product.Draft(text, "llm"), product.sentence_spans, ("[1]",), ("C1",)):
        start, end = one.claim.span
        assert not text[at:start].strip()
        assert text[start:end] == one.claim.text
        at = end
    assert not text[at:].strip()


MARKERS = ["[1]", "[2]", "[3]"]

LABELS = ["C1", "C2"]


@pytest.mark.parametrize(("text", "checked", "cited", "mentioned", "unknown"), rows(__file__, "check"))
def test_check(
    text: str, checked: str, cited: list[str], mentioned: list[str], unknown: dict[str, int]
) -> None:
    result = product.MarkerFilter(MARKERS, LABELS)
    assert result.feed(text) + result.close() == checked
    assert list(result.cited) == cited
    assert list(result.mentioned) == mentioned
    assert result.unknown == unknown


@given(st.text(alphabet="ab[]19C,- .`\n"))
def test_a_second_check_finds_nothing_more(text: str) -> None:
    once, twice = product.MarkerFilter(MARKERS, LABELS), product.MarkerFilter(MARKERS, LABELS)
    checked = once.feed(text) + once.close()
    assert set(once.cited) <= set(MARKERS)
    assert set(once.mentioned) <= set(LABELS)
    assert twice.feed(checked) + twice.close() == checked
    assert twice.unknown == {}


PARTS = st.sampled_from(
    [
        *("[1]", "[9]", "[C1]", "[C7]", "[1, 9]", "[1-3]", "[[1]]", "[^1]", "[9](u)", "[", "]"),
        *("`", "``", "```", "~~~", " ", "  ", "\n", "\n\n", "word", "word", ".", ","),
        *("1", "9", "C", "\\", "- ", ";", "–"),
    ]
)


def fed(pieces: list[str]) -> list[str]:
    """What comes out for each piece, and at the end."""
    filtered = product.MarkerFilter(MARKERS[:2], LABELS[:1])
    return [*(filtered.feed(piece) for piece in pieces), filtered.close()]


@given(st.lists(PARTS, max_size=25), st.data())
def test_together_the_pieces_are_the_checked_text(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=12)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join(fed(pieces)) == "".join(fed([text]))


@pytest.mark.parametrize(("pieces", "given"), rows(__file__, "only_what_may_change_is_held_back"))
def test_only_what_may_change_is_held_back(pieces: list[str], given: list[str]) -> None:
    assert fed(pieces) == given


def test_a_quote_is_given_by_its_sentences() -> None:
    text = "Quoted:\n\n“The wall is opened in April. It slipped once.” [1]\n— Note"
    assert [one for one in product.split_sentences(text) if "April" in one and "slipped" in one] == []


def test_where_the_embedding_model_fails_words_alone_are_compared(demo: tuple[Path, Path]) -> None:
    def fails(_query: str, _texts: Sequence[str]) -> Any:
        raise ConnectionError("the model is away")

    known = source(1, "The sluice was built in 1931 by the county.", title="Sluice")
    draft = product.Draft("The sluice was built in 1847 by the county [1].", "llm", ("[1]",))
    with open_vault(demo[0], index_dir=demo[1]) as opened:
        analyzer = replace(opened._engine.synthesizer._analyzer, vectors=fails)
        checked = product.Checker(analyzer, "Demo").check(draft, product.Material((known,), ()))
    assert [(one.flag, one.lacks) for one in checked.claims] == [("unsupported", ["1847"])]
    assert checked.warnings == ("citations were compared with the notes by words alone: the model is away",)
