"""Passes through the model: like lengths together, within bounds, each text once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.indexing.embed.passes import even_width, passes, thread_shares


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        pytest.param([], [], id="none"),
        pytest.param([3, 9, 3, 5], [[1], [3, 0], [2]], id="longest first, ties in order"),
        pytest.param([4, 4, 4], [[0, 1], [2]], id="no more texts than said"),
        pytest.param([40, 2], [[0], [1]], id="a text beyond the bound is alone"),
        pytest.param([0, 0], [[0, 1]], id="texts of nothing"),
    ],
)
def test_plans(sizes: list[int], found: list[list[int]]) -> None:
    assert passes(sizes, 2, 10) == found


@given(
    st.lists(st.integers(0, 300), max_size=60),
    st.integers(1, 8),
    st.integers(1, 1_000),
)
def test_every_text_is_in_one_pass_that_fits(
    sizes: list[int], most_texts: int, most_tokens: int
) -> None:
    plan = passes(sizes, most_texts, most_tokens)
    assert sorted(i for which in plan for i in which) == list(range(len(sizes)))
    for which in plan:
        assert len(which) <= most_texts
        assert (
            len(which) == 1 or len(which) * even_width(max(sizes[i] for i in which)) <= most_tokens
        )
    widths = [sizes[which[0]] for which in plan]
    assert widths == sorted(widths, reverse=True)


def test_widths_are_few_and_little_wider() -> None:
    widths = [even_width(size) for size in range(513)]
    assert all(size <= width <= size * 17 / 16 for size, width in enumerate(widths))
    assert len(set(widths)) == 33 + 4 * 16


@pytest.mark.parametrize("threads", range(1, 33))
def test_no_core_is_left_idle(threads: int) -> None:
    shares = thread_shares(threads, 4)
    assert sum(shares) == threads
    assert len(shares) == min(threads, 4)
    assert max(shares) - min(shares) <= 1
