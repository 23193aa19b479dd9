"""A follower that is told to stop while a process of its own indexes much."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from tests.support.product import run_program

SLOW_TO_END = """
import signal, sys, time
def told(*_):
    with open(sys.argv[1], "a") as file:
        file.write("told\\n")
signal.signal(signal.SIGTERM, told)
open(sys.argv[1], "a").close()
until = time.monotonic() + float(sys.argv[2])
while time.monotonic() < until:
    time.sleep(0.01)
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
    run_program([sys.executable, str(script), str(log), str(seconds)], stop, patience=patience)
    return (len(log.read_text().splitlines()), time.thread_time() - busy, time.monotonic() - began)


def test_it_waits_for_the_process_without_work_and_tells_it_once(tmp_path: Path) -> None:
    told, busy, _ = stopped(tmp_path, 2.0, 30.0)
    assert told == 1
    assert busy < 0.3


def test_a_process_that_does_not_end_is_killed(tmp_path: Path) -> None:
    told, _, took = stopped(tmp_path, 60.0, 0.5)
    assert told == 1
    assert took < 30
