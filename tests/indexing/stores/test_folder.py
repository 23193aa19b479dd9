"""Where an index lives, that nothing else is removed with it, and that one process writes it."""

import errno
import json
import os
import socket
import threading
from pathlib import Path

import pytest

from tests.support.product import (
    IndexLayout,
    IndexLocked,
    IndexUnwritable,
    UsageError,
    WriterLock,
    index_dir_for,
)
from tests.support.tables import rows


@pytest.fixture
def layout(tmp_path: Path) -> IndexLayout:
    return IndexLayout(tmp_path / "index")


def test_one_writer_at_a_time_and_the_other_is_told_who(layout: IndexLayout) -> None:
    with WriterLock(layout, "notehop serve") as first:
        assert first.held
        second = WriterLock(layout, "notehop index")
        with pytest.raises(IndexLocked) as caught:
            second.acquire()
        said = str(caught.value)
        assert "notehop serve" in said
        assert f"process {os.getpid()} on {socket.gethostname()}" in said
        assert str(layout.root) in said
        assert not second.held
    with second:
        assert json.loads(layout.lock_holder.read_text())["command"] == "notehop index"
    assert not layout.lock_holder.exists()


@pytest.mark.parametrize("left", ["", "{", "[]", '{"pid": 1}'])
def test_the_lock_stands_whatever_the_note_beside_it_says(layout: IndexLayout, left: str) -> None:
    with WriterLock(layout, "notehop index"):
        layout.lock_holder.write_text(left)
        with pytest.raises(IndexLocked, match="another process"):
            WriterLock(layout, "notehop index").acquire()


def test_a_disk_without_locks_is_said_to_be_one(layout: IndexLayout, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(IndexUnwritable, match=r"\(No locks available\).*knows no locks.*--index-dir"):
        WriterLock(layout, "notehop index").acquire()


def test_one_who_waits_gets_it_after_a_moment(layout: IndexLayout) -> None:
    first = WriterLock(layout, "notehop, reading vectors")
    first.acquire()
    timer = threading.Timer(0.05, first.release)
    timer.start()
    with WriterLock(layout, "notehop index", patience=20.0) as second:
        assert second.held
    timer.join()


def test_every_way_to_write_a_vault_leads_to_one_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (tmp_path / "link").symlink_to(vault)
    monkeypatch.chdir(tmp_path)
    chosen = index_dir_for(vault)
    assert index_dir_for(Path("vault")) == chosen
    assert index_dir_for(tmp_path / "link") == chosen
    assert index_dir_for(vault / "sub" / "..") == chosen
    assert index_dir_for(tmp_path / "other" / "vault") != chosen


@pytest.mark.parametrize(("name", "start"), rows(__file__, "names_of_vaults_become_names_of_folders"))
def test_names_of_vaults_become_names_of_folders(tmp_path: Path, name: str, start: str) -> None:
    chosen = index_dir_for(tmp_path / name)
    assert chosen.name.startswith(start)
    assert len(chosen.name.encode()) < 255


def test_a_chosen_folder_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert index_dir_for(tmp_path / "vault", Path("index")) == tmp_path / "index"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert index_dir_for(tmp_path / "vault", Path("~/index")) == tmp_path / "index"


@pytest.mark.parametrize("inside", ["vault", "vault/.obsidian/index", "vault/a/../b", "elsewhere/index"])
def test_never_inside_the_vault(tmp_path: Path, inside: str) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (tmp_path / "elsewhere").symlink_to(vault)
    with pytest.raises(UsageError, match="inside the vault"):
        index_dir_for(vault, tmp_path / inside)


def test_a_folder_of_something_else_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    layout = IndexLayout(tmp_path)
    with pytest.raises(UsageError, match="not of an index"):
        layout.create(tmp_path / "vault")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_what_a_rebuild_leaves_is_removed_and_nothing_else(
    layout: IndexLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index of another vault may lie in the folder, and a file may be open somewhere."""
    layout.create(Path("vault"))
    layout.catalog_file.touch()
    work = IndexLayout(layout.root / "work")
    work.create(Path("other"))
    layout.beside().home.symlink_to(layout.root.parent)
    cut_off = layout.beside().home
    cut_off.mkdir()

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOTEMPTY, "Directory not empty")

    with monkeypatch.context() as patched:
        patched.setattr("os.rmdir", refuse)
        layout.remove_left_over()
    assert layout.left_over() == [cut_off]
    layout.current.write_text(cut_off.name)
    assert layout.left_over() == [layout.root / "catalog.sqlite"]
    layout.remove_left_over()
    assert layout.left_over() == []
    assert work.marker.is_file()
