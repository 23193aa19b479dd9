"""How readers hear of commits in a PostgreSQL catalog: LISTEN, and a look every few seconds besides."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError

from notehop.config.errors import NotehopError
from notehop.indexing.stores.layout import ServerCatalog
from notehop.indexing.stores.served.postgres import engine_of

_log = logging.getLogger(__name__)

POLL = 5.0
"""Seconds after which readers look for a new generation, whatever they were told."""

_ROUND = 0.5
"""Seconds for which a thread waits at a time, before it looks whether it is to end."""


class CommitListener:
    """Calls ``look`` in a thread of its own when a generation was committed, until it is ended.

    The server tells of it; as it may not, or may be away, ``look`` is called every few seconds too.
    """

    def __init__(self, server: ServerCatalog, look: Callable[[], bool]) -> None:
        """Begin.

        :param look: whether to go on; errors of ours are passed over.
        """
        self._server = server
        self._look = look
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="notehop-commits", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """End, which may take a moment."""
        self._ended.set()
        if self._thread is not threading.current_thread():
            self._thread.join(4 * _ROUND)

    def _run(self) -> None:
        engine = engine_of(self._server, alone=True)
        # Not above: where the driver is not installed, that is said by whoever makes an engine.
        from psycopg import Error as DriverError

        looked = time.monotonic()
        while not self._ended.is_set():
            try:
                with engine.connect() as connection:
                    try:
                        for told in self._heard(connection):
                            if told or time.monotonic() - looked > POLL:
                                looked = time.monotonic()
                                self._call()
                    finally:
                        # Not given back as it is: it listens, or is lost.
                        connection.invalidate()
            except (SQLAlchemyError, DriverError, NotehopError):
                # Whoever asks is told; here it is tried again.
                self._ended.wait(1.0)
                if time.monotonic() - looked > POLL:
                    looked = time.monotonic()
                    self._call()
        engine.dispose()

    def _heard(self, connection: Connection) -> Iterator[bool]:
        """Whether a commit was told of, again and again until the end."""
        driver: Any = connection.connection.driver_connection
        driver.autocommit = True
        driver.execute(f'LISTEN "{self._server.schema}"')
        while not self._ended.is_set():
            yield bool(list(driver.notifies(timeout=_ROUND, stop_after=1)))

    def _call(self) -> None:
        try:
            if not self._look():
                self._ended.set()
        except NotehopError as exc:
            _log.debug("no look at what is new: %s", exc)
