"""A follower as a service: wired and run in this process, what runs beside it, and when it ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from notehop.config import load_settings
from notehop.config.errors import IndexLocked
from notehop.config.settings import EmbeddingSettings
from notehop.indexing.embed.embedder import Embedder
from notehop.indexing.embed.onnx_model import read_manifest
from notehop.indexing.pipeline import Indexer
from notehop.indexing.pipeline.models import LoadEmbedder, SmallOrBulk, TooMuchToEmbed
from notehop.indexing.process import index_program, run_program
from notehop.indexing.report import Update
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.watch.follower import Follower
from notehop.indexing.watch.state import WatcherLock

_STAND_BY = 2.0  # seconds between two looks at whether the process that follows has ended


def _small_changes() -> LoadEmbedder:
    """What loads the exported model, and raises TooMuchToEmbed: if there is none, or for much text."""
    kept: list[Embedder] = []

    def refuse(_: EmbeddingSettings) -> Embedder:
        raise TooMuchToEmbed

    def load(settings: EmbeddingSettings, folder: Path) -> Embedder:
        manifest = read_manifest(folder)
        if manifest is None or (manifest.reason is None and not manifest.is_sound(folder)):
            raise TooMuchToEmbed
        # It imports LlamaIndex, which a run that finds nothing changed does without.
        from notehop.indexing.embed.onnx_embedding import load_query

        kept[:] = [load_query(folder, settings)]
        return SmallOrBulk(kept[0], settings, refuse) if manifest.reason is None else kept[0]

    return load


def _tell(lock: WatcherLock, line: str) -> None:
    # Warnings and errors name notes and places, which a status must not tell everyone.
    if not line.startswith(("warning:", "error:")):
        lock.write_state("indexing", line)


def follow(
    vault: Path,
    layout: IndexLayout,
    command: str,
    notify: Callable[[Update | str], None],
    stop: threading.Event,
    *,
    config_file: Path | None = None,
    device: str | None = None,
    stand_by: bool = False,
) -> None:
    """Keep an index up to its vault until ``stop`` is set.

    :param command: what people know this process by.
    :param notify: takes each update, and what is in the way.
    :param device: where bulk embedding runs; None: as the settings say.
    :param stand_by: where another process follows already, take over when it ends.
    :raises IndexLocked: if another process follows, unless this one shall stand by.
    :raises SettingsError: naming the wrong setting.
    :raises IndexUnwritable: if the folder of the index cannot be written.
    """
    load, given = _small_changes(), {"embedding.device": device}

    def indexer() -> Indexer:
        settings = load_settings(vault=vault, config_file=config_file, overrides=given)
        return Indexer(vault, settings, layout, load=load, command=command)

    bulk = [*index_program(vault, layout, config_file, device), "--part-of", command]
    while not stop.is_set():
        now = indexer()
        layout.create(vault)
        lock = WatcherLock(layout, command)
        run_bulk = partial(run_program, bulk, stop.is_set, partial(_tell, lock))
        try:
            lock.acquire()
            Follower(now, lock, run_bulk, notify, indexer).run(stop)
        except IndexLocked:
            if not stand_by:
                raise
            stop.wait(_STAND_BY)
        finally:
            lock.release()


def stop_signal() -> threading.Event:
    """An event that SIGINT and SIGTERM set from now on."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop
