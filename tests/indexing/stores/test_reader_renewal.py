"""A reader lets go of files that were written anew, without holding up a query."""

from __future__ import annotations

import threading

import pytest

from notehop.indexing.stores import reader as reader_module
from notehop.indexing.stores.reader import Reader
from notehop.indexing.stores.reader_holdings import load
from notehop.indexing.stores.reader_upkeep import bring_up_to_date
from notehop.indexing.stores.table import VectorTable
from tests.indexing.stores.index_samples import SampleIndex, record
from tests.indexing.stores.test_reader import expected, seen
from tests.indexing.stores.test_reader_upkeep import never


@pytest.fixture
def filled(index: SampleIndex) -> SampleIndex:
    index.write(*(record(f"{n}.md", f"text {n}", to=["0"]) for n in range(4)))
    return index


def on_disk(index: SampleIndex, name: str) -> frozenset[str]:
    return VectorTable.open(index.layout.vectors, name).files


def tidied(index: SampleIndex) -> None:
    with index.catalog() as catalog:
        bring_up_to_date(index.layout, catalog, never, thorough=True)


def test_files_written_anew_are_gone_over_to(filled: SampleIndex) -> None:
    with Reader.open(filled.layout) as reader:
        first = reader.chunk_vectors.files
        filled.write(record("0.md", "other", to=["1"]))
        reader.refresh()
        tidied(filled)
        filled.write(record("1.md", "another"))
        assert reader.refresh()
        reader.wait()
        with reader.snapshot() as snapshot:
            assert seen(snapshot) == expected(filled)
        assert not first & reader.chunk_vectors.files
        assert reader.chunk_vectors.files == on_disk(filled, "chunks")
        assert reader.link_vectors.files == on_disk(filled, "links")


def test_what_is_read_meanwhile_is_brought_to_the_newest_generation(
    filled: SampleIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(*arguments: object) -> object:
        held = load(*arguments)  # type: ignore[arg-type]
        if threading.current_thread().name == "notehop-renewal":
            begun.set()
            assert go_on.wait(30)
        return held

    monkeypatch.setattr(reader_module, "load", slow)
    with Reader.open(filled.layout) as reader:
        first = reader.chunk_vectors.files
        tidied(filled)
        filled.write(delete=["3.md"], derived=False)
        reader.refresh()
        assert begun.wait(30)
        filled.write(record("2.md", "a third", to=["1"]), delete=["1.md"], derived=False)
        with reader.snapshot() as snapshot:
            assert seen(snapshot) == expected(filled)
        go_on.set()
        reader.wait()
        with reader.snapshot() as snapshot:
            assert seen(snapshot) == expected(filled)
        assert not first & reader.chunk_vectors.files
