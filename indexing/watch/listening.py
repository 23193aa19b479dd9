"""Keeps reports of changes coming, and knows why where none come.

Touches: vault-read (names), threads.
"""

from __future__ import annotations

import threading
from pathlib import Path

from notehop.config.settings import WatchSettings
from notehop.indexing.watch.events import Reported, VaultEvents
from notehop.indexing.watch.looks import is_there
from notehop.indexing.watch.pace import TIMING, Timing


class Listening:
    """The reports of one vault, begun as often as it takes.

    ``deaf`` says why there are none though the vault is there; None while there are some.
    """

    def __init__(self, vault: Path, timing: Timing = TIMING) -> None:
        """Listen to nothing yet."""
        self._vault = vault
        self._timing = timing
        self._events: VaultEvents | None = None
        self.deaf: str | None = None

    @property
    def hears(self) -> bool:
        """Whether changes are reported."""
        return self._events is not None

    def begin(self, watch: WatchSettings) -> bool:
        """Begin unless it has, or the vault is not there.

        :returns: whether it tried: what happened before is not reported then.
        """
        if self._events is not None or not is_there(self._vault):
            return False
        self._events = VaultEvents(
            self._vault, settle_ms=watch.settle_ms, polling=watch.polling, timing=self._timing
        )
        self._events.start()
        if not self.check():
            self.deaf = None
        return True

    def check(self) -> bool:
        """Whether reports ended since this was asked last; ``deaf`` says why."""
        why = self._events and self._events.failure
        if why is None:
            return False
        self.end()
        self.deaf = None
        if is_there(self._vault):
            self.deaf = (
                f"the system does not report changes of the vault ({why}), so all of it is looked "
                "at now and then"
            )
        return True

    def take(self, timeout: float, stop: threading.Event) -> Reported:
        """What was reported since the last call; waits for something, up to ``timeout`` seconds.

        :param stop: ends the waiting where nothing can be reported.
        """
        if self._events is None:
            stop.wait(timeout)
            return Reported(frozenset())
        return self._events.take(timeout)

    def end(self) -> None:
        """Listen no more; a second time is nothing."""
        if self._events is not None:
            self._events.close()
            self._events = None
