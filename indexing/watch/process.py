"""How an index is made in a process of its own, which gives the memory of its model back."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
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
    *,
    by_input: bool = False,
) -> None:
    """Run an indexer or a follower until it ends or ``stop`` is set; what it has done by then stays.

    :param told: hears each line that it says, in a thread.
    :param patience: seconds that it has to end once ``stop`` is set; then it is killed, which the
        next run makes good.
    :param by_input: whether it ends in order when its input does; else it is told by a signal.
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
            # A follower ends with this pipe, so also when this process is killed.
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
        # If it has not ended by itself.
        if by_input and process.stdin is not None:
            process.stdin.close()
        else:
            process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
        hearing.join()
    if process.returncode and not stop.is_set():
        said = last if last.startswith("error: ") else f"exit code {process.returncode}: {last}"
        raise IndexFailure(said.removeprefix("error: ").removesuffix(": "))
