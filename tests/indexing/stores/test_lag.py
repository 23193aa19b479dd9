"""What the vector store lags behind by is written down before it does, and read back as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from notehop.config.errors import IndexUnwritable
from notehop.indexing.stores import lag
from notehop.indexing.stores.lag import clear_lag, note_lag, read_lag
from notehop.indexing.stores.layout import IndexLayout
from tests.indexing.stores.index_samples import SampleIndex, matrix_of, record


@pytest.fixture
def layout(tmp_path: Path) -> IndexLayout:
    made = IndexLayout(tmp_path)
    made.chroma.mkdir()
    return made


def test_what_is_noted_is_read_until_it_is_cleared(layout: IndexLayout) -> None:
    assert not read_lag(layout)
    note_lag(layout, {"chunks": ["a", "b"], "links": ["s"]}, {"chunks": {"old"}})
    note_lag(layout, {"chunks": ["c"]}, {"chunks": ["a"], "links": ["t"]})
    found = read_lag(layout)
    assert found.added == {"chunks": {"a", "b", "c"}, "links": {"s"}}
    assert found.left == {"chunks": {"a", "old"}, "links": {"t"}}
    # An id that came and went is one.
    assert found.of("chunks") == {"a", "b", "c", "old"}
    assert len(found) == 6
    clear_lag(layout)
    clear_lag(layout)
    assert not read_lag(layout)


def test_nothing_to_note_makes_no_file(layout: IndexLayout) -> None:
    note_lag(layout, {"chunks": []}, {"links": frozenset()})
    assert not layout.lag.exists()


@pytest.mark.parametrize("cut", range(1, 10))
def test_a_note_that_was_cut_off_is_none_and_spoils_no_other(layout: IndexLayout, cut: int) -> None:
    note_lag(layout, {"chunks": ["aaaa"]}, {})
    whole = layout.lag.read_bytes()
    note_lag(layout, {"chunks": ["bbbb"]}, {})
    layout.lag.write_bytes(layout.lag.read_bytes()[:-cut])
    assert read_lag(layout).of("chunks") == {"aaaa"}
    note_lag(layout, {"links": ["cccc"]}, {})
    found = read_lag(layout)
    assert "aaaa" in found.of("chunks")
    # A piece of an id is the id of nothing; a whole one does no harm.
    assert all("bbbb".startswith(one) for one in found.of("chunks") - {"aaaa"})
    assert found.of("links") == {"cccc"}
    assert whole in layout.lag.read_bytes()


def test_no_folder_no_lag(tmp_path: Path) -> None:
    layout = IndexLayout(tmp_path)
    assert not read_lag(layout)
    layout.chroma.write_text("a file")
    assert not read_lag(layout)
    with pytest.raises(IndexUnwritable):
        note_lag(layout, {"chunks": ["a"]}, {})


@pytest.fixture
def behind(index: SampleIndex) -> SampleIndex:
    """An index whose store knows ``a.md`` and ``gone.md``; ``a.md`` is another one by now."""
    index.write(record("a.md", "alpha", to=["b"]), record("gone.md", "past", to=["a"]))
    with index.vectors() as store:
        old = {name: store.ids(name) for name in ("chunks", "links")}
        rows = {name: store.get(name, sorted(old[name])) for name in old}
    index.write(record("a.md", "beta", to=["c"]), delete=["gone.md"])
    # As it would be, had only the tables been written.
    with index.vectors() as store:
        new = {name: store.ids(name) - old[name] for name in old}
        for name in ("chunks", "links"):
            store.delete(name, new[name])
            store.upsert(name, *rows[name])
    note_lag(index.layout, added=new, left=old)
    return index


def stored(index: SampleIndex) -> set[str]:
    with index.vectors() as store:
        return store.ids("chunks") | store.ids("links")


def wanted(index: SampleIndex) -> set[str]:
    with index.catalog() as catalog:
        return {key.id for key in catalog.chunk_keys()} | set(catalog.sentence_ids())


def caught_up(index: SampleIndex) -> int:
    with index.catalog() as catalog, catalog.snapshot() as view, index.vectors() as store:
        return lag.catch_up(index.layout, view, store)


def test_the_store_catches_up(behind: SampleIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lag, "_BATCH", 1)
    assert stored(behind) != wanted(behind)
    assert caught_up(behind) == 0
    assert stored(behind) == wanted(behind)
    # It can be begun again, for a crash may come before the file is gone.
    assert caught_up(behind) == 0
    assert stored(behind) == wanted(behind)


def test_a_vector_that_came_back_is_the_one_of_the_tables(behind: SampleIndex) -> None:
    with behind.catalog() as catalog:
        [key] = catalog.chunk_keys()
    with behind.vectors() as store:
        store.upsert("chunks", [key.id], matrix_of(["another"]))
    caught_up(behind)
    with behind.vectors() as store:
        _, rows = store.get("chunks", [key.id])
    assert rows == pytest.approx(matrix_of(["beta"]), abs=1e-5)


def test_what_nobody_has_is_counted(behind: SampleIndex) -> None:
    for file in behind.layout.vectors.iterdir():
        file.unlink()
    assert caught_up(behind) == len(wanted(behind))
