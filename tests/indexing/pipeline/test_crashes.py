"""A run that dies between two writes loses nothing, and the next one tidies up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.replacement import replace_index
from notehop.indexing.stores.vectors import Vectors
from tests.indexing.pipeline.conftest import Bench


class PowerCut(BaseException):
    """What no handler catches."""


def cut(monkeypatch: pytest.MonkeyPatch, owner: type, name: str, *, after: int) -> None:
    """Let ``owner.name`` fail from its call number ``after`` on, before it does anything."""
    real: Callable[..., object] = getattr(owner, name)
    calls = 0

    def dies(*args: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls > after:
            raise PowerCut
        return real(*args, **options)

    monkeypatch.setattr(owner, name, dies)


@pytest.mark.parametrize(
    ("owner", "name", "after"),
    [
        pytest.param(Vectors, "upsert", 0, id="before-the-chunk-vectors"),
        pytest.param(Vectors, "upsert", 1, id="before-the-sentence-vectors"),
        pytest.param(Catalog, "commit", 0, id="before-the-commit"),
        pytest.param(Vectors, "delete", 0, id="after-the-commit"),
        pytest.param(Vectors, "delete", 1, id="before-the-last-delete"),
    ],
)
def test_the_next_run_ends_as_if_nothing_had_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, after: int
) -> None:
    bench = Bench(tmp_path)
    bench.write("a.md", "See [[b]] on tides.")
    bench.write("b.md", "Here it was.")
    bench.index()
    before = bench.content()
    bench.write("a.md", "See [[b]] on walls.")
    bench.write("c.md", "New, with [[a]].")
    with monkeypatch.context() as patch:
        cut(patch, owner, name, after=after)
        with pytest.raises(PowerCut):
            bench.index()
    committed = name == "delete"
    with bench.catalog() as catalog:
        assert catalog.generation == (2 if committed else 1)
    if not committed:
        assert bench.content()[:4] == before[:4]
    bench.index()
    (tmp_path / "again").mkdir()
    fresh = Bench(tmp_path / "again")
    fresh.vault = bench.vault
    fresh.index()
    assert bench.content() == fresh.content()


def test_a_first_run_that_dies_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("notehop.indexing.pipeline.run.BATCH_NOTES", 2)
    bench = Bench(tmp_path)
    for number in range(6):
        bench.write(f"{number}.md", f"Note {number}, see [[{5 - number}]] and [[alias{number}]].")
    bench.write("6.md", "---\naliases: [alias0]\n---\nLast, see [[0]].")
    with monkeypatch.context() as patch:
        cut(patch, Catalog, "commit", after=2)
        with pytest.raises(PowerCut):
            bench.index()
    report = bench.index()
    assert (report.unchanged, report.added) == (4, 3)
    assert not any("Note 0" in text for text in bench.model.asked)
    (tmp_path / "again").mkdir()
    fresh = Bench(tmp_path / "again")
    fresh.vault = bench.vault
    fresh.index()
    assert bench.content() == fresh.content()
    assert bench.links("0.md")[1].via == "alias"


def test_a_run_that_was_cut_off_leaves_no_link_to_what_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notehop.indexing.pipeline.run.BATCH_NOTES", 1)
    bench = Bench(tmp_path)
    bench.write("a.md", "See [[z]] and ![[plan.png]].")
    bench.write("z.md", "Last.")
    bench.write("plan.png", "")
    with monkeypatch.context() as patch:
        cut(patch, Catalog, "commit", after=1)
        with pytest.raises(PowerCut):
            bench.index()
    assert [link.status for link in bench.links("a.md")] == ["resolved", "resolved"]
    (bench.vault / "z.md").unlink()
    (bench.vault / "plan.png").unlink()
    bench.index()
    assert [link.status for link in bench.links("a.md")] == ["unresolved", "unresolved"]


def test_a_rebuild_that_dies_leaves_the_old_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)
    bench.write("a.md", "See [[b]].")
    bench.index()
    before = bench.content()
    bench.write("b.md", "New.")
    with monkeypatch.context() as patch:
        cut(patch, Catalog, "commit", after=0)
        with pytest.raises(PowerCut):
            bench.index(rebuild=True)
    assert bench.content() == before
    assert bench.index(rebuild=True).notes == 2
    assert not bench.layout.next.root.exists()


@pytest.mark.parametrize("after", range(5))
def test_an_exchange_that_dies_is_finished_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    bench = Bench(tmp_path)
    bench.write("a.md", "See [[b]].")
    bench.index()
    bench.write("b.md", "New.")
    with monkeypatch.context() as patch:
        patch.setattr("notehop.indexing.pipeline.indexer.replace_index", _dying_exchange(after))
        with pytest.raises(PowerCut):
            bench.index(rebuild=True)
    bench.model.asked.clear()
    assert bench.index().notes == 2
    assert bench.model.asked == []


def _dying_exchange(after: int) -> Callable[[IndexLayout], None]:
    """The exchange, cut off before its rename number ``after``."""

    def exchange(layout: IndexLayout) -> None:
        with pytest.MonkeyPatch.context() as patch:
            cut(patch, Path, "rename", after=after)
            replace_index(layout)

    return exchange
