"""Has written about notes what is missing while a vault is followed, beside the follower.

The follower never waits for a language model: this is a thread of its own, which begins when
nothing has changed for a while, and asks a model so many times an hour.

Touches: vault-read, index, model, network (through :mod:`notehop.indexing.llm`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from notehop.config.errors import IndexFailure, NotehopError
from notehop.indexing.enrich.enricher import enrich
from notehop.indexing.enrich.store import EnrichmentStore
from notehop.indexing.pipeline import Indexer
from notehop.indexing.report import Update
from notehop.indexing.watch.follower import Bulky

QUIET = 5.0
"""Seconds without a change before anything is written: who types goes on typing."""

AGAIN = 900.0
"""Seconds until what was left is tried again."""

_HOUR = 3_600.0


class Enriching:
    """Writes about notes in a thread of its own while it is entered."""

    def __init__(
        self, indexer: Callable[[], Indexer], told: Callable[[str], None], quiet: float = QUIET
    ) -> None:
        """Touch nothing yet.

        :param indexer: one with the settings as they are now, of this thread's own.
        :param told: hears why nothing is written, when that is news.
        """
        self._indexer = indexer
        self._told = told
        self._quiet = quiet
        self._changed = threading.Event()
        self._stop = threading.Event()
        self._said: str | None = None
        self._thread = threading.Thread(target=self._run, name="notehop-enriching", daemon=True)

    def __enter__(self) -> Enriching:
        self._changed.set()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End; a request under way is given up."""
        self._stop.set()
        self._changed.set()
        self._thread.join(QUIET)

    def wrote(self) -> None:
        """Say that the index has changed."""
        self._changed.set()

    def _run(self) -> None:
        left = False
        while not self._stop.is_set():
            self._changed.wait(AGAIN if left else None)
            self._changed.clear()
            while not self._stop.is_set() and self._changed.wait(self._quiet):
                self._changed.clear()
            if not self._stop.is_set():
                left = self._once()

    def _once(self) -> bool:
        """Write what is missing, as far as the hour goes; whether something is left."""
        try:
            indexer = self._indexer()
            done = enrich(
                indexer,
                lambda _: None,
                cancelled=self._stop.is_set,
                most_calls=_allowance(indexer),
                redo=_patient(indexer),
            )
        except NotehopError as exc:
            self._tell(str(exc))
            return True
        if done is None:
            return False
        # Imported late: whoever has nothing written pays nothing for it.
        from notehop.indexing.enrich.enricher import SPENT_NOW

        ended = self._stop.is_set() or done.stopped in (None, SPENT_NOW)
        if not ended:
            self._tell(f"enrichment stopped: {done.stopped}")
        for warning in done.warnings:
            self._tell(warning)
        return bool(done.waiting or done.failed or done.warnings)

    def _tell(self, what: str) -> None:
        if what != self._said:
            self._said = what
            self._told(what)


def _allowance(indexer: Indexer) -> int:
    """Requests that are left of this hour."""
    asked = indexer.settings.enrich
    if "llm" not in (asked.summaries, asked.headers):
        return 0
    store = EnrichmentStore.reading(indexer.layout.enrichment)
    if store is None:
        return asked.watch_calls
    with store:
        return max(0, asked.watch_calls - store.made_since(time.time() - _HOUR))


def _patient(indexer: Indexer) -> Callable[[Sequence[str]], Update]:
    """Index notes anew with the small model; what is too much for that is left to the next run."""

    def redo(paths: Sequence[str]) -> Update:
        try:
            return indexer.redo(paths)
        except Bulky as exc:
            raise IndexFailure("too many headers at once; run: notehop index") from exc

    return redo
