"""A small change leaves the vector store behind, and no crash, harm or order of things loses it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from notehop.indexing import faults
from notehop.indexing.pipeline import Indexer, writer
from notehop.indexing.stores import upkeep_due
from notehop.indexing.stores.lag import read_lag
from notehop.indexing.stores.reader import Reader
from notehop.indexing.stores.vectors import Vectors
from tests.indexing.pipeline.conftest import Bench
from tests.indexing.pipeline.readable_model import DIMENSIONS


class PowerCut(BaseException):
    """What no handler catches."""


NAMES = ["a.md", "b.md", "c.md", "d.md", "moved.md"]


def indexer(bench: Bench) -> Indexer:
    bench.model.asked.clear()
    return Indexer(bench.vault, bench.settings, bench.layout, load=bench.model.load)


@pytest.fixture
def indexed(bench: Bench) -> Bench:
    bench.write("a.md", "See [[b]] on tides.\n\n## More\n\nOf water and of walls, said at length.")
    bench.write("b.md", "Here it was, and [[a]].")
    bench.write("c.md", "To be moved, as [[b]] says.")
    bench.write("d.md", "To be deleted, with [[a]].")
    bench.index()
    return bench


def edit(bench: Bench) -> None:
    """A note is changed, one new, one moved, one gone."""
    bench.write("a.md", "See [[b]] on walls.\n\n## More\n\nOf water and of walls, said at length.")
    bench.write("new.md", "New, with [[a]] and [[moved]].")
    (bench.vault / "c.md").rename(bench.vault / "moved.md")
    (bench.vault / "d.md").unlink()


def edited(bench: Bench) -> Bench:
    """After :func:`edit`, followed."""
    edit(bench)
    indexer(bench).update([*NAMES, "new.md"])
    return bench


def fresh(bench: Bench, folder: Path) -> tuple[object, ...]:
    """What an index built from nothing says."""
    (folder / "again").mkdir()
    other = Bench(folder / "again")
    other.vault = bench.vault
    other.index()
    return other.content()


def in_store(bench: Bench) -> set[str]:
    """What is in the store itself, whatever it lags behind by."""
    with Vectors.open(bench.layout.chroma, DIMENSIONS) as store:
        return store.ids("chunks") | store.ids("links")


def wanted(bench: Bench) -> set[str]:
    with bench.catalog() as catalog:
        return {key.id for key in catalog.chunk_keys()} | set(catalog.sentence_ids())


def test_a_small_change_opens_no_store_and_is_seen(
    indexed: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Reader.open(indexed.layout) as reader:
        with monkeypatch.context() as patch:
            patch.setattr(Vectors, "open", lambda *_: pytest.fail("the store was opened"))
            edited(indexed)
            assert reader.refresh()
            now = Reader.open(indexed.layout)
        for one in (reader, now):
            with indexed.catalog() as catalog:
                assert set(one.chunk_vectors.ids) == {key.id for key in catalog.chunk_keys()}
            with one.snapshot() as snapshot:
                assert snapshot.warnings == ()
        now.close()
    assert len(read_lag(indexed.layout)) > 0
    assert indexed.content() == fresh(indexed, tmp_path)


def test_the_next_whole_run_catches_up(indexed: Bench) -> None:
    edited(indexed)
    generation = indexed.index().generation
    assert indexed.model.asked == []
    assert in_store(indexed) == wanted(indexed)
    assert not indexed.layout.lag.exists()
    assert not indexed.layout.sweep_mark.exists()
    with indexed.catalog() as catalog:
        assert catalog.generation == generation


def test_a_quiet_moment_catches_up_when_there_is_enough(
    indexed: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited(indexed)
    count = len(read_lag(indexed.layout))
    monkeypatch.setattr(upkeep_due, "_BEHIND", count)
    indexer(indexed).tidy()
    assert len(read_lag(indexed.layout)) == count
    monkeypatch.setattr(upkeep_due, "_BEHIND", count - 1)
    indexer(indexed).tidy()
    assert in_store(indexed) == wanted(indexed)
    assert not indexed.layout.lag.exists()


def test_much_catches_up_at_once(indexed: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep_due, "_BEHIND", 0)
    edited(indexed)
    assert not indexed.layout.lag.exists()
    assert in_store(indexed) == wanted(indexed)


def test_a_large_change_is_written_to_the_store(
    indexed: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_SMALL", 3)
    edited(indexed)
    assert not indexed.layout.lag.exists()
    assert in_store(indexed) == wanted(indexed)


def test_what_came_and_went_and_came_again(indexed: Bench, tmp_path: Path) -> None:
    words = (indexed.vault / "b.md").read_text()
    for text in ("Other words.", words, "Others still.", words):
        indexed.write("b.md", text)
        indexer(indexed).update(["b.md"])
    assert indexed.content() == fresh(indexed, tmp_path)
    indexed.index()
    assert in_store(indexed) == wanted(indexed)


def test_of_what_is_withdrawn_nothing_stays(indexed: Bench) -> None:
    edited(indexed)
    before = wanted(indexed)
    indexed.write("a.md", "---\nprivate: true\n---\nSee [[b]] on walls.")
    indexer(indexed).update(["a.md"])
    assert wanted(indexed) < before
    assert in_store(indexed) == wanted(indexed)
    assert not indexed.layout.lag.exists()


def dies_at(patch: pytest.MonkeyPatch, point: str) -> None:
    """Let what passes this point end there."""

    def cut(name: str) -> None:
        if name == point:
            raise PowerCut

    patch.setattr(faults, "hook", cut)


CHANGING = (
    "lag-noted",
    "chunks-matrix-written",
    "chunks-manifest-replaced",
    "links-manifest-replaced",
    "catalog-before-commit",
    "catalog-inside-commit",
    "catalog-committed",
    "seal-drafted",
)


@pytest.mark.parametrize("point", CHANGING)
def test_a_crash_in_a_small_change(
    indexed: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """A whole run follows, or another update: one after each second point."""
    before = indexed.content()
    with monkeypatch.context() as patch:
        dies_at(patch, point)
        with pytest.raises(PowerCut):
            edited(indexed)
    committed = CHANGING.index(point) >= CHANGING.index("catalog-committed")
    expected = fresh(indexed, tmp_path)
    with Reader.open(indexed.layout) as reader, reader.snapshot() as snapshot:
        assert snapshot.warnings == ()
    if committed:
        assert indexed.content() == expected
    else:
        assert indexed.content()[:4] == before[:4]
    if CHANGING.index(point) % 2:
        report = indexed.index()
        assert report.warnings == ()
        assert in_store(indexed) == wanted(indexed)
    else:
        indexer(indexed).update([*NAMES, "new.md"])
    assert indexed.content() == expected
    assert bool(indexed.model.asked) is not committed


CATCHING_UP = (
    "sweep-mark-set",
    "chunks-vectors-upserted",
    "chunks-vectors-deleted",
    "links-vectors-upserted",
    "links-vectors-deleted",
    "lag-cleared",
    "sweep-mark-cleared",
)


@pytest.mark.parametrize("point", CATCHING_UP)
def test_a_crash_while_it_catches_up(
    indexed: Bench, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    """In a quiet moment, or in a whole run: one at each second point."""
    edited(indexed)
    before = indexed.content()
    monkeypatch.setattr(upkeep_due, "_BEHIND", 0)
    with monkeypatch.context() as patch:
        dies_at(patch, point)
        quiet = CATCHING_UP.index(point) % 2
        with pytest.raises(PowerCut):
            indexer(indexed).tidy() if quiet else indexer(indexed).run()
    # A quiet moment leaves to the next run what was cut off.
    indexer(indexed).tidy()
    assert indexed.index().warnings == ()
    assert indexed.model.asked == []
    assert in_store(indexed) == wanted(indexed)
    assert indexed.content() == before
    assert not indexed.layout.lag.exists()
    assert not indexed.layout.sweep_mark.exists()


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


@pytest.mark.parametrize(
    "harm", [pytest.param(Path.unlink, id="gone"), pytest.param(cut_off, id="cut off")]
)
def test_a_mark_that_is_harmed_is_missed(indexed: Bench, harm: Callable[[Path], object]) -> None:
    edited(indexed)
    harm(indexed.layout.lag)
    assert indexer(indexed).update(["nowhere.md"]).embedded == 0
    assert indexed.model.asked == []
    assert in_store(indexed) == wanted(indexed)
    assert not indexed.layout.lag.exists()


def test_tables_that_are_harmed_meanwhile(indexed: Bench, tmp_path: Path) -> None:
    """What is nowhere else is embedded again, and nothing else is."""
    edited(indexed)
    for file in indexed.layout.vectors.glob("chunks*"):
        file.unlink()
    report = indexed.index()
    assert any("the vectors of" in told for told in report.warnings)
    assert not any("Here it was" in text for text in indexed.model.asked)
    assert in_store(indexed) == wanted(indexed)
    assert indexed.content() == fresh(indexed, tmp_path)


def test_a_store_that_is_gone_is_filled_with_all(indexed: Bench) -> None:
    edited(indexed)
    for file in sorted(indexed.layout.chroma.rglob("*"), reverse=True):
        file.unlink() if file.is_file() else file.rmdir()
    indexed.layout.chroma.rmdir()
    indexed.index()
    assert indexed.model.asked == []
    assert in_store(indexed) == wanted(indexed)
