"""What notes can be filtered by: a row for each tag, type, date and value of a property."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from notehop.indexing.stores.labels import (
    DATE,
    LENGTH,
    MOST,
    TAG,
    date_label,
    key_label,
    label_rows,
    property_label,
    tag_label,
    value_label,
)
from notehop.indexing.stores.model import NoteRow, NoteStatus


def note(path: str = "A.md", **fields: Any) -> NoteRow:
    return NoteRow(path, "A", fields.pop("status", NoteStatus.INDEXED), **fields)


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def values_of(name: str, **fields: Any) -> list[str]:
    return [value for label, value in label_rows(note(**fields)) if label == name]


def test_a_tag_brings_all_it_is_nested_in() -> None:
    rows = values_of(TAG, tags=("Fish/Eel/Glass", "fish/Salmon", "Mud"))
    assert rows == ["fish", "fish/eel", "fish/eel/glass", "fish/salmon", "mud"]


@pytest.mark.parametrize("written", ["fish/eel", "#Fish/Eel", "FISH/EEL/", " #fish/eel "])
def test_tags_compare_without_case_and_sign(written: str) -> None:
    assert tag_label(written) == "fish/eel"


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        pytest.param("Open", ["open"], id="text"),
        pytest.param("  in   Progress ", ["in progress"], id="blanks"),
        pytest.param("Ünïcode", ["ünïcode"], id="accents-stay"),
        pytest.param(True, ["true"], id="yes"),
        pytest.param(3, ["3"], id="number"),
        pytest.param(3.0, ["3", "3.0"], id="number-or-version"),
        pytest.param(3.5, ["3.5"], id="fraction"),
        pytest.param(None, [""], id="empty"),
        pytest.param([], [], id="no-values"),
        pytest.param(["a", "B", "a"], ["a", "b"], id="list"),
        pytest.param(
            "[[People/Bram Teague#Now|Bram]]",
            ["[[people/bram teague#now|bram]]", "bram", "bram teague", "people/bram teague"],
            id="link",
        ),
        pytest.param("see [[Bram]]", ["see [[bram]]"], id="text-with-a-link"),
        pytest.param("x" * 999, ["x" * LENGTH], id="long"),
        pytest.param("\ud800", ["?"], id="no-text"),
    ],
)
def test_the_values_of_a_property(value: object, labels: list[str]) -> None:
    assert values_of(property_label("status"), front_matter={"Status": value}) == labels


def test_nested_properties_are_joined_by_a_dot() -> None:
    rows = label_rows(note(front_matter={"Book": {"Author Name": "Ellery", "by": [{"x": 1}]}}))
    names = {name: value for name, value in rows if name != DATE}
    assert names == {property_label("book.author-name"): "ellery", property_label("book.by.x"): "1"}


@pytest.mark.parametrize("key", ["Due Date", "due-date", "due_date", "DUE  DATE"])
def test_keys_compare_without_case_and_separator(key: str) -> None:
    assert key_label(key) == "due-date"


def test_values_are_compared_as_they_are_kept() -> None:
    long = "word " * 99
    assert values_of(property_label("k"), front_matter={"k": long}) == [value_label(long)]


@pytest.mark.parametrize("status", [NoteStatus.SKIPPED, NoteStatus.FAILED])
def test_a_note_that_is_not_indexed_has_none(status: NoteStatus) -> None:
    assert label_rows(note(status=status, tags=("a",))) == []


def test_rows_are_sorted_distinct_and_not_without_end() -> None:
    many = {f"k{number}": list(range(50)) for number in range(100)}
    rows = label_rows(note(tags=("b", "a", "B"), page_type="Book", front_matter=many))
    assert rows == sorted(set(rows))
    assert len(rows) == MOST
    assert {("tag", "a"), ("tag", "b"), ("type", "book")} <= set(rows)


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A clock on the wall two hours ahead of UTC in summer."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("path", "created", "modified", "file", "date"),
    [
        pytest.param("A.md", "2026-03-01", "2026-05-01", 0, "2026-03-01T00:00:00", id="created"),
        pytest.param(
            "2026-10-07.md", "2026-03-01", "2026-05-01", 0, "2026-03-01T00:00:00", id="before-name"
        ),
        pytest.param("2026-10-07.md", None, "2026-05-01", 0, "2026-10-07T00:00:00", id="name"),
        pytest.param("A.md", None, "2026-05-01T23:30", 0, "2026-05-01T23:30:00", id="changed"),
        pytest.param(
            "A.md", None, "2026-05-01T23:30", "2026-05-01T23:30", "2026-05-02T01:30:00", id="file"
        ),
        pytest.param("A.md", None, "9999-12-31", 0, "9999-12-31T00:00:00", id="far"),
    ],
)
def test_the_date_of_a_note(
    path: str, created: str | None, modified: str, file: str | int, date: str
) -> None:
    row = note(
        path,
        created=None if created is None else at(created),
        modified=at(modified),
        mtime_ns=int(at(file) * 1e9) if isinstance(file, str) else file,
    )
    assert date_label(row) == date


def test_a_time_that_is_none_is_the_first() -> None:
    assert date_label(note(created=1e300)) == "1970-01-01T00:00:00"
