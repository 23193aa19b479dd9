"""Communities are the same each time, stay as they are where they can, and are connected."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import (
    EdgeWeights,
    connected_parts,
    edge_weights,
    grouped,
    louvain,
    match_communities,
    modularity,
    move_notes,
    singleton,
)

TWO = {
    (f"{team}{n}", f"{team}{m}"): 1 for team in "ab" for n in range(4) for m in range(4) if n != m
}
"""Two teams of four notes, each of which links to all others of its team."""

graphs = st.dictionaries(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] != pair[1]),
    st.integers(1, 3),
    max_size=30,
).map(lambda counts: {(f"n{s}", f"n{t}"): count for (s, t), count in counts.items()})


def bonds(counts: dict[tuple[str, str], int], *more: str) -> EdgeWeights:
    return edge_weights({path for pair in counts for path in pair} | set(more), counts)


def team(letter: str) -> frozenset[str]:
    return frozenset(f"{letter}{n}" for n in range(4))


def test_teams_are_communities_and_who_has_no_links_is_in_none() -> None:
    found = louvain(bonds({**TWO, ("a0", "b0"): 1}, "lonely"))
    assert found == [team("a"), team("b")]
    assert louvain(bonds({}, "lonely")) == []
    assert louvain({}) == []


def test_they_are_the_same_in_every_process() -> None:
    program = (
        "from tests.support.product import edge_weights, louvain\n"
        "counts = {(f'n{n}', f'n{(n * 7 + m) % 60}'): 1 + m for n in range(60) for m in range(3)"
        " if (n * 7 + m) % 60 != n}\n"
        "print([sorted(one) for one in louvain(edge_weights([f'n{n}' for n in range(60)], counts))])\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert "n0" in said.pop()


@given(graphs)
def test_every_linked_note_is_in_one_that_is_connected(counts: dict[tuple[str, str], int]) -> None:
    graph = bonds(counts, "lonely")
    groups = louvain(graph)
    assert sorted(p for group in groups for p in group) == sorted(
        p for p, near in graph.items() if near
    )
    assert connected_parts(graph, groups) == groups


@given(graphs, st.sampled_from([0.5, 1.0, 2.0]))
def test_a_note_goes_where_modularity_gains_most(
    counts: dict[tuple[str, str], int], resolution: float
) -> None:
    """What a move is expected to bring is worked out from the definition, for every community."""
    graph = bonds(counts)
    linked = [path for path, near in graph.items() if near]
    if not linked:
        return
    home = {path: str(at % 3) for at, path in enumerate(linked)}
    mover = linked[0]
    choices = sorted({home[other] for other in graph[mover]} | {home[mover], singleton(mover)})
    worth = {
        name: modularity(graph, grouped({**home, mover: name}), resolution) for name in choices
    }
    settled = move_notes(graph, home, [mover], resolution)
    assert worth[settled[mover]] == pytest.approx(max(worth.values()))
    assert {p: name for p, name in settled.items() if p != mover} == {
        p: name for p, name in home.items() if p != mover
    }


def test_names_go_to_those_that_hold_most_of_the_same_notes() -> None:
    before = {"one": "abcdef", "two": "ghij", "three": "xyz"}
    groups = [frozenset("abcd"), frozenset("ghijef"), frozenset("pqr"), frozenset("x")]
    # Of "x", two of three notes are gone: a third in common is enough to go by the name.
    assert match_communities(groups, before) == {0: "one", 1: "two", 3: "three"}
