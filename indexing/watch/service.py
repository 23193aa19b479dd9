"""A follower as a service: wired and run in this process, its output, and when it ends."""

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
from notehop.config.settings import EmbeddingSettings
from notehop.indexing.embed.embedder import Embedder
from notehop.indexing.embed.onnx_model import MANIFEST_FILE, read_manifest
from notehop.indexing.pipeline import Indexer
from notehop.indexing.pipeline.models import SmallOrBulk, small_change
from notehop.indexing.report import Report, Update
from notehop.indexing.shown import on_one_line, printable
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.watch.enrichment import BackgroundEnrichment
from notehop.indexing.watch.follower import Follower, TooMuchToEmbed
from notehop.indexing.watch.state import PROGRAM, WatcherLock

_PATIENCE = 10.0
"""Seconds that a run has to end: a large commit takes a few."""

_STAND_BY = 2.0
"""Seconds between two looks at whether the process that follows has ended."""


@dataclass(frozen=True, slots=True)
class Following:
    """What is followed, and how.

    ``command`` is what people know this process by. ``settings`` reads the settings as they are
    now. ``arguments`` are those of ``program`` that lead to the same index: a change too large for
    this process is indexed by one of its own. ``notify`` takes each update and what is in the way.
    """

    vault: Path
    layout: IndexLayout
    settings: Callable[[], Settings]
    command: str
    arguments: Sequence[str]
    notify: Callable[[Update | str], None]
    program: Sequence[str] = PROGRAM

    def indexer(self, load: QueryModelCache) -> Indexer:
        """One with the settings as they are now."""
        return Indexer(self.vault, self.settings(), self.layout, load=load, command=self.command)


class QueryModelCache:
    """Loads the exported model once, and again when it was made anew.

    A model that has no such export is loaded with torch, and kept.
    """

    def __init__(self) -> None:
        self._kept: tuple[object, Embedder] | None = None

    def __call__(self, settings: EmbeddingSettings, folder: Path) -> Embedder:
        """The model.

        :raises TooMuchToEmbed: if nothing was exported yet; and from ``embed``, for more than a
            small change.
        :raises ModelError: if the model is missing or does not load.
        """
        manifest = read_manifest(folder)
        if manifest is None or (manifest.reason is None and not manifest.is_whole(folder)):
            raise TooMuchToEmbed
        made = (folder / MANIFEST_FILE).stat()
        key = (settings, made.st_ino, made.st_mtime_ns)
        if self._kept is None or self._kept[0] != key:
            # It imports LlamaIndex, which a run that finds nothing changed does without.
            from notehop.indexing.embed.onnx_embedding import load_query

            model: Embedder = load_query(folder, settings)
            if manifest.reason is None:
                model = SmallOrBulk(model, _refuse, small_change(settings))
            self._kept = key, model
        return self._kept[1]


def _refuse() -> Embedder:
    raise TooMuchToEmbed


def follow(what: Following, stop: threading.Event, *, stand_by: bool = False) -> None:
    """Keep an index up to its vault until ``stop`` is set.

    :param stand_by: where another process follows already, take over when it ends.
    :raises IndexLocked: if another process follows, unless this one shall stand by.
    :raises SettingsError: naming the wrong setting.
    :raises IndexUnwritable: if the folder of the index cannot be written.
    """
    model, model_of_enrichment = QueryModelCache(), QueryModelCache()
    first = what.indexer(model)
    what.layout.create(what.vault)
    while not stop.is_set():
        # Anew each time: since when this process follows is part of its state.
        lock = WatcherLock(what.layout, what.command)
        try:
            lock.acquire()
            with BackgroundEnrichment(
                lambda: what.indexer(model_of_enrichment), what.notify
            ) as enrichment:

                def notify(
                    news: Update | str, enrichment: BackgroundEnrichment = enrichment
                ) -> None:
                    enrichment.index_changed()
                    what.notify(news)

                Follower(
                    first,
                    lock,
                    lambda: run_bulk(what, stop),
                    notify,
                    lambda: what.indexer(model),
                ).run(stop)
        except IndexLocked:
            # Before it began, or because the index was deleted and another was quicker.
            if not stand_by:
                raise
            stop.wait(_STAND_BY)
            first = what.indexer(model)
        finally:
            lock.release()


def run_bulk(what: Following, stop: threading.Event, patience: float = _PATIENCE) -> None:
    """Run the indexer in a process of its own, which gives the memory of its model back.

    :param patience: seconds that it has to end once ``stop`` is set; then it is killed, which the
        next run makes good.
    :raises IndexFailure: if it fails, with its last line, or cannot be started.
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
        errors: list[str] = []
        # Read as it comes: a full pipe would hold the other process up.
        assert process.stderr is not None
        reading = threading.Thread(target=errors.extend, args=(process.stderr,), daemon=True)
        reading.start()
        while process.poll() is None and not stop.wait(0.1):
            pass
        _end(process, patience)
        reading.join()
    if process.returncode and not stop.is_set():
        last = next((line for line in reversed(errors) if line.strip()), "it said nothing")
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


def write_lines(stream: TextIO) -> Callable[[Update | str], None]:
    """Write updates and messages for people."""

    def write(news: Update | str) -> None:
        text = update_line(news) if isinstance(news, Update) else news
        stream.write(f"{time.strftime('%H:%M:%S')} {printable(on_one_line(text))}\n")
        stream.flush()

    return write


def write_json_lines(stream: TextIO) -> Callable[[Update | str], None]:
    """Write them for programs: ``{"update": {…}}`` or ``{"message": "…"}``."""

    def write(news: Update | str) -> None:
        payload = {"update": asdict(news)} if isinstance(news, Update) else {"message": news}
        stream.write(json.dumps(payload, ensure_ascii=False) + "\n")
        stream.flush()

    return write


def write_report(stream: TextIO, report: Report) -> None:
    """Write for programs what the run came to that a follower began with: ``{"report": {…}}``."""
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
