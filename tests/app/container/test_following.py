"""The process beside a server that follows its vault."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from notehop.app.container import following
from notehop.app.container.first_index import FirstIndex
from notehop.app.container.following import FollowerProcess
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


def test_a_large_change_is_embedded_on_the_device_that_was_asked_for(tmp_path: Path) -> None:
    place = place_of(tmp_path, {"a.md": "A."})
    told = following.index_arguments(place, tmp_path / "mine.toml", "cpu")
    assert told[-4:] == ["--config", str(tmp_path / "mine.toml"), "--device", "cpu"]
    assert "--device" not in following.index_arguments(place, None)


def test_one_that_cannot_be_started_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "FIRST_RETRY", 0.05)
    told: list[str] = []
    missing = (str(tmp_path / "no such program"),)
    place = place_of(tmp_path, {"a.md": "A."})
    with FollowerProcess(place, "notehop serve", told.append, program=missing):
        until(lambda: len(told) >= 2)
    assert told[0] == (
        "the index is not followed for 0 s: no process could be started (No such file or directory)"
    )


def test_who_cannot_be_told_is_no_reason_to_follow_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "FIRST_RETRY", 0.05)

    class Closed(list[str]):
        def append(self, said: str) -> None:
            raise BrokenPipeError(said)

    with process(tmp_path, ENDS, Closed()):
        until(lambda: starts(tmp_path) >= 3)


def test_code_that_lies_in_the_current_folder_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_of(tmp_path, {"a.md": "A."})
    (tmp_path / "argparse.py").write_text("open('ran', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    # It need not get far to show where its modules come from.
    odd = tmp_path / "no such file"
    with FollowerProcess(place, "notehop serve", told.append, config_file=odd):
        until(lambda: told)
    first = FirstIndex(place, config_file=odd)
    first.run()
    assert first.failure is not None
    assert "no such file" in first.failure
    assert not (tmp_path / "ran").exists()


def test_a_first_index_that_cannot_be_started_says_so(tmp_path: Path) -> None:
    place = place_of(tmp_path, {"a.md": "A."})
    first = FirstIndex(place, program=(str(tmp_path / "no such program"),))
    first.run()
    assert not first.running
    assert first.failure == "no process could be started (No such file or directory)"
