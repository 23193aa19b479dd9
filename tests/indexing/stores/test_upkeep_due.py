"""When derived files are brought up to date, and that many small changes cost what they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from notehop.indexing.stores import table_files
from notehop.indexing.stores.catalog import Catalog, stamp_of
from notehop.indexing.stores.lag import note_lag
from notehop.indexing.stores.model import Batch, NoteRecord
from notehop.indexing.stores.reader_upkeep import Due, bring_up_to_date, upkeep_due, write_ahead
from notehop.indexing.stores.table import VectorTable
from notehop.indexing.stores.upkeep_due import lag_due
from tests.indexing.stores.index_samples import SampleIndex, matrix_of, record
from tests.indexing.stores.test_reader_upkeep import never


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("notehop.indexing.stores.upkeep_due._FEW", 3)
    monkeypatch.setattr("notehop.indexing.stores.upkeep_due._PARTS", 4)


def due(index: SampleIndex) -> Due:
    with index.catalog() as catalog:
        return upkeep_due(index.layout, catalog)


def test_a_new_index_is_made_whole_at_once(index: SampleIndex) -> None:
    with index.catalog() as catalog:
        assert upkeep_due(index.layout, catalog) is Due.NOTHING
    index.write(record("a.md", "alpha", to=["b"]), derived=False)
    assert due(index) is Due.NOW
    index.write(record("a.md", "alpha", to=["b"]))
    assert due(index) is Due.NOTHING


@pytest.mark.usefixtures("few")
def test_small_changes_are_left_to_readers_until_they_are_many(index: SampleIndex) -> None:
    index.write(*(record(f"{n}.md", f"text {n}") for n in range(9)))
    found = []
    with index.catalog() as catalog:
        for n in range(17):
            # No table grows.
            catalog.commit(Batch(delete=(f"{n}.md",)))
            found.append(upkeep_due(index.layout, catalog))
    assert found == [*[Due.NOTHING] * 3, *[Due.WHEN_QUIET] * 9, *[Due.NOW] * 5]


@pytest.mark.parametrize(("spread", "limit"), [(256, 2), (1, 6)])
def test_the_store_may_lag_behind_by_so_much(
    index: SampleIndex, monkeypatch: pytest.MonkeyPatch, spread: int, limit: int
) -> None:
    """By a few vectors, or by a share of the chunks."""
    monkeypatch.setattr("notehop.indexing.stores.upkeep_due._BEHIND", 2)
    monkeypatch.setattr("notehop.indexing.stores.upkeep_due._SPREAD", spread)
    index.write(*(record(f"{n}.md", f"text {n}") for n in range(6)))
    found = []
    for n in range(5 * limit):
        note_lag(index.layout, {"chunks": [f"{n}"]}, {"chunks": [f"{n}"]})
        found.append(lag_due(index.layout))
    assert found == [*[Due.NOTHING] * limit, *[Due.WHEN_QUIET] * 3 * limit, *[Due.NOW] * limit]


@pytest.mark.usefixtures("few")
def test_many_parts_are_due_even_of_a_few_notes(index: SampleIndex) -> None:
    index.write(*(record(f"{n}.md", f"text {n}", to=["0"]) for n in range(60)))
    found = []
    with index.catalog() as catalog:
        for n in range(17):
            commit(index, catalog, record("0.md", f"other {n}"))
            found.append(upkeep_due(index.layout, catalog))
    assert found == [*[Due.NOTHING] * 3, *[Due.WHEN_QUIET] * 12, *[Due.NOW] * 2]


@pytest.mark.parametrize("name", ["chunks.json", "links.json", "chunks-*.npy", "links-*.ids"])
def test_what_is_missing_is_due_at_once(index: SampleIndex, name: str) -> None:
    index.write(record("a.md", "alpha", to=["b"]))
    [path] = index.layout.vectors.glob(name)
    path.unlink()
    assert due(index) is Due.NOW


def test_a_lexical_index_of_another_index_is_due_at_once(index: SampleIndex) -> None:
    index.write(record("a.md", "alpha"))
    [file] = index.layout.lexical.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert due(index) is Due.NOW


def commit(index: SampleIndex, catalog: Catalog, *notes: NoteRecord) -> None:
    """Write notes without the vector store, which would take most of the time."""
    batch = Batch(upsert=notes, meta={"fingerprint": dict(index.fingerprint)})
    chunks = {one.id: one.text for note in notes for one in note.chunks}
    write_ahead(
        index.layout,
        stamp_of({**catalog.meta(), **batch.meta}),
        chunks=(list(chunks), matrix_of(chunks.values())),
        links=([], matrix_of([])),
    )
    catalog.commit(batch)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows of chunk vectors were written, by part."""
    rows: list[int] = []
    write = table_files._write_part

    def counting(
        folder: Path, name: str, dimensions: int, ids: Sequence[str], blocks: Iterable[Any]
    ) -> Any:
        if name == "chunks":
            rows.append(len(ids))
        return write(folder, name, dimensions, ids, blocks)

    monkeypatch.setattr(table_files, "_write_part", counting)
    return rows


def test_a_vector_is_written_a_few_times_however_many_small_changes_there_are(
    index: SampleIndex, written: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The large part is left alone; the rest is joined so that few parts stay."""
    monkeypatch.setattr("notehop.indexing.stores.upkeep_due._PARTS", 6)
    parts = []
    with index.catalog() as catalog:
        commit(index, catalog, *(record(f"{n}.md", f"text {n}") for n in range(450)))
        written.clear()
        for n in range(100):
            commit(index, catalog, record(f"{n}.md", f"other {n}"))
            bring_up_to_date(index.layout, catalog, never)
            parts.append(len(VectorTable.open(index.layout.vectors, "chunks").files))
        assert max(parts) <= 8
        assert 100 <= sum(written) <= 100 * 8
        bring_up_to_date(index.layout, catalog, never, thorough=True)
        known = sorted(key.id for key in catalog.chunk_keys())
    assert sorted(VectorTable.open(index.layout.vectors, "chunks").ids) == known


def test_a_withdrawn_note_leaves_every_file_at_once(index: SampleIndex) -> None:
    gone = record("b.md", "secret word", to=["a"])
    index.write(record("a.md", "alpha"), gone)
    index.write(delete=["b.md"])
    with index.catalog() as catalog:
        bring_up_to_date(index.layout, catalog, never, thorough=True)
    files = [*index.layout.vectors.iterdir(), *index.layout.lexical.iterdir()]
    for file in files:
        held = file.read_bytes()
        assert b"secret" not in held
        assert gone.chunks[0].id.encode() not in held
        assert str(gone.links[0].sentence_id).encode() not in held
