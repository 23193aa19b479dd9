"""PageRank: against networkx where the two mean the same, and where they do not, what we mean."""

from __future__ import annotations

from math import log1p

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import graph_pagerank as pagerank

PATHS = "abcde"
pairs = st.lists(st.tuples(st.sampled_from(PATHS), st.sampled_from(PATHS)), max_size=20)


@given(pairs)
def test_agrees_with_networkx(links: list[tuple[str, str]]) -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from(PATHS)
    for source, target in links:
        if source != target:
            graph.add_edge(source, target, weight=log1p(links.count((source, target))))
    ours = pagerank(PATHS, links)
    assert ours == pytest.approx(nx.pagerank(graph, tol=1e-12, max_iter=500), abs=1e-8)
    assert sum(ours.values()) == pytest.approx(1)


@given(pairs, st.randoms(use_true_random=False))
def test_same_to_the_last_bit_in_any_order(links: list[tuple[str, str]], random: object) -> None:
    one = pagerank(PATHS, links)
    random.shuffle(links)  # type: ignore[attr-defined]
    assert list(pagerank(PATHS[::-1], links).items()) == list(one.items())


def test_a_loop_and_what_is_no_note_change_nothing() -> None:
    without = pagerank("ab", [("a", "b")])
    assert pagerank("ab", [*["aa"] * 2, "ab", "az", "za"]) == without


def test_forty_links_are_worth_more_than_one_and_less_than_forty() -> None:
    score = pagerank("abc", ["ac", *["ab"] * 40])
    assert 1 < score["b"] / score["c"] < 5


def test_without_notes_there_is_nothing_to_rank() -> None:
    assert pagerank("", []) == {}
