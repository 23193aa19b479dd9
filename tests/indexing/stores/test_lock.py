"""The writer lock: one at a time, and the others are told who."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from config.errors import IndexLocked, IndexUnwritable
from indexing.stores.layout import IndexLayout
from indexing.stores.lock import WriterLock


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
        "from indexing.stores.layout import IndexLayout\n"
        "from indexing.stores.lock import WriterLock\n"
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
