"""The vector store gives room back, and a crash while it does loses nothing."""

from __future__ import annotations

import pytest

from notehop.indexing import faults
from notehop.indexing.pipeline import Indexer, compact
from notehop.indexing.stores.vectors import elements
from tests.indexing.pipeline.conftest import Bench


class PowerCut(BaseException):
    """What no handler catches."""


@pytest.fixture
def worn(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> Indexer:
    """An indexer whose store holds more that is left over than lives; nothing is spared."""
    indexer = Indexer(bench.vault, bench.settings, bench.layout, load=bench.model.load)
    bench.write("b.md", "0.5")
    for turn in range(12):
        bench.write("a.md", f"0.{turn + 1}5 and [[b]] in turn {turn}")
        indexer.update(["a.md", "b.md"])
    monkeypatch.setattr(compact, "_SPARE", 0)
    return indexer


def segments(bench: Bench) -> set[str]:
    """The names of the folders that the store keeps its graphs in."""
    return {path.name for path in bench.layout.chroma.iterdir() if path.is_dir()}


def test_a_store_in_use_is_left_alone(bench: Bench, worn: Indexer) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compact, "_SPARE", elements(bench.layout.chroma))
        store = segments(bench)
        worn.tidy()
        assert segments(bench) == store


@pytest.mark.parametrize("tidies", [True, False], ids=["when it is quiet", "in a whole run"])
def test_room_is_given_back(bench: Bench, worn: Indexer, tidies: bool) -> None:
    before, store = bench.content(), segments(bench)
    worn.tidy() if tidies else worn.run()
    assert segments(bench).isdisjoint(store)
    assert bench.content() == before
    assert not worn.update().wrote


@pytest.mark.parametrize("point", ["chroma-removed", "store-compacted", "sweep-mark-cleared"])
def test_a_crash_meanwhile(
    bench: Bench, worn: Indexer, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    before = bench.content()

    def cut(name: str) -> None:
        if name == point:
            raise PowerCut

    with monkeypatch.context() as patch:
        patch.setattr(faults, "hook", cut)
        with pytest.raises(PowerCut):
            worn.tidy()
    report = bench.index()
    assert bench.model.asked == []
    assert (report.changed, report.failed) == (0, ())
    assert bench.content() == before


@pytest.mark.usefixtures("worn")
def test_a_store_whose_vectors_are_nowhere_else_is_left(bench: Bench) -> None:
    for file in bench.layout.vectors.glob("chunks*"):
        file.unlink()
    store = segments(bench)
    with bench.catalog() as catalog:
        assert not compact.compact(bench.layout, catalog, lambda: pytest.fail("it was opened"))
    assert segments(bench) == store
