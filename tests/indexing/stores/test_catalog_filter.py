"""Filters are answered by the catalog, and follow what is written to it."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.catalog_filter import NoteLabels
from notehop.indexing.stores.labels import DATE, TAG, TYPE, property_label
from notehop.indexing.stores.model import Batch, NoteRecord, NoteStatus
from notehop.indexing.stores.reader_cache import Bounded
from tests.indexing.stores.index_samples import record

DAY = 86_400.0

NOTES = (
    record(
        "Daily/2026-10-07.md",
        "one",
        tags=("daily",),
        page_type="daily",
        front_matter={"status": "open"},
    ),
    record(
        "Topics/Eel.md",
        "two",
        "three",
        tags=("fish/eel", "river"),
        page_type="Topic",
        created=100 * DAY,
        aliases=("Glass eel",),
        front_matter={"status": "done", "rating": 3},
    ),
    record("Topics/Salmon.md", "four", tags=("fish",), created=200 * DAY),
    record("Topics.md", "five", created=200 * DAY),
    record("Secret.md", status=NoteStatus.SKIPPED, tags=("fish",)),
)


@pytest.fixture
def filled(catalog: Catalog) -> Catalog:
    catalog.commit(Batch(upsert=NOTES))
    return catalog


def labels_of(catalog: Catalog) -> NoteLabels:
    return NoteLabels(catalog, catalog.chunk_ids(), Bounded(16))


@pytest.mark.parametrize(
    ("name", "value", "paths"),
    [
        pytest.param(TAG, "fish", {"Topics/Eel.md", "Topics/Salmon.md"}, id="nested-tag"),
        pytest.param(TAG, "fish/eel", {"Topics/Eel.md"}, id="tag"),
        pytest.param(TAG, "eel", set(), id="no-such-tag"),
        pytest.param(TYPE, "topic", {"Topics/Eel.md"}, id="type"),
        pytest.param(property_label("status"), "open", {"Daily/2026-10-07.md"}, id="property"),
        pytest.param(property_label("rating"), "3", {"Topics/Eel.md"}, id="number"),
    ],
)
def test_notes_by_label(filled: Catalog, name: str, value: str, paths: set[str]) -> None:
    assert labels_of(filled).having(name, value) == paths


@pytest.mark.parametrize(
    ("first", "end", "paths"),
    [
        pytest.param("2026-10-07", None, {"Daily/2026-10-07.md"}, id="from-its-day-on"),
        pytest.param("2026-10-08", None, set(), id="from-the-next"),
        pytest.param(
            None, "2026-10-07", {"Topics/Eel.md", "Topics/Salmon.md", "Topics.md"}, id="before"
        ),
        pytest.param("1970-04-11", "1970-07-20", {"Topics/Eel.md"}, id="between"),
        pytest.param(None, None, {note.note.path for note in NOTES[:4]}, id="any"),
    ],
)
def test_notes_by_date(
    filled: Catalog, first: str | None, end: str | None, paths: set[str]
) -> None:
    assert labels_of(filled).dated(first, end) == paths


@pytest.mark.parametrize(
    ("place", "paths"),
    [
        pytest.param("Topics", {"Topics/Eel.md", "Topics/Salmon.md", "Topics.md"}, id="folder"),
        pytest.param("topics/", {"Topics/Eel.md", "Topics/Salmon.md", "Topics.md"}, id="case"),
        pytest.param("Topics/Eel.md", {"Topics/Eel.md"}, id="note"),
        pytest.param("./Topics/Eel", {"Topics/Eel.md"}, id="without-suffix"),
        pytest.param("Topic", set(), id="a-part-of-a-name"),
        pytest.param("Eel", set(), id="not-from-the-root"),
        pytest.param("*/Eel.md", {"Topics/Eel.md"}, id="glob"),
        pytest.param("**/2026-*", {"Daily/2026-10-07.md"}, id="deep-glob"),
        pytest.param("Eel.*", {"Topics/Eel.md"}, id="name-at-any-depth"),
        pytest.param("?aily", {"Daily/2026-10-07.md"}, id="folder-by-glob"),
        pytest.param("/", {note.note.path for note in NOTES[:4]}, id="all"),
    ],
)
def test_notes_by_path(filled: Catalog, place: str, paths: set[str]) -> None:
    assert labels_of(filled).under(place) == paths


def test_what_there_is(filled: Catalog) -> None:
    labels = labels_of(filled)
    assert labels.keys() == ["rating", "status"]
    assert labels.values(TAG) == {"daily": 1, "fish": 2, "fish/eel": 1, "river": 1}
    assert labels.has(property_label("status"))
    assert not labels.has(property_label("stat"))
    assert filled.label_names() == [DATE, "property:rating", "property:status", TAG, TYPE]


NEWEST = ["Daily/2026-10-07.md", "Topics.md", "Topics/Salmon.md", "Topics/Eel.md"]


def test_the_newest_first(filled: Catalog) -> None:
    labels = labels_of(filled)
    assert list(labels.newest_first(lambda _: True, None)) == NEWEST
    assert list(labels.newest_first(lambda path: "Topics" in path, frozenset(NEWEST))) == NEWEST[1:]


def test_the_newest_of_many_are_read_in_portions(
    filled: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notehop.indexing.stores.catalog_filter._PAGE", 1)
    labels = labels_of(filled)
    assert list(labels.newest_first(lambda _: True, None)) == NEWEST
    assert list(islice(labels.newest_first(lambda path: "Eel" in path, None), 1)) == NEWEST[3:]


def test_what_a_chunk_says(filled: Catalog) -> None:
    second = filled.chunk_ids()["Topics/Eel.md"][1]
    assert filled.said_in([second, "unknown"]) == {
        second: ("Topics/Eel", "Eel", "Glass eel", "A", "B", "three")
    }


def changed(original: NoteRecord, **fields: Any) -> NoteRecord:
    return replace(original, note=replace(original.note, **fields))


def test_labels_follow_the_notes(filled: Catalog) -> None:
    eel, salmon = NOTES[1], NOTES[2]
    filled.commit(Batch(upsert=(changed(eel, tags=("bird",)),), delete=(salmon.note.path,)))
    labels = labels_of(filled)
    assert labels.having(TAG, "fish") == set()
    assert labels.having(TAG, "bird") == {"Topics/Eel.md"}
    assert list(labels.newest_first(lambda _: True, None)) == [NEWEST[0], NEWEST[1], NEWEST[3]]
    filled.commit(Batch(upsert=(changed(eel, status=NoteStatus.SKIPPED),)))
    assert labels_of(filled).having(TAG, "bird") == set()


def test_a_snapshot_keeps_its_labels(filled: Catalog) -> None:
    with filled.snapshot() as view:
        filled.commit(Batch(delete=("Topics/Eel.md",)))
        assert NoteLabels(view, view.chunk_ids(), Bounded(4)).having(TAG, "river")
    assert not labels_of(filled).having(TAG, "river")


def test_what_was_found_is_not_asked_again(filled: Catalog) -> None:
    kept: Bounded[Any, frozenset[str]] = Bounded(4)
    first = NoteLabels(filled, filled.chunk_ids(), kept).having(TAG, "fish")
    assert NoteLabels(filled, filled.chunk_ids(), kept).having(TAG, "fish") is first
