"""How many notes changed since the index was made: a walk over names, sizes and times.

Touches: vault-read, index (reads).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from notehop.app.services.place import Place
from notehop.config.errors import NotehopError
from notehop.indexing.changes import Changes, changes_since, scan
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.reader import Reader

_log = logging.getLogger(__name__)

FRESH = 5.0
"""Seconds for which a count is taken as it is."""

WAIT = 0.3
"""Seconds that the first query waits for its count."""

BRIEFLY = 0.02
"""Seconds that later ones wait before they take the last count: the walk of a small vault."""


def pending_changes(place: Place, catalog: Catalog) -> Changes:
    """What the next index run would do: see :class:`notehop.indexing.changes.Changes`.

    :raises VaultError: if the vault cannot be listed.
    """
    settings = place.settings.vault
    return changes_since(catalog, scan(place.vault, settings), settings.max_note_bytes)


class PendingCount:
    """Counts in the background, so that a query on a large vault does not wait for the walk."""

    def __init__(
        self,
        count: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
        state: Callable[[], object] = lambda: None,
        wait: float = WAIT,
    ) -> None:
        """Count with ``count``, which may take its time, and may fail.

        :param wait: seconds that the first query waits for its count.
        :param state: says which state of the index it is now; a count of another one is dropped.
        """
        self._count = count
        self._clock = clock
        self._state = state
        self._wait = wait
        self._counted: object = None
        self._turn = threading.Lock()
        self._running: threading.Thread | None = None
        self._value: int | None = None
        self._at: float | None = None

    def begin(self) -> None:
        """Begin to count, unless the last count is fresh or one is under way."""
        state = self._state()
        with self._turn:
            if state != self._counted:
                # A count that is still under way is of the old state: it ends unheard.
                self._counted, self._value, self._at, self._running = state, None, None, None
            fresh = self._at is not None and self._clock() - self._at < FRESH
            if fresh or self._running is not None:
                return
            self._running = threading.Thread(target=self._run, name="notehop-scan", daemon=True)
            self._running.start()

    def value(self) -> int | None:
        """The last count of the index as it is now, begun if it has to be.

        None if the first is not ready in time, or the last could not be made.
        """
        self.begin()
        with self._turn:
            running, wait = self._running, self._wait if self._at is None else BRIEFLY
        if running is not None:
            running.join(wait)
        with self._turn:
            return self._value

    def _run(self) -> None:
        value: int | None = None
        try:
            value = self._count()
        except (NotehopError, OSError) as exc:
            # An answer does not fail because the vault could not be looked at: it says None.
            _log.debug("the changes are not counted: %s", exc)
        finally:
            with self._turn:
                if self._running is threading.current_thread():
                    self._value, self._at = value, self._clock()
                    self._running = None


def counter(place: Place, reader: Reader) -> PendingCount:
    """The count of one vault and of the index that a reader follows."""

    def count() -> int:
        return pending_changes(place, reader.catalog).pending

    return PendingCount(count, state=lambda: (reader.catalog, reader.generation))
