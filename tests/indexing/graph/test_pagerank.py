"""PageRank: against networkx where the two mean the same, and where they do not, what we mean."""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import build_graph
from tests.support.product import graph_pagerank as pagerank


@dataclass(frozen=True, slots=True)
class Row:
    path: str
    title: str = ""
    tags: tuple[str, ...] = ()
    page_type: str | None = None
    modified: float = 0.0


@dataclass(frozen=True, slots=True)
class LinkRow:
    path: str
    target_path: str | None
    ordinal: int
    line: int = 1
    status: str = "resolved"
    kind: str = "link"
    via: str | None = "path"
    fragment: str | None = None
    chunk_id: str | None = None
    target_chunk_id: str | None = None
    sentence: str = ""


def rows(*paths: str) -> list[Row]:
    return [Row(path) for path in paths]


def links(*pairs: str) -> list[LinkRow]:
    """``links("ab", "ac")``: note a links to b, then to c."""
    return [LinkRow(source, target, at) for at, (source, target) in enumerate(pairs)]


PATHS = "abcde"
pairs = st.lists(st.text(PATHS, min_size=2, max_size=2), max_size=20)


def simple(drawn: list[str]) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(PATHS)
    for source, target in drawn:
        if source != target:
            graph.add_edge(source, target, weight=log1p(drawn.count(source + target)))
    return graph


@given(pairs)
def test_agrees_with_networkx(drawn: list[str]) -> None:
    ours = pagerank(build_graph(rows(*PATHS), links(*drawn)))
    assert ours == pytest.approx(nx.pagerank(simple(drawn), tol=1e-12, max_iter=500), abs=1e-8)
    assert sum(ours.values()) == pytest.approx(1)


@given(pairs, st.dictionaries(st.sampled_from(PATHS), st.floats(0.1, 9), min_size=1))
def test_agrees_with_networkx_personalized(drawn: list[str], weights: dict[str, float]) -> None:
    ours = pagerank(build_graph(rows(*PATHS), links(*drawn)), personalization=weights)
    theirs = nx.pagerank(simple(drawn), personalization=weights, tol=1e-12, max_iter=500)
    assert ours == pytest.approx(theirs, abs=1e-8)


@given(pairs, st.randoms(use_true_random=False))
def test_same_to_the_last_bit_in_any_order(drawn: list[str], random: object) -> None:
    made = links(*drawn)
    one = pagerank(build_graph(rows(*PATHS), made))
    random.shuffle(made)  # type: ignore[attr-defined]
    other = pagerank(build_graph(rows(*reversed(PATHS)), made))
    assert list(one.items()) == list(other.items())


def test_a_loop_changes_nothing() -> None:
    without = pagerank(build_graph(rows("a", "b"), links("ab")))
    assert pagerank(build_graph(rows("a", "b"), links("aa", "aa", "ab"))) == without


def test_forty_links_are_worth_more_than_one_and_less_than_forty() -> None:
    score = pagerank(build_graph(rows("a", "b", "c"), links("ac", *["ab"] * 40)))
    assert 1 < score["b"] / score["c"] < 5


def test_all_jumps_go_to_the_chosen() -> None:
    score = pagerank(
        build_graph(rows("a", "b", "c"), links("ab")), personalization={"a": 2, "z": 1}
    )
    assert score["c"] == 0
    assert score["a"] > score["b"] > 0


@pytest.mark.parametrize("weights", [{}, {"z": 1.0}, {"a": 0.0}, {"a": -1.0, "b": 3.0}])
def test_personalization_without_weight(weights: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="personalization"):
        pagerank(build_graph(rows("a", "b"), []), personalization=weights)


@pytest.mark.parametrize("damping", [-0.1, 1.0])
def test_damping_out_of_range(damping: float) -> None:
    with pytest.raises(ValueError, match="damping"):
        pagerank(build_graph(rows("a"), []), damping=damping)
