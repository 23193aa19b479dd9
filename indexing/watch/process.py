"""Processes that index or follow, whose memory ends with them, and how they end."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
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
    stop: threading.Event,
    told: Callable[[str], None] = lambda _: None,
    patience: float = _PATIENCE,
) -> None:
    """Run an indexer or a follower until it ends or ``stop`` is set; what it has done by then stays.

    Its input ends then, as it does when this process is killed.

    :param told: hears each line that it says, in a thread.
    :param patience: seconds that it has to end; then it is killed, which the next run makes good.
    :raises IndexFailure: if it fails, with its last line, or cannot be started.
    """
    last = ""

    def hear() -> None:
        nonlocal last
        assert process.stderr is not None
        for line in filter(None, map(str.rstrip, process.stderr)):
            last = line.strip()
            told(line)

    try:
        process = subprocess.Popen(
            program,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as exc:
        # No memory or no processes left, or Python itself is being replaced.
        raise IndexFailure(f"no process could be started ({exc.strerror or exc})") from exc
    with process:
        # Read as it comes: a full pipe would hold the other process up.
        hearing = threading.Thread(target=hear, daemon=True)
        hearing.start()
        while process.poll() is None and not stop.wait(0.2):
            pass
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
        hearing.join()
    if process.returncode and not stop.is_set():
        said = last if last.startswith("error: ") else f"exit code {process.returncode}: {last}"
        raise IndexFailure(said.removeprefix("error: ").removesuffix(": "))


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
