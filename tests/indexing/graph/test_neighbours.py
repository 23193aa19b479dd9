"""Neighbours: direction, depth, counts and order."""

from __future__ import annotations

from typing import Any

import pytest

from notehop.indexing.graph.graph import Neighbour, build_graph, neighbours
from tests.indexing.graph.samples import links, rows

GRAPH = build_graph(
    rows(*"abcdefg"), links("ab", "ac", "ac", "aa", "cd", "bd", "de", "fa", "ca", "ea")
)


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        pytest.param("out", [("c", 2), ("b", 1)], id="out"),
        pytest.param("in", [("c", 1), ("e", 1), ("f", 1)], id="in"),
        pytest.param("both", [("c", 3), ("b", 1), ("e", 1), ("f", 1)], id="both"),
    ],
)
def test_direction(direction: Any, expected: list[tuple[str, int]]) -> None:
    found = neighbours(GRAPH, ["a"], direction)
    assert [(note.path, note.edges) for note in found] == expected
    assert all(note.depth == 1 and note.via == ("a",) for note in found)


def test_depth() -> None:
    assert neighbours(GRAPH, ["a"], depth=3) == [
        Neighbour("c", 1, 2, ("a",)),
        Neighbour("b", 1, 1, ("a",)),
        Neighbour("d", 2, 2, ("c", "b")),
        Neighbour("e", 3, 1, ("d",)),
    ]
    assert neighbours(GRAPH, ["a"], depth=99) == neighbours(GRAPH, ["a"], depth=3)


def test_seeds_are_no_neighbours_and_keep_their_order() -> None:
    found = neighbours(GRAPH, ["c", "b", "c", "a", "gone"])
    assert found == [Neighbour("d", 1, 2, ("c", "b"))]


@pytest.mark.parametrize("seeds", [[], ["gone"], ["g"]])
def test_nothing_to_find(seeds: list[str]) -> None:
    assert neighbours(GRAPH, seeds, "both", 2) == []


def test_wrong_arguments_are_answered_with_the_right_ones() -> None:
    wrong: Any = "forward"
    with pytest.raises(ValueError, match="'forward': choose one of out, in, both"):
        neighbours(GRAPH, ["a"], wrong)
    with pytest.raises(ValueError, match="depth 0"):
        neighbours(GRAPH, ["a"], depth=0)
