"""A vault that is opened when it is first needed, and indexed meanwhile if it never was.

For a process that has to answer at once, long before it could have loaded anything.

Touches: index, model, processes (the first index and the follower run in their own).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from notehop.app.services.place import Place
from notehop.config.errors import IndexMissing, NotehopError

if TYPE_CHECKING:
    from notehop.app.services.first_index import FirstIndex
    from notehop.app.services.handle import VaultHandle

_log = logging.getLogger(__name__)

LOOKING = 10.0
"""Seconds that a look at whether there is an index may take, before nobody waits for it."""


class LateVault:
    """The vault at a place. Threads may share it."""

    def __init__(
        self,
        place: Place,
        command: str,
        *,
        config_file: Path | None = None,
        open_place: Callable[[Place], VaultHandle] | None = None,
    ) -> None:
        """Do nothing yet.

        :param command: what people know this process by.
        :param open_place: None for :func:`notehop.app.services.opening.open_place`.
        """
        self.place = place
        self._command = command
        self._config_file = config_file
        self._open_place = open_place or _open_place
        self._opening = threading.Lock()
        self._opened: VaultHandle | None = None
        self._first: FirstIndex | None = None
        # Whether there is an index at all is soon known, and changes what a client is told.
        self._looked = threading.Event()
        self._looked.set()
        # Not left again: the follower ends with this process.
        self._held = ExitStack()

    @property
    def opened(self) -> bool:
        """Whether :meth:`open` takes no time."""
        return self._opened is not None

    def open(self) -> VaultHandle:
        """The vault, opened.

        :raises IndexMissing: if there is no index, saying how far the making of it is, or what
            makes it.
        :raises NotehopError: as :func:`notehop.app.services.opening.open_place`.
        """
        self._looked.wait(LOOKING)
        with self._opening:
            if self._opened is None:
                first = self._first
                if first is not None and first.running:
                    raise IndexMissing(
                        f"{self.place.name} is being indexed for the first time ({first.said}); "
                        "ask again in a minute"
                    )
                try:
                    self._opened = self._open_place(self.place)
                except IndexMissing as exc:
                    if first is not None and first.failure is not None:
                        raise IndexMissing(f"{exc}; it failed here: {first.failure}") from exc
                    raise
            return self._opened

    def follow(self) -> None:
        """Have the index kept up to the vault by another process, which ends with this one.

        If there is none yet, one is made first.
        """
        self._looked.clear()
        threading.Thread(target=self._keep, name="notehop-keeper", daemon=True).start()

    def _keep(self) -> None:
        # Here and not above: it brings the database.
        from notehop.app.services.first_index import FirstIndex, has_index
        from notehop.app.services.following import FollowerProcess

        try:
            try:
                if not has_index(self.place):
                    self._first = FirstIndex(
                        self.place, command=self._command, config_file=self._config_file
                    )
            finally:
                self._looked.set()
            if self._first is not None:
                self._first.run()
            follower = FollowerProcess(
                self.place, self._command, _log.warning, config_file=self._config_file
            )
            self._held.enter_context(follower)
        except NotehopError as exc:
            _log.error("the index is not followed: %s", exc)

    def stop(self) -> None:
        """End a first index that is being made; the next one goes on where it was."""
        if self._first is not None:
            self._first.stop()


def _open_place(place: Place) -> VaultHandle:
    # Here and not above: it brings all that a query needs.
    from notehop.app.services.opening import open_place

    return open_place(place)
