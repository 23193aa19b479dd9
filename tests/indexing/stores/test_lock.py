"""The writer lock: one at a time, and the others are told who."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support.product import IndexLayout, IndexLocked, IndexUnwritable, WriterLock


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


def test_releasing_twice_is_nothing(layout: IndexLayout) -> None:
    lock = WriterLock(layout, "notehop index")
    lock.release()
    lock.acquire()
    lock.release()
    lock.release()
    assert not lock.held


def test_another_thread_may_release(layout: IndexLayout) -> None:
    lock = WriterLock(layout, "notehop index")
    lock.acquire()
    thread = threading.Thread(target=lock.release)
    thread.start()
    thread.join()
    with WriterLock(layout, "notehop index"):
        pass


@pytest.mark.parametrize("left", ["", "{", "[]", '{"pid": 1}'])
def test_the_lock_stands_whatever_the_note_beside_it_says(layout: IndexLayout, left: str) -> None:
    with WriterLock(layout, "notehop index"):
        layout.lock_holder.write_text(left)
        with pytest.raises(IndexLocked, match="another process"):
            WriterLock(layout, "notehop index").acquire()


def test_a_note_left_behind_holds_nobody_up(layout: IndexLayout) -> None:
    layout.root.mkdir()
    layout.lock_holder.write_text('{"pid": 1, "host": "h", "command": "c", "since": "s"}')
    with WriterLock(layout, "notehop index"):
        assert json.loads(layout.lock_holder.read_text())["pid"] == os.getpid()


def test_the_lock_of_another_process_ends_with_it(layout: IndexLayout) -> None:
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from notehop.indexing.stores.layout import IndexLayout\n"
        "from notehop.indexing.stores.lock import WriterLock\n"
        "lock = WriterLock(IndexLayout(Path(sys.argv[1])), 'notehop watch')\n"
        "lock.acquire()\n"
        "print('held', flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(layout.root)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        lock = WriterLock(layout, "notehop index")
        with pytest.raises(IndexLocked, match=f"notehop watch .process {child.pid} "):
            lock.acquire()
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    with lock:
        assert lock.held


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(IndexUnwritable, match="cannot be written"):
        WriterLock(IndexLayout(tmp_path / "file" / "index"), "notehop index").acquire()


def test_a_lock_whose_holder_cannot_be_told_is_not_taken(layout: IndexLayout) -> None:
    layout.lock_holder.mkdir(parents=True)
    with pytest.raises(IndexUnwritable):
        WriterLock(layout, "notehop index").acquire()
    layout.lock_holder.rmdir()
    with WriterLock(layout, "notehop index"):
        pass


def test_a_lock_file_that_is_deleted_while_held_lets_no_second_writer_in(
    layout: IndexLayout,
) -> None:
    with WriterLock(layout, "notehop serve"):
        layout.lock.unlink()
        second = WriterLock(layout, "notehop index")
        with pytest.raises(IndexLocked, match="notehop serve"):
            second.acquire()
        assert not second.held
    with second:
        assert second.held


def test_a_holder_that_was_killed_is_not_named(layout: IndexLayout) -> None:
    with WriterLock(layout, "notehop index"):
        # As if it had taken the lock and not yet said so, after another one that was killed.
        child = subprocess.Popen([sys.executable, "-c", ""])
        child.wait()
        says = {"host": socket.gethostname(), "pid": child.pid, "command": "c", "since": "s"}
        layout.lock_holder.write_text(json.dumps(says))
        with pytest.raises(IndexLocked, match="another process"):
            WriterLock(layout, "notehop index").acquire()


def test_a_holder_on_another_machine_is_named(layout: IndexLayout) -> None:
    with WriterLock(layout, "notehop index"):
        says = {"host": "elsewhere", "pid": 2**22 + 1, "command": "notehop serve", "since": "s"}
        layout.lock_holder.write_text(json.dumps(says))
        with pytest.raises(IndexLocked, match="process 4194305 on elsewhere"):
            WriterLock(layout, "notehop index").acquire()


FORKS = """
import os, sys
from pathlib import Path
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lock import WriterLock

layout = IndexLayout(Path(sys.argv[1]))
lock = WriterLock(layout, "notehop index")
lock.acquire()
if os.fork() == 0:
    lock.release()
    print("child", lock.held, layout.lock_holder.exists(), os.getpid(), flush=True)
    sys.stdin.read()
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_process_forked_meanwhile_neither_keeps_the_lock_nor_ends_it(layout: IndexLayout) -> None:
    script = FORKS + "sys.stdin.read(1)\nos._exit(0)\n"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(layout.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdin is not None
        said, held, told, child = parent.stdout.readline().split()
        assert (said, held, told) == ("child", "False", "True")
        with pytest.raises(IndexLocked, match=f"process {parent.pid} "):
            WriterLock(layout, "notehop index").acquire()
        parent.kill()
        parent.wait()
        os.kill(int(child), 0)
        with WriterLock(layout, "notehop index"):
            pass


def test_a_disk_without_locks_is_said_to_be_one(
    layout: IndexLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(
        IndexUnwritable, match=r"knows no locks \(No locks available\).*--index-dir"
    ):
        WriterLock(layout, "notehop index").acquire()


def test_a_folder_that_cannot_be_locked_leaves_the_lock_of_the_file(
    layout: IndexLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    real = fcntl.flock

    def refuse(handle: int, how: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EBADF, "Bad file descriptor")
        real(handle, how)

    monkeypatch.setattr(fcntl, "flock", refuse)
    with WriterLock(layout, "notehop serve"), pytest.raises(IndexLocked, match="notehop serve"):
        WriterLock(layout, "notehop index").acquire()


def test_one_who_waits_gets_it_after_a_moment(layout: IndexLayout) -> None:
    first = WriterLock(layout, "notehop, reading vectors")
    first.acquire()
    timer = threading.Timer(0.05, first.release)
    timer.start()
    with WriterLock(layout, "notehop index", patience=20.0) as second:
        assert second.held
    timer.join()


def test_a_disk_that_went_read_only_does_not_keep_the_lock(
    layout: IndexLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = WriterLock(layout, "notehop index")
    lock.acquire()

    def refuse(self: Path, **_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(self))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        lock.release()
    assert not lock.held
    with WriterLock(layout, "notehop index"):
        pass
