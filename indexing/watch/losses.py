"""How many notes an index lost in the last minutes: a disk may lose a vault folder by folder."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from notehop.indexing.stores.run_record import LATELY

WINDOW = LATELY
"""Seconds that deletions count together."""


class Losses:
    """Notes deleted, less those added since, by the updates of the last :data:`WINDOW` seconds.

    What went here and comes there is so no loss. Notes added before make no room for deletions: a
    vault that was just filled may be lost like any other.

    :param steady: seconds that never go back.
    """

    def __init__(self, steady: Callable[[], float] = time.monotonic) -> None:
        self._steady = steady
        self._known: deque[tuple[float, int]] = deque()
        self._held = False

    def add(self, deleted: int, added: int) -> None:
        """Count an update that was done; one that was held until now was meant, and ends it."""
        if self._held:
            self.forget()
        elif deleted != added:
            self._known.append((self._steady(), deleted - added))

    def count(self) -> int:
        """The loss so far; while deletions are held, it does not go down with time."""
        if not self._held:
            since = self._steady() - WINDOW
            while self._known and self._known[0][0] < since:
                self._known.popleft()
        lost = 0
        for _, more in self._known:
            lost = max(0, lost + more)
        return lost

    def hold(self) -> None:
        """A further deletion was refused, and waits for a person."""
        self._held = True

    def forget(self) -> None:
        """Begin anew."""
        self._known.clear()
        self._held = False
