"""An answer that is given while it is written is the one that is checked when it is whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import MarkerFilter, check_citations, sentences_of
from tests.support.tables import rows

MARKERS, LABELS = ("[1]", "[2]"), ("C1",)

PARTS = st.sampled_from(
    [
        *("[1]", "[9]", "[C1]", "[C7]", "[1, 9]", "[1-3]", "[[1]]", "[^1]", "[9](u)", "[", "]"),
        *("`", "``", "```", "~~~", " ", "  ", "\n", "\n\n", "word", "word", ".", ","),
        *("1", "9", "C", "\\", "- ", ";", "–"),
    ]
)


def fed(pieces: list[str]) -> list[str]:
    """What comes out for each piece, and at the end."""
    filtered = MarkerFilter(MARKERS, LABELS)
    return [*(filtered.feed(piece) for piece in pieces), filtered.close()]


def checked(text: str) -> str:
    return check_citations(text.strip(), MARKERS, LABELS).text


@given(st.lists(PARTS, max_size=25), st.data())
def test_together_the_pieces_are_the_checked_text(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=12)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join(fed(pieces)) == checked(text)


@pytest.mark.parametrize(("pieces", "given"), rows(__file__, "only_what_may_change_is_held_back"))
def test_only_what_may_change_is_held_back(pieces: list[str], given: list[str]) -> None:
    assert fed(pieces) == given


def test_a_quote_is_given_by_its_sentences() -> None:
    text = "Quoted:\n\n“The wall is opened in April. It slipped once.” [1]\n— Note"
    assert [one for one in sentences_of(text) if "April" in one and "slipped" in one] == []
