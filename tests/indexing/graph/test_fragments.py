"""Fragments: headings in order, sections, blocks."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import FragmentSpan, Outline, find_fragment

OUTLINE = Outline(
    headings=(
        (1, "Trip", 1),
        (2, "Plan", 3),
        (3, "Costs (2024)", 5),
        (2, "Notes", 9),
        (1, "Other", 12),
        (2, "Plan", 14),
        (3, "Costs", 16),
        (2, "See [[Budget|the money]]", 18),
        (2, "Read [the *guide*](a%20guide.md)", 20),
        (2, "C++ / C#", 22),
        (2, "???", 24),
        (2, "Überblick", 26),
        (2, "Snake_case and kebab-case", 28),
        (2, "`code` and **bold**", 30),
    ),
    blocks=(("abc-1", 4, 4), ("ABC-1", 7, 7), ("list", 10, 11)),
    line_count=31,
)


@pytest.mark.parametrize(
    ("fragment", "lines"),
    [
        pytest.param("Trip", (1, 11), id="to-the-next-of-the-same-rank"),
        pytest.param("Plan", (3, 8), id="first-of-two-deeper-ones-inside"),
        pytest.param("Costs 2024", (5, 8), id="to-the-next-of-a-higher-rank"),
        pytest.param("Other", (12, 31), id="to-the-end"),
        pytest.param("Other#Plan", (14, 17), id="second-by-its-parent"),
        pytest.param("Other#Costs", (16, 17), id="a-rank-left-out"),
        pytest.param("Other#Plan#Costs", (16, 17), id="three-parts"),
        pytest.param("Trip#Costs", (16, 17), id="in-order-not-necessarily-below"),
        pytest.param("PLAN", (3, 8), id="case"),
        pytest.param("  plan ", (3, 8), id="spaces-around"),
        pytest.param("costs, 2024!", (5, 8), id="punctuation"),
        pytest.param("See Budget the money", (18, 19), id="link-as-the-app-writes-it"),
        pytest.param("See the money", (18, 19), id="link-as-it-is-read"),
        pytest.param("Read the guide", (20, 21), id="markdown-link-as-it-is-read"),
        pytest.param("C++ / C", (22, 23), id="symbols"),
        pytest.param("???", (24, 25), id="nothing-but-punctuation"),
        pytest.param("U\u0308BERBLICK", (26, 27), id="normal-form"),
        pytest.param("snake case and kebab case", (28, 29), id="hyphen-and-underscore"),
        pytest.param("snake_case-and-kebab-case", (28, 29), id="anchor-of-a-web-page"),
        pytest.param("code and bold", (30, 31), id="markup"),
        pytest.param("Plan#", (3, 8), id="empty-part-at-the-end"),
        pytest.param("##Plan", (3, 8), id="empty-parts-before"),
        pytest.param("^abc-1", (4, 4), id="block-first-of-two"),
        pytest.param("^LIST", (10, 11), id="block-case"),
        pytest.param("Notes#^list", (10, 11), id="block-after-a-heading"),
    ],
)
def test_found(fragment: str, lines: tuple[int, int]) -> None:
    assert find_fragment(OUTLINE, fragment) == FragmentSpan(*lines)


@pytest.mark.parametrize(
    "fragment",
    [
        pytest.param("Missing", id="no-such-heading"),
        pytest.param("Pla", id="part-of-a-heading"),
        pytest.param("Plan#Trip", id="not-deeper"),
        pytest.param("Plan#Notes", id="same-rank"),
        pytest.param("Costs#Plan", id="wrong-order-of-ranks"),
        pytest.param("Other#Trip", id="wrong-order"),
        pytest.param("^nope", id="no-such-block"),
        pytest.param("^", id="empty-block"),
        pytest.param("", id="empty"),
        pytest.param("# #", id="blank-parts"),
        pytest.param("!!", id="other-punctuation"),
    ],
)
def test_not_found(fragment: str) -> None:
    assert find_fragment(OUTLINE, fragment) is None


def test_an_empty_note_has_no_place() -> None:
    assert find_fragment(Outline((), (), 1), "Plan") is None


@pytest.mark.parametrize("level", [2, 3])
def test_a_first_heading_that_leads_nowhere_does_not_hide_the_second(level: int) -> None:
    outline = Outline(((level, "A", 1), (2, "B", 2), (1, "A", 3), (2, "B", 4)), (), 5)
    assert find_fragment(outline, "A#B") == FragmentSpan(4, 5)


headings = st.lists(st.tuples(st.integers(1, 4), st.sampled_from("ABC")), max_size=8)


@given(headings, st.lists(st.sampled_from("ABC"), min_size=1, max_size=4))
def test_takes_the_first_chain_that_fits(drawn: list[tuple[int, str]], parts: list[str]) -> None:
    """Against every chain there is, tried in order."""
    outline = Outline(
        tuple((level, text, line) for line, (level, text) in enumerate(drawn, 1)), (), len(drawn)
    )
    chains = (
        chain
        for chain in combinations(outline.headings, len(parts))
        if [text for _, text, _ in chain] == parts
        and all(one[0] < two[0] for one, two in pairwise(chain))
    )
    first = next(chains, None)
    span = find_fragment(outline, "#".join(parts))
    if first is None:
        assert span is None
    else:
        assert span is not None
        assert span.first_line == first[-1][2]
        below = outline.headings[span.first_line : span.last_line]
        assert all(level > first[-1][0] for level, _, _ in below)
        after = outline.headings[span.last_line :]
        assert not after or after[0][0] <= first[-1][0]


def test_a_long_outline_and_a_long_fragment_end_quickly() -> None:
    outline = Outline(tuple((1, "A", line) for line in range(1, 20_001)), (), 20_000)
    assert find_fragment(outline, "#".join(["A"] * 5)) is None
