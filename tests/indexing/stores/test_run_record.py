"""The record of the last run: what is written is read; what goes wrong with it does not show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.replacement import replace_index
from notehop.indexing.stores.run_record import RunRecord, read_run_record, write_run_record

RECORD = RunRecord(
    started=1_700_000_000.25,
    ended=1_700_000_004.5,
    command="notehop index",
    generation=7,
    added=1,
    changed=2,
    moved=3,
    deleted=4,
    unchanged=5,
    embedded=6,
    seconds={"scan": 0.5, "total": 4.25},
)


@pytest.fixture
def layout(tmp_path: Path) -> IndexLayout:
    made = IndexLayout(tmp_path / "index")
    made.create(tmp_path / "vault")
    return made


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(RECORD, id="done"),
        pytest.param(replace(RECORD, error="disk full: 日記/a.md"), id="failed"),
        pytest.param(replace(RECORD, error="bad name \udcff.md"), id="half a character"),
    ],
)
def test_what_is_written_is_read(layout: IndexLayout, record: RunRecord) -> None:
    write_run_record(layout, replace(RECORD, generation=1))
    write_run_record(layout, record)
    assert read_run_record(layout) == record
    assert not list(layout.root.glob("*.new"))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(None, id="absent"),
        pytest.param("", id="empty"),
        pytest.param('{"started": 1.0, "ended"', id="half"),
        pytest.param('{"started": 1.0}', id="of another version"),
        pytest.param("[" * 100_000, id="nested"),
        pytest.param("[]", id="no record"),
    ],
)
def test_what_cannot_be_read_is_none(layout: IndexLayout, content: str | None) -> None:
    if content is not None:
        layout.run_record.write_text(content)
    assert read_run_record(layout) is None


def test_keys_of_a_later_version_are_passed_over(layout: IndexLayout) -> None:
    write_run_record(layout, RECORD)
    said = layout.run_record.read_text()
    layout.run_record.write_text(said.replace("{", '{"colour": "red",', 1))
    assert read_run_record(layout) == RECORD


def test_a_disk_that_refuses_is_passed_over(layout: IndexLayout) -> None:
    layout.run_record.with_suffix(".new").mkdir()
    write_run_record(layout, RECORD)
    assert read_run_record(layout) is None


def test_a_folder_of_something_else_gets_no_file(tmp_path: Path) -> None:
    write_run_record(IndexLayout(tmp_path), RECORD)
    assert not list(tmp_path.iterdir())


def test_a_rebuild_leaves_it_alone(layout: IndexLayout, tmp_path: Path) -> None:
    write_run_record(layout, RECORD)
    layout.next.create(tmp_path / "vault")
    write_run_record(layout.next, replace(RECORD, generation=1))
    replace_index(layout)
    assert read_run_record(layout) == RECORD
