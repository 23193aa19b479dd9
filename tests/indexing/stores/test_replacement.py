"""A new index takes the place of the old one, whoever dies meanwhile, and nothing of others."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from notehop.config.errors import IndexMissing, UsageError
from notehop.indexing import faults
from notehop.indexing.stores import replacement
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lock import WriterLock
from notehop.indexing.stores.reader import Reader
from notehop.indexing.stores.replacement import READY, finish_replacement, replace_index, settle
from tests.indexing.stores.index_samples import SampleIndex, record


class Killed(BaseException):
    """What no handler catches."""


@pytest.fixture
def replacing(index: SampleIndex) -> SampleIndex:
    """An index of one note, and beside it a new one of another."""
    index.write(record("old.md", "alpha"))
    SampleIndex(index.layout.next.root).write(record("new.md", "beta"))
    return index


def seen(layout: IndexLayout) -> list[str]:
    with Reader.open(layout) as reader, reader.snapshot() as snapshot:
        return snapshot.paths()


def die_at(number: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    passed: list[str] = []

    def hook(name: str) -> None:
        passed.append(name)
        if len(passed) == number:
            raise Killed

    monkeypatch.setattr(faults, "hook", hook)
    return passed


def test_the_new_index_stands_alone(replacing: SampleIndex) -> None:
    replace_index(replacing.layout)
    assert seen(replacing.layout) == ["new.md"]
    assert not replacing.layout.next.root.exists()
    assert not replacing.layout.replaced.root.exists()


def test_whoever_reads_after_a_crash_finishes_it(
    replacing: SampleIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = 0
    while True:
        number += 1
        with monkeypatch.context() as patch:
            passed = die_at(number, patch)
            try:
                replace_index(replacing.layout)
            except Killed:
                pass
            else:
                break
        assert seen(replacing.layout) == ["new.md"], passed
        assert not replacing.layout.lock_holder.exists()
        # The next exchange is of the same kind, from where this one ended.
        SampleIndex(replacing.layout.next.root).write(record("new.md", "beta"))
    assert number > 10


def test_one_that_dies_before_all_is_ready_leaves_the_old_index(replacing: SampleIndex) -> None:
    assert seen(replacing.layout) == ["old.md"]
    finish_replacement(replacing.layout)
    assert seen(replacing.layout) == ["old.md"]
    assert not replacing.layout.next.root.exists()


def test_a_reader_waits_for_an_exchange_under_way(replacing: SampleIndex) -> None:
    layout = replacing.layout
    writer = WriterLock(layout, "notehop index")
    writer.acquire()
    (layout.next.root / READY).touch()
    layout.catalog.rename(layout.root / "moved away")

    def finish() -> None:
        time.sleep(0.1)
        finish_replacement(layout)
        writer.release()

    thread = threading.Thread(target=finish)
    thread.start()
    assert seen(layout) == ["new.md"]
    thread.join()


def test_a_reader_does_not_wait_for_ever(
    replacing: SampleIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacement, "_PATIENCE", 0.05)
    layout = replacing.layout
    (layout.next.root / READY).touch()
    layout.catalog.rename(layout.root / "moved away")
    with WriterLock(layout, "notehop index"), pytest.raises(IndexMissing, match="notehop index"):
        seen(layout)


def test_where_nothing_is_exchanged_the_lock_is_not_asked_for(replacing: SampleIndex) -> None:
    with WriterLock(replacing.layout, "notehop index"):
        settle(replacing.layout)


def test_a_live_reader_goes_on_to_the_new_index(replacing: SampleIndex) -> None:
    with Reader.open(replacing.layout) as reader:
        replace_index(replacing.layout)
        with reader.snapshot() as snapshot:
            assert snapshot.paths() == ["new.md"]


def test_nothing_is_replaced_in_a_folder_that_is_no_index(replacing: SampleIndex) -> None:
    replacing.layout.marker.unlink()
    with pytest.raises(UsageError, match="nothing is replaced there"):
        replace_index(replacing.layout)
    assert replacing.layout.catalog.is_file()


@pytest.mark.parametrize("name", ["next", "replaced"])
def test_a_folder_of_somebody_else_is_left(index: SampleIndex, name: str) -> None:
    theirs: Path = index.layout.root / name / "thesis.doc"
    theirs.parent.mkdir()
    theirs.write_text("years of work")
    finish_replacement(index.layout)
    assert theirs.read_text() == "years of work"


def test_an_empty_folder_that_a_crash_left_is_removed(index: SampleIndex) -> None:
    index.layout.next.root.mkdir()
    finish_replacement(index.layout)
    assert not index.layout.next.root.exists()
