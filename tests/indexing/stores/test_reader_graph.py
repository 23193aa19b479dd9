"""What follows from links: it keeps up with the catalog, and no query waits for PageRank."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from notehop.indexing.graph.graph import build_graph, pagerank
from notehop.indexing.graph.link_table import LinkTable
from notehop.indexing.stores.model import NoteRecord, NoteRow, NoteStatus
from notehop.indexing.stores.reader import Reader, Snapshot
from tests.indexing.stores.index_samples import SampleIndex, record

PLAN = record("Plan.md", "alpha", to=["Team", "Budget", "New"])
TEAM = record("Team.md", "delta", to=["Plan"])
BUDGET = record("Budget.md", "euros")


@pytest.fixture
def filled(index: SampleIndex) -> SampleIndex:
    index.write(PLAN, TEAM, BUDGET)
    return index


def edges(graph: Any) -> list[tuple[Any, ...]]:
    return sorted(
        (u, v, key, sorted(map(str, data.items())))
        for u, v, key, data in graph.edges(keys=True, data=True)
    )


def anew(snapshot: Snapshot) -> Any:
    return build_graph(snapshot.notes(), snapshot._view.links())


NO_TEXT = NoteRecord(NoteRow("New.md", "New", NoteStatus.INDEXED))
MOVED = replace(PLAN.links[1], target_path="Team.md")
LOST = replace(TEAM.links[0], target_path=None, status="unresolved", via=None)

CHANGES: list[dict[str, Any]] = [
    # Nothing of the link to it changes in the catalog: the note has no chunk that it could name.
    {"upsert": [NO_TEXT]},
    {"relink": [MOVED]},
    {"upsert": [record("Budget.md", "euros", to=["Plan", "Plan"])]},
    {"delete": ["Plan.md"], "relink": [LOST]},
    {"upsert": [NoteRecord(NoteRow("New.md", "New", NoteStatus.SKIPPED, reason="private"))]},
    {"upsert": [PLAN]},
]


@pytest.mark.parametrize("every", [1, 2, len(CHANGES)])
def test_graph_and_pagerank_follow_every_change(filled: SampleIndex, every: int) -> None:
    """Also where several generations lie between two that were asked for."""
    with Reader.open(filled.layout) as reader:
        assert edges(reader.graph) == edges(anew(reader.snapshot()))
        assert reader.pagerank == pagerank(reader.graph)
        for number, change in enumerate(CHANGES, start=1):
            rest = {key: value for key, value in change.items() if key != "upsert"}
            filled.write(*change.get("upsert", ()), **rest)
            if number % every == 0:
                with reader.snapshot() as snapshot:
                    fresh = anew(snapshot)
                    assert edges(snapshot.graph) == edges(fresh)
                    assert dict(snapshot.graph.nodes(data=True)) == dict(fresh.nodes(data=True))
                    assert snapshot.exact_pagerank == pagerank(fresh)


def test_a_graph_stays_that_of_its_generation(filled: SampleIndex) -> None:
    with Reader.open(filled.layout) as reader, reader.snapshot() as old:
        before = edges(old.graph)
        kept = old.graph
        filled.write(record("Team.md", "delta", to=["Budget"]), delete=["Plan.md"])
        assert edges(reader.graph) != before
        assert edges(old.graph) == edges(kept) == before


@pytest.fixture
def held_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """PageRank takes until the event is set."""
    let = threading.Event()
    let.set()
    ranks = LinkTable.ranks

    def slow(self: LinkTable) -> dict[str, float]:
        assert let.wait(30)
        return ranks(self)

    monkeypatch.setattr(LinkTable, "ranks", slow)
    yield let
    let.set()


def test_queries_take_the_last_pagerank_until_the_new_one_is_there(
    filled: SampleIndex, held_up: threading.Event
) -> None:
    with Reader.open(filled.layout) as reader:
        with reader.snapshot() as snapshot:
            first = snapshot.pagerank
        held_up.clear()
        filled.write(record("Late.md", "late", to=["Budget"]))
        for _ in range(3):
            with reader.snapshot() as snapshot:
                assert snapshot.pagerank is first
                assert snapshot.path_of(record("Late.md", "late").chunks[0].id) == "Late.md"
        held_up.set()
        reader.wait()
        with reader.snapshot() as snapshot:
            assert "Late.md" in snapshot.pagerank
            assert snapshot.pagerank == pagerank(anew(snapshot))


def test_a_pagerank_of_an_index_made_anew_is_waited_for(filled: SampleIndex) -> None:
    with Reader.open(filled.layout) as reader:
        assert len(reader.snapshot().pagerank) == 3
        filled.remove()
        filled.write(record("Other.md", "other"))
        assert dict(reader.snapshot().pagerank) == {"Other.md": 1.0}
