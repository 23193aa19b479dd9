"""A follower as a service: wired and run in this process, what it says, and when it ends.

Touches: vault-read, index, model, processes, signals, standard input, terminal.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import TextIO

from notehop.config import Settings
from notehop.config.errors import IndexFailure, IndexLocked
from notehop.indexing.pipeline import Indexer
from notehop.indexing.program import PROGRAM
from notehop.indexing.report import Report, Update
from notehop.indexing.shown import on_one_line, printable
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.watch.doors import LightDoor
from notehop.indexing.watch.enriching import Enriching
from notehop.indexing.watch.follower import Follower
from notehop.indexing.watch.state import Watching

_PATIENCE = 10.0
"""Seconds that a run has to end: a large commit takes a few."""

_STAND_BY = 2.0
"""Seconds between two looks at whether the process that follows has ended."""


@dataclass(frozen=True, slots=True)
class Following:
    """What is followed, and how.

    ``command`` is what people know this process by. ``settings`` reads the settings as they are
    now. ``arguments`` are those of ``program`` that lead to the same index: a change too large for
    this process is indexed by one of its own.
    """

    vault: Path
    layout: IndexLayout
    settings: Callable[[], Settings]
    command: str
    arguments: Sequence[str]
    told: Callable[[Update | str], None]
    program: Sequence[str] = PROGRAM


def follow(what: Following, stop: threading.Event, *, stand_by: bool = False) -> None:
    """Keep an index up to its vault until ``stop`` is set.

    :param stand_by: where another process follows already, take over when it ends.
    :raises IndexLocked: if another process follows, unless this one shall stand by.
    :raises SettingsError: naming the wrong setting.
    :raises IndexUnwritable: if the folder of the index cannot be written.
    """
    door = LightDoor()

    def indexer() -> Indexer:
        return Indexer(what.vault, what.settings(), what.layout, load=door, command=what.command)

    own = LightDoor()

    def enricher() -> Indexer:
        return Indexer(what.vault, what.settings(), what.layout, load=own, command=what.command)

    first = indexer()
    what.layout.create(what.vault)
    while not stop.is_set():
        # Anew each time: since when this process follows is part of what is told.
        watching = Watching(what.layout, what.command)
        try:
            watching.acquire()
            with Enriching(enricher, what.told) as enriching:

                def told(said: Update | str, enriching: Enriching = enriching) -> None:
                    enriching.wrote()
                    what.told(said)

                Follower(first, watching, lambda: _index(what, stop), told, indexer).run(stop)
        except IndexLocked:
            # Before it began, or because the index was deleted and another was quicker.
            if not stand_by:
                raise
            stop.wait(_STAND_BY)
            first = indexer()
        finally:
            watching.release()


def _index(what: Following, stop: threading.Event, patience: float = _PATIENCE) -> None:
    """Run the indexer in a process of its own, which gives the memory of its model back.

    :param patience: seconds that it has to end once ``stop`` is set; then it is killed, which the
        next run makes good.
    :raises IndexFailure: if it fails, with what it said, or cannot be started.
    """
    try:
        process = subprocess.Popen(
            [*what.program, *what.arguments, "--part-of", what.command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as exc:
        raise IndexFailure(
            f"no process for many changes could be started ({exc.strerror or exc})"
        ) from exc
    with process:
        said: list[str] = []
        # Read as it comes: a full pipe would hold the other process up.
        assert process.stderr is not None
        lines = threading.Thread(target=said.extend, args=(process.stderr,), daemon=True)
        lines.start()
        while process.poll() is None and not stop.wait(0.1):
            pass
        _end(process, patience)
        lines.join()
    if process.returncode and not stop.is_set():
        last = next((line for line in reversed(said) if line.strip()), "it said nothing")
        raise IndexFailure(last.strip().removeprefix("error: "))


def _end(process: subprocess.Popen[str], patience: float) -> None:
    """End a process, if it has not ended by itself."""
    process.terminate()
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set for the length of the block."""
    stop = threading.Event()

    def end(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        stop.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def when_input_ends(stop: threading.Event) -> None:
    """Set the event when standard input ends, as it does when its writer ends in any way."""

    # Not through sys.stdin: its lock is held while it waits, and Python aborts where a thread holds
    # it at the end.
    source = sys.stdin.fileno()

    def read() -> None:
        # A terminal that is gone is an error: its end as well.
        with suppress(OSError):
            while os.read(source, 1_024):
                pass
        stop.set()

    threading.Thread(target=read, name="notehop-input", daemon=True).start()


def line_teller(stream: TextIO) -> Callable[[Update | str], None]:
    """Say it to people."""

    def told(what: Update | str) -> None:
        text = update_line(what) if isinstance(what, Update) else what
        clock = time.strftime("%H:%M:%S")
        stream.write(f"{clock} {printable(on_one_line(text))}\n")
        stream.flush()

    return told


def json_teller(stream: TextIO) -> Callable[[Update | str], None]:
    """Say it to programs: ``{"update": {…}}`` or ``{"message": "…"}``."""

    def told(what: Update | str) -> None:
        said = {"update": asdict(what)} if isinstance(what, Update) else {"message": what}
        stream.write(json.dumps(said, ensure_ascii=False) + "\n")
        stream.flush()

    return told


def report_line(stream: TextIO, report: Report) -> None:
    """Say to programs what the run came to that a follower began with: ``{"report": {…}}``."""
    stream.write(json.dumps({"report": report.as_json()}, ensure_ascii=False) + "\n")
    stream.flush()


def update_line(update: Update) -> str:
    """``1 changed, 2 moved: 120 notes, generation 7, in 0.12 s``."""
    counts = {
        "added": update.added,
        "changed": update.changed,
        "moved": update.moved,
        "deleted": update.deleted,
    }
    did = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return (
        f"{did or 'files looked at'}: {update.notes:,} notes, generation {update.generation}, "
        f"in {update.seconds.get('total', 0.0):.2f} s"
    )
