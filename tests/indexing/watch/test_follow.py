"""How a follower starts other processes, ends, and gives way to another."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import product
from tests.support.product import follow_follow as follow

LONG = 30.0


def test_code_that_lies_in_the_current_folder_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "argparse.py").write_text("open('ran', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(product.IndexFailure):
        product.run_program([*product.PROGRAM, "--no-such-option"], threading.Event().is_set)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("sys.exit('error: no space; make some')", "^no space; make some$"),
        ("sys.stderr.write('MemoryError'); sys.exit(3)", "^exit code 3: MemoryError$"),
        ("os.kill(os.getpid(), 9)", "^exit code -9$"),
    ],
)
def test_the_end_of_a_process_is_told_with_its_reason(code: str, told: str) -> None:
    with pytest.raises(product.IndexFailure, match=told):
        product.run_program([sys.executable, "-c", f"import os, sys; {code}"], threading.Event().is_set)


def test_what_a_process_says_is_told_as_it_stands() -> None:
    told: list[str] = []
    with pytest.raises(product.IndexFailure, match=r"^exit code 1: ZeroDivisionError: division by zero$"):
        product.run_program([sys.executable, "-c", "1 / 0"], threading.Event().is_set, told.append)
    assert told[0] == "Traceback (most recent call last):"
    assert told[1].startswith("  File ")


WAITS = """
import sys, threading
from tests.support.product import stop_signal, when_input_ends
stop = stop_signal()
when_input_ends(stop.set)
print("ready", flush=True)
stop.wait()
"""


@pytest.mark.parametrize("end", [lambda p: p.send_signal(signal.SIGTERM), lambda p: p.stdin.close()])
def test_it_ends_in_order_by_a_signal_or_when_its_input_ends(
    end: Callable[[subprocess.Popen[bytes]], None],
) -> None:
    root = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen(
        [sys.executable, "-c", WAITS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=root,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"ready\n"
        end(process)
        # Its input is open still where it was told by a signal.
        assert process.wait(LONG) == 0
        assert process.stderr.read() == b""


def test_the_right_to_follow_goes_with_its_file(tmp_path: Path) -> None:
    layout = product.IndexLayout(tmp_path / "index")
    watching, other = product.WatcherLock(layout, "one"), product.WatcherLock(layout, "other")
    watching.acquire()
    watching.write_state("following")
    assert watching.held
    with pytest.raises(product.IndexLocked, match="one"):
        other.acquire(patience=0)
    layout.watch_lock.unlink()
    assert not watching.held
    other.acquire(patience=0)
    other.write_state("following")
    # What the other tells is left alone.
    watching.release()
    found = product.read_watch_state(layout)
    assert found is not None
    assert found.command == "other"
    other.release()


def test_one_that_follows_already_is_an_error_or_waited_for(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    layout = product.IndexLayout(tmp_path / "index")
    stop = threading.Event()
    what = vault, layout, "notehop serve", lambda _: None, stop
    watching = product.WatcherLock(layout, "other")
    watching.acquire()
    with pytest.raises(product.IndexLocked, match="other"):
        follow(*what)
    thread = threading.Thread(target=follow, args=what, kwargs={"stand_by": True})
    thread.start()
    stop.set()
    thread.join(LONG)
    assert not thread.is_alive()
    watching.release()


SLOW_TO_END = """
import sys, time
open(sys.argv[1], "a").close()
sys.stdin.read()
with open(sys.argv[1], "a") as file:
    file.write("told\\n")
time.sleep(float(sys.argv[2]))
"""


def stopped(tmp_path: Path, seconds: float, patience: float) -> tuple[int, float, float]:
    """Times that the process was told to end; processor time and time that waiting for it took."""
    script = tmp_path / "slow.py"
    script.write_text(SLOW_TO_END)
    log = tmp_path / "log"
    stop = threading.Event()

    def when_it_runs() -> None:
        while not log.exists():
            time.sleep(0.01)
        stop.set()

    threading.Thread(target=when_it_runs, daemon=True).start()
    busy, began = time.thread_time(), time.monotonic()
    product.run_program([sys.executable, str(script), str(log), str(seconds)], stop.is_set, patience=patience)
    return (len(log.read_text().splitlines()), time.thread_time() - busy, time.monotonic() - began)


def test_it_waits_for_the_process_without_work_and_tells_it_once(tmp_path: Path) -> None:
    told, busy, _ = stopped(tmp_path, 0.6, 30.0)
    assert told == 1
    assert busy < 0.3


def test_a_process_that_does_not_end_is_killed(tmp_path: Path) -> None:
    told, _, took = stopped(tmp_path, 60.0, 0.5)
    assert told == 1
    assert took < 30
