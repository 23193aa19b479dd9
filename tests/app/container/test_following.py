"""The process beside a server that follows its vault."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.container import following
from app.container.following import FollowerProcess
from tests.app.container.built import place_of

LONG = 20.0

WAITS = "import sys\nopen(sys.argv[1] + '.pid', 'a').write('x')\nsys.stdin.buffer.read()\n"
ENDS = "import sys\nopen(sys.argv[1] + '.pid', 'a').write('x')\nsys.exit(3)\n"


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def process(folder: Path, script: str, told: list[str]) -> FollowerProcess:
    place = place_of(folder, {"a.md": "A."})
    (folder / "script.py").write_text(script)
    program = (sys.executable, str(folder / "script.py"), str(folder / "started"))
    return FollowerProcess(place, "notehop serve", told.append, program=program)


def starts(folder: Path) -> int:
    path = folder / "started.pid"
    return len(path.read_text()) if path.exists() else 0


def test_it_ends_with_the_block(tmp_path: Path) -> None:
    told: list[str] = []
    with process(tmp_path, WAITS, told) as follower:
        until(lambda: starts(tmp_path) == 1)
        assert follower._process is not None
        pid = follower._process.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert told == []


def test_it_is_started_again_when_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "FIRST_RETRY", 0.05)
    told: list[str] = []
    with process(tmp_path, ENDS, told):
        until(lambda: starts(tmp_path) >= 3)
    assert told[0] == "the index is not followed for 0 s: its process ended (3)"


def test_one_that_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "ENDING", 0.2)
    stubborn = WAITS + "import time\ntime.sleep(600)\n"
    with process(tmp_path, stubborn, []) as follower:
        until(lambda: starts(tmp_path) == 1)
    assert follower._process is not None
    assert follower._process.returncode not in (None, 0)
