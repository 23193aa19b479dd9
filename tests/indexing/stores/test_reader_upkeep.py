"""What a run leaves behind for readers: complete, compact, and nothing where nothing changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from notehop.config.errors import IndexDamaged
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.stores.reader_upkeep import bring_up_to_date
from notehop.indexing.stores.table import VectorTable
from notehop.indexing.stores.vectors import Vectors
from tests.indexing.stores.index_samples import SampleIndex, record


def never() -> Vectors:
    raise AssertionError("the vector store is not to be opened")


def files(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.stat().st_size)
        for path in folder.rglob("*")
        if path.is_file()
    }


def stored(index: SampleIndex, name: str) -> VectorTable:
    return VectorTable.open(index.layout.vectors, name)


def test_a_run_without_changes_writes_nothing_and_opens_no_store(index: SampleIndex) -> None:
    index.write(record("a.md", "alpha", to=["b"]))
    before = files(index.layout.vectors) | files(index.layout.lexical)
    with index.catalog() as catalog:
        bring_up_to_date(index.layout, catalog, never)
    assert files(index.layout.vectors) | files(index.layout.lexical) == before


def test_an_index_that_was_never_written_has_nothing_derived(index: SampleIndex) -> None:
    with index.catalog() as catalog:
        bring_up_to_date(index.layout, catalog, never)
    assert not index.layout.vectors.exists()


def test_vectors_written_ahead_need_no_store(index: SampleIndex) -> None:
    for n in range(3):
        index.write(record(f"{n}.md", f"text {n}", to=["b"]), derived=False)
    with index.catalog() as catalog:
        bring_up_to_date(index.layout, catalog, never)
        generation = catalog.generation
    for name in ("chunks", "links"):
        table = stored(index, name)
        assert (len(table), table.generation, len(table.files)) == (3, generation, 3)


def known(index: SampleIndex) -> list[str]:
    with index.catalog() as catalog:
        return sorted(key.id for key in catalog.chunk_keys())


def test_small_parts_are_joined_and_the_large_one_is_left(
    index: SampleIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notehop.indexing.stores.upkeep_due._PARTS", 4)
    index.write(*(record(f"{n}.md", f"text {n}") for n in range(40)))
    [large] = stored(index, "chunks").files
    counts = []
    for n in range(6):
        index.write(record("0.md", f"other {n}"))
        table = stored(index, "chunks")
        assert large in table.files
        counts.append(len(table.files))
    assert counts == [2, 3, 4, 2, 3, 4]
    assert set(known(index)) <= set(stored(index, "chunks").ids)


def test_much_growth_writes_the_table_anew_without_what_is_gone(
    index: SampleIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notehop.indexing.stores.upkeep_due._PARTS", 2)
    for n in range(2):
        index.write(*(record(f"{at}.md", f"text {n} {at}") for at in range(5)))
    assert len(stored(index, "chunks")) == 10
    index.write(*(record(f"{at}.md", f"text 3 {at}") for at in range(5)))
    table = stored(index, "chunks")
    assert len(table.files) == 1
    assert sorted(table.ids) == known(index)


def test_few_changes_leave_the_lexical_file_and_many_write_it(index: SampleIndex) -> None:
    index.write(record("a.md", "alpha"))
    index.write(record("b.md", "beta"))
    assert LexicalIndex.load(index.layout.lexical)[1] == 1
    index.write(*(record(f"{n}.md", f"text {n}") for n in range(40)))
    lexical, generation, _ = LexicalIndex.load(index.layout.lexical)
    assert (len(lexical), generation) == (42, 3)


def test_vectors_that_the_store_lacks_too_fail_the_run(index: SampleIndex) -> None:
    note = record("a.md", "alpha")
    index.write(note, ahead=False, derived=False)
    with index.catalog() as catalog, index.vectors() as vectors:
        vectors.delete("chunks", [note.chunks[0].id])
        with pytest.raises(IndexDamaged, match=r"1 vectors of chunks.*--rebuild"):
            bring_up_to_date(index.layout, catalog, lambda: vectors)
    assert not list(index.layout.vectors.glob("chunks*"))


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(lambda part: part.unlink(), id="no matrix"),
        pytest.param(lambda part: part.write_bytes(part.read_bytes()[:-200]), id="half a matrix"),
        pytest.param(lambda part: part.with_suffix(".ids").unlink(), id="no ids"),
        pytest.param(lambda part: part.with_suffix(".ids").write_text("x"), id="other ids"),
    ],
)
def test_a_damaged_table_is_made_anew_from_the_store(
    index: SampleIndex, harm: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notehop.indexing.stores.upkeep_due._FEW", 0)
    index.write(record("a.md", "alpha"))
    [part] = index.layout.vectors.glob("chunks-*.npy")
    harm(part)
    # The second note keeps the part from being found without looking at the first.
    index.write(record("a.md", "alpha"), record("b.md", "beta"), ahead=False)
    assert sorted(stored(index, "chunks").ids) == known(index)
