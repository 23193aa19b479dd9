"""The state of an index, without a model."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.notes import built
from tests.support.product import (
    Announcement,
    Batch,
    Catalog,
    IndexMissing,
    ModelError,
    Place,
    RunRecord,
    Watching,
    WriterLock,
    clear_lag,
    index_status,
    locate,
    note_lag,
    note_status,
    open_place,
    read_running,
    show_status,
    write_run_record,
)
from tests.support.real_index import real_index

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
    assert told.pending is not None
    assert (told.pending.read, told.pending.skip, told.pending.gone) == (0, 0, 0)
    assert told.made_with["model"] == "all-MiniLM-L6-v2"
    assert told.bytes > 0
    assert told.problem is None


def test_by_what_the_store_lags_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    note_lag(place.layout, {"chunks": ["one", "two"]}, {"links": ["three"]})
    told = index_status(place)
    assert told.chroma_lag == 3
    show_status(told)
    assert "  chroma   3 vectors behind: no search reads it" in capsys.readouterr().out
    clear_lag(place.layout)
    show_status(index_status(place))
    assert "behind" not in capsys.readouterr().out


def test_no_index(vault: Path, tmp_path: Path) -> None:
    with pytest.raises(IndexMissing, match="notehop index"):
        index_status(locate(vault, index_dir=tmp_path / "none"))


def test_which_server_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    with Announcement(place) as announcement:
        announcement.tell("http://127.0.0.1:8765")
        running = read_running(place.layout)
        told = index_status(place)
    assert told.server is not None
    assert (told.server.url, told.server.pid) == ("http://127.0.0.1:8765", os.getpid())
    assert running is not None
    assert running.token not in told.model_dump_json()
    show_status(told)
    assert f"  server   http://127.0.0.1:8765, process {os.getpid()}" in capsys.readouterr().out


def test_an_open_vault_tells_the_same(tmp_path: Path) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    with open_place(place) as vault:
        told = vault.status()
    assert told.model_dump(exclude={"age"}) == index_status(place).model_dump(exclude={"age"})


def test_settings_that_no_longer_fit_are_the_state(
    indexed: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    place = locate(indexed[0], index_dir=indexed[1], overrides={"chunking.max_tokens": 64})
    told = index_status(place)
    assert told.problem is not None
    assert "settings name max_tokens 64" in told.problem
    show_status(told)
    shown = capsys.readouterr().out
    assert "up to date" not in shown
    assert told.problem in shown


def test_a_model_that_is_gone_is_the_state(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_: object) -> None:
        raise ModelError("the model is gone")

    monkeypatch.setattr("notehop.app.container.status.wanted", gone)
    assert index_status(place).problem == "the model is gone"


def test_a_first_run_that_never_kept_anything_is_no_index(vault: Path, tmp_path: Path) -> None:
    place = locate(vault, index_dir=tmp_path / "ix")
    place.layout.catalog.parent.mkdir(parents=True)
    Catalog.open(place.layout.catalog, create=True).close()
    with pytest.raises(IndexMissing, match="nothing is indexed yet; run: notehop index"):
        index_status(place)
    with pytest.raises(IndexMissing, match="nothing is indexed yet; run: notehop index"):
        note_status(place, "Atlas")


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


def test_sizes_are_told_by_part(place: Place) -> None:
    told = index_status(place)
    assert sum(told.sizes.values()) == told.bytes
    assert all(told.sizes[part] > 0 for part in ("catalog", "vectors", "chroma", "lexical"))
    assert told.sizes["model"] > 80_000_000
    assert told.sizes["other"] < 100_000


def test_age_and_the_last_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    write_run_record(place.layout, RUN)
    with Catalog.open(place.layout.catalog) as catalog:
        catalog.commit(Batch(meta={"written": time.time() - 3_700}))
    told = index_status(place)
    assert 3_600 < told.age < 4_000
    assert told.last_run is not None
    assert (told.last_run.embedded, told.last_run.seconds["embed"]) == (3, 1.25)
    show_status(told)
    shown = capsys.readouterr().out
    assert ", 1 hour ago, generation 2\n" in shown
    assert ", notehop index, 1 changed, 2.5 s (embed 1.2 s, read 0.5 s)\n" in shown


def test_a_run_that_wrote_nothing_makes_an_index_no_younger(tmp_path: Path) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    with Catalog.open(place.layout.catalog) as catalog:
        catalog.commit(Batch(meta={"written": 1.6e9}))
    place.layout.catalog.touch()
    assert index_status(place).updated == 1.6e9


def test_a_run_that_failed_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    write_run_record(place.layout, replace(RUN, error="the disk is full"))
    show_status(index_status(place))
    assert "failed: the disk is full\n" in capsys.readouterr().out


def test_nobody_writes_or_follows(place: Place) -> None:
    told = index_status(place)
    assert (told.writer, told.watcher, told.server) == (None, None, None)


def test_who_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    with WriterLock(place.layout, "notehop index --watch"):
        told = index_status(place)
    assert told.writer is not None
    assert (told.writer.pid, told.writer.command) == (os.getpid(), "notehop index --watch")
    show_status(told)
    assert f"  writing  notehop index --watch, process {os.getpid()} on" in capsys.readouterr().out


def test_who_follows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    (place.vault / "B.md").write_text("More.\n")
    watching = Watching(place.layout, "notehop serve")
    watching.acquire()
    try:
        watching.tell("following", checked=True)
        told = index_status(place)
        show_status(told)
        shown = capsys.readouterr().out
        watching.tell("held", "900 of 1,000 notes are gone")
        show_status(index_status(place))
        held = capsys.readouterr().out
    finally:
        watching.release()
    assert told.watcher is not None
    assert told.watcher.checked > 0
    assert f"by notehop serve, process {os.getpid()}, since " in shown
    assert ": following\n" in shown
    # It takes the change in by itself; one that is held does not.
    assert "changed since: 1 to read\n" in shown
    assert "changed since: 1 to read; run: notehop index\n" in held
    assert "held: 900 of 1,000 notes are gone\n" in held


def test_files_that_are_no_part_of_the_vault_are_listed(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (vault / "gone\n  state.md").symlink_to("nowhere")
    place = real_index(vault, tmp_path / "ix")
    told = index_status(place)
    assert [(one.path, one.reason) for one in told.passed_over] == [
        ("gone\n  state.md", "symbolic link that leads nowhere")
    ]
    show_status(told)
    shown = capsys.readouterr().out
    assert "\nPassed over  1\n  gone␊  state.md  symbolic link that leads nowhere\n" in shown


def test_an_index_that_tells_no_problems(place: Place) -> None:
    assert index_status(place).passed_over == []
