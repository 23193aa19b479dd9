"""A picture of the graph holds the nearest and best notes, and is the same each time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.notes import built
from tests.support.product import VaultHandle, laid_out, open_place

NOTES = {
    "A.md": "To [[B]] and [[B]] and [[C]] and [[A]] and [[Secret]].",
    "B.md": "To [[D]].",
    "C.md": "To [[A]].",
    "D.md": "To nothing.",
    "sub/E.md": "Alone.",
    "Secret.md": "---\nprivate: true\n---\nTo [[A]].",
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultHandle]:
    with open_place(built(tmp_path_factory.mktemp("drawn"), NOTES)) as vault:
        yield vault


def test_around_a_note(opened: VaultHandle) -> None:
    view = opened.picture(["a"])
    assert [one.path for one in view.nodes if one.seed] == ["A.md"]
    assert [(one.source, one.target, one.count) for one in view.edges] == [
        ("A.md", "B.md", 2),
        ("A.md", "C.md", 1),
        ("C.md", "A.md", 1),
    ]
    degrees = {one.path: one.degree for one in view.nodes}
    assert degrees == {"A.md": 4, "B.md": 3, "C.md": 2}
    assert (view.total, view.warnings) == (3, [])
    assert all(-1 <= at <= 1 for one in view.nodes for at in (one.x, one.y))


def test_the_best_of_all(opened: VaultHandle) -> None:
    view = opened.picture(most=2)
    assert len(view.nodes) == 2
    assert view.total == 5
    ranks = [one.pagerank for one in view.nodes]
    assert ranks == sorted(ranks, reverse=True)
    assert len(opened.picture().nodes) == 5


def test_linked_notes_lie_near_each_other() -> None:
    paths = [f"{cluster}{n}" for cluster in "ab" for n in range(6)]
    edges = {(f"{c}{n}", f"{c}{m}"): 1 for c in "ab" for n in range(6) for m in range(n)}
    places = laid_out(paths, {**edges, ("a0", "b0"): 1})

    def far(one: str, other: str) -> float:
        (x, y), (u, v) = places[one], places[other]
        return float(((x - u) ** 2 + (y - v) ** 2) ** 0.5)

    within = [far(f"{c}{n}", f"{c}{m}") for c in "ab" for n in range(6) for m in range(n)]
    between = [far(f"a{n}", f"b{m}") for n in range(6) for m in range(6)]
    assert 2 * sum(within) / len(within) < sum(between) / len(between)
