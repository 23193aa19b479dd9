"""Who writes an index now: told by the lock, not by what a writer left behind."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lock import WriterLock
from notehop.indexing.stores.lock_holder import read_holder


@pytest.fixture
def layout(tmp_path: Path) -> IndexLayout:
    made = IndexLayout(tmp_path / "index")
    made.create(tmp_path / "vault")
    return made


def test_nobody(layout: IndexLayout) -> None:
    assert read_holder(layout) is None
    assert not layout.lock.exists()


def test_no_folder_is_made(tmp_path: Path) -> None:
    assert read_holder(IndexLayout(tmp_path / "none")) is None
    assert not (tmp_path / "none").exists()


def test_a_writer(layout: IndexLayout) -> None:
    with WriterLock(layout, "notehop index"):
        holder = read_holder(layout)
    assert holder is not None
    assert (holder.pid, holder.command) == (os.getpid(), "notehop index")
    assert read_holder(layout) is None


def test_a_writer_that_died_is_nobody(layout: IndexLayout) -> None:
    said = {"pid": os.getpid(), "host": "here", "command": "notehop index", "since": "2026-01-01"}
    layout.lock_holder.write_text(json.dumps(said))
    assert read_holder(layout) is None
    with WriterLock(layout, "notehop index"):
        pass


@pytest.mark.parametrize("note", ["", "{", "[]", '{"pid": "x"}'])
def test_a_note_that_cannot_be_read_names_nobody(layout: IndexLayout, note: str) -> None:
    layout.lock_holder.write_text(note)
    assert read_holder(layout) is None
