"""Processes that index or follow, whose memory ends with them, and how they end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from notehop.config.errors import IndexFailure
from notehop.indexing.stores.layout import IndexLayout

PROGRAM = (sys.executable, "-P", "-m", "notehop.indexing")
"""How another process of the index is started. -P: the folder that this process runs in, a vault
perhaps, is not where modules come from."""

_PATIENCE = 10.0  # seconds that a run has to end: a large commit takes a few


def index_program(
    vault: Path, layout: IndexLayout, config_file: Path | None = None, device: str | None = None
) -> list[str]:
    """The command line of a process that indexes a vault, and leads to the same index."""
    found = [*PROGRAM, str(vault), "--index-dir", str(layout.root)]
    if config_file is not None:
        found += ["--config", str(config_file)]
    return found if device is None else [*found, "--device", device]


def run_program(
    program: Sequence[str],
    stop: Callable[[], bool],
    told: Callable[[str], None] = lambda _: None,
    patience: float = _PATIENCE,
) -> None:
    """Run an indexer or a follower as :func:`run_to_its_end` does; what it has done by then stays.

    :raises IndexFailure: if it fails, with its last line, or cannot be started.
    """
    try:
        code, last = run_to_its_end(program, stop, told, patience)
    except OSError as exc:
        # No memory or no processes left, or Python itself is being replaced.
        raise IndexFailure(f"no process could be started ({exc.strerror or exc})") from exc
    if code and not stop():
        said = last if last.startswith("error: ") else f"exit code {code}: {last}"
        raise IndexFailure(said.removeprefix("error: ").removesuffix(": "))


def run_to_its_end(
    program: Sequence[str],
    stop: Callable[[], bool],
    told: Callable[[str], None] = lambda _: None,
    patience: float = 0.0,
) -> tuple[int, str]:
    """Run a process until it ends or ``stop`` says so; its exit code, and its last line on stderr.

    Its input ends then, as it does when this process is killed.

    :param stop: asked now and then.
    :param told: hears each line that it says, in a thread.
    :param patience: seconds that it has to end; then it is killed, which the next run makes good.
    :raises OSError: if it cannot be started.
    """
    last = ""

    def hear() -> None:
        nonlocal last
        assert process.stderr is not None
        for line in filter(None, map(str.rstrip, process.stderr)):
            last = line.strip()
            told(line)

    with subprocess.Popen(
        program,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    ) as process:
        # Read as it comes: a full pipe would hold the other process up.
        hearing = threading.Thread(target=hear, daemon=True)
        hearing.start()
        while process.poll() is None and not stop():
            time.sleep(0.1)
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
        hearing.join()
    return process.returncode, last


def when_input_ends(end: Callable[[], object]) -> None:
    """Call this when standard input ends, as it does when its writer ends in any way."""

    # Not through sys.stdin: its lock is held while it waits, and Python aborts where a thread holds
    # it at the end.
    source = sys.stdin.fileno()

    def read() -> None:
        # A terminal that is gone is an error: its end as well.
        with suppress(OSError):
            while os.read(source, 1_024):
                pass
        end()

    threading.Thread(target=read, name="notehop-input", daemon=True).start()
