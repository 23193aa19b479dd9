"""The state of an index, without a model."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.notes import built
from tests.support.product import (
    Batch,
    Catalog,
    IndexMissing,
    Place,
    RunRecord,
    WatcherLock,
    WriterLock,
    index_status,
    locate,
    note_status,
    show_status,
    write_run_record,
)

pytestmark = pytest.mark.model

RUN = RunRecord(
    started=1_700_000_000.0,
    ended=1_700_000_002.5,
    command="notehop index",
    generation=1,
    changed=1,
    embedded=3,
    seconds={"read": 0.5, "embed": 1.25, "store": 0.01, "total": 2.5},
)


@pytest.fixture
def place(indexed: tuple[Path, Path]) -> Place:
    return locate(indexed[0], index_dir=indexed[1])


def test_the_index(place: Place) -> None:
    told = index_status(place)
    assert told.notes == {"indexed": 4, "skipped": 1}
    assert [(one.path, "private" in one.reason) for one in told.skipped] == [
        ("people/Secret.md", True)
    ]
    assert told.links == {"excluded": 1, "resolved": 2, "unresolved": 1}
    assert (told.pending.read, told.pending.skip, told.pending.gone) == (0, 0, 0)
    assert told.made_with["model"] == "all-MiniLM-L6-v2"
    assert told.bytes > 0
    assert told.problem is None


def test_who_makes_the_first_index_is_told(vault: Path, tmp_path: Path) -> None:
    place = locate(vault, index_dir=tmp_path / "ix")
    place.layout.create(vault)
    with WriterLock(place.layout, "notehop index"), pytest.raises(IndexMissing) as caught:
        index_status(place)
    assert f"(process {os.getpid()} does so now: notehop index)" in str(caught.value)


def test_why_there_is_no_index_is_told(vault: Path, tmp_path: Path) -> None:
    place = locate(vault, index_dir=tmp_path / "ix")
    place.layout.create(vault)
    write_run_record(place.layout, replace(RUN, error="the disk is full"))
    with pytest.raises(IndexMissing, match=r"\(the run of .* failed: the disk is full\)"):
        index_status(place)


def test_age_and_the_last_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    write_run_record(place.layout, RUN)
    with Catalog.open(place.layout.catalog) as catalog:
        catalog.commit(Batch(meta={"written": time.time() - 3_700}))
    told = index_status(place)
    assert 3_600 < told.age < 4_000
    assert (told.last_run.embedded, told.last_run.seconds["embed"]) == (3, 1.25)
    show_status(told)
    shown = capsys.readouterr().out
    assert ", 1 hour ago, generation 2\n" in shown
    assert ", notehop index, 1 changed, 2.5 s (embed 1.2 s, read 0.5 s)\n" in shown


def test_who_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    with WriterLock(place.layout, "notehop index --watch"):
        told = index_status(place)
    assert (told.writer.pid, told.writer.command) == (os.getpid(), "notehop index --watch")
    show_status(told)
    assert f"  writing  notehop index --watch, process {os.getpid()} on" in capsys.readouterr().out


def test_who_follows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    (place.vault / "B.md").write_text("More.\n")
    watching = WatcherLock(place.layout, "notehop serve")
    watching.acquire()
    try:
        watching.write_state("following", checked=True)
        told = index_status(place)
        show_status(told)
        shown = capsys.readouterr().out
        watching.write_state("held", "900 of 1,000 notes are gone")
        show_status(index_status(place))
        held = capsys.readouterr().out
    finally:
        watching.release()
    assert told.watcher.checked > 0
    assert f"by notehop serve, process {os.getpid()}, since " in shown
    assert ": following\n" in shown
    # It takes the change in by itself; one that is held does not.
    assert "changed since: 1 to read\n" in shown
    assert "changed since: 1 to read; run: notehop index\n" in held
    assert "held: 900 of 1,000 notes are gone\n" in held


def test_settings_that_no_longer_fit_are_the_state(
    indexed: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    place = locate(indexed[0], index_dir=indexed[1], overrides={"chunking.max_tokens": 64})
    told = index_status(place)
    assert "settings name max_tokens 64" in told.problem
    show_status(told)
    shown = capsys.readouterr().out
    assert "up to date" not in shown
    assert told.problem in shown


def test_a_first_run_that_never_kept_anything_is_no_index(vault: Path, tmp_path: Path) -> None:
    place = locate(vault, index_dir=tmp_path / "ix")
    place.layout.catalog.parent.mkdir(parents=True)
    Catalog.open(place.layout.catalog, create=True).close()
    with pytest.raises(IndexMissing, match="nothing is indexed yet; run: notehop index"):
        index_status(place)
    with pytest.raises(IndexMissing, match="nothing is indexed yet; run: notehop index"):
        note_status(place, "Atlas")


def test_a_run_that_wrote_nothing_makes_an_index_no_younger(tmp_path: Path) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    with Catalog.open(place.layout.catalog) as catalog:
        catalog.commit(Batch(meta={"written": 1.6e9}))
    place.layout.catalog.touch()
    assert index_status(place).updated == 1.6e9
