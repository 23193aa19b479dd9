"""The writer lock: one at a time, and the others are told who."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
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


@pytest.mark.parametrize("left", ["", "{", "[]", '{"pid": 1}'])
def test_the_lock_stands_whatever_the_note_beside_it_says(layout: IndexLayout, left: str) -> None:
    with WriterLock(layout, "notehop index"):
        layout.lock_holder.write_text(left)
        with pytest.raises(IndexLocked, match="another process"):
            WriterLock(layout, "notehop index").acquire()


def test_the_lock_of_another_process_ends_with_it(layout: IndexLayout) -> None:
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from tests.support.product import IndexLayout, WriterLock\n"
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


FORKS = """
import os, sys
from pathlib import Path
from tests.support.product import IndexLayout, WriterLock

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


def test_one_who_waits_gets_it_after_a_moment(layout: IndexLayout) -> None:
    first = WriterLock(layout, "notehop, reading vectors")
    first.acquire()
    timer = threading.Timer(0.05, first.release)
    timer.start()
    with WriterLock(layout, "notehop index", patience=20.0) as second:
        assert second.held
    timer.join()
