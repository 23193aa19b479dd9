"""Has written about notes what is missing while a vault is followed, beside the follower.

The follower never waits for a language model: this is a thread of its own, which begins when
nothing has changed for a while, and asks a model so many times an hour.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from notehop.config.errors import IndexFailure, IndexMissing, NotehopError
from notehop.indexing.enrich.enricher import SPENT_NOW, enrich
from notehop.indexing.enrich.store import EnrichmentStore
from notehop.indexing.pipeline import Indexer
from notehop.indexing.report import Update
from notehop.indexing.watch.follower import TooMuchToEmbed

QUIET = 5.0
"""Seconds without a change before anything is written: who types goes on typing."""

RETRY = 900.0
"""Seconds until what was left is tried again."""

_HOUR = 3_600.0


class BackgroundEnrichment:
    """Writes about notes in a thread of its own while it is entered."""

    def __init__(
        self, indexer: Callable[[], Indexer], warn: Callable[[str], None], quiet: float = QUIET
    ) -> None:
        """Touch nothing yet.

        :param indexer: one with the settings as they are now, of this thread's own.
        :param warn: takes why nothing is written, when that is news.
        """
        self._indexer = indexer
        self._warn = warn
        self._quiet = quiet
        self._changed = threading.Event()
        self._stop = threading.Event()
        self._last_warning: str | None = None
        self._thread = threading.Thread(target=self._run, name="notehop-enrichment", daemon=True)

    def __enter__(self) -> BackgroundEnrichment:
        self._changed.set()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End; a request under way is given up."""
        self._stop.set()
        self._changed.set()
        self._thread.join(QUIET)

    def index_changed(self) -> None:
        """Say that the index has changed."""
        self._changed.set()

    def _run(self) -> None:
        left = False
        while not self._stop.is_set():
            self._changed.wait(RETRY if left else None)
            self._changed.clear()
            while not self._stop.is_set() and self._changed.wait(self._quiet):
                self._changed.clear()
            if not self._stop.is_set():
                left = self._enrich()

    def _enrich(self) -> bool:
        """Write what is missing, as far as the hour goes; whether something is left."""
        try:
            indexer = self._indexer()
            done = enrich(
                indexer,
                lambda _: None,
                cancelled=self._stop.is_set,
                most_calls=_calls_left(indexer),
                redo=_redo_small(indexer),
            )
        except NotehopError as exc:
            self._warn_once(str(exc))
            return True
        if done is None:
            return False
        if not self._stop.is_set() and done.stopped not in (None, SPENT_NOW):
            self._warn_once(f"enrichment stopped: {done.stopped}")
        for warning in done.warnings:
            self._warn_once(warning)
        return bool(done.waiting or done.failed or done.warnings)

    def _warn_once(self, warning: str) -> None:
        if warning != self._last_warning:
            self._last_warning = warning
            self._warn(warning)


def _calls_left(indexer: Indexer) -> int:
    """Requests that are left of this hour."""
    wanted = indexer.settings.enrich
    if "llm" not in (wanted.summaries, wanted.headers):
        return 0
    try:
        with EnrichmentStore.reading(indexer.layout.enrichment) as store:
            return max(0, wanted.watch_calls - store.made_since(time.time() - _HOUR))
    except IndexMissing:
        return wanted.watch_calls


def _redo_small(indexer: Indexer) -> Callable[[Sequence[str]], Update]:
    """Index notes anew with the small model; what is too much for that is left to the next run."""

    def redo(paths: Sequence[str]) -> Update:
        try:
            return indexer.redo(paths)
        except TooMuchToEmbed as exc:
            raise IndexFailure("too many headers at once; run: notehop index") from exc

    return redo
