"""The writer lock of an index on a PostgreSQL server: a session that lasts, and writes."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError

from notehop.config.errors import IndexLocked, NotehopError
from notehop.indexing.stores.layout import ServerCatalog
from notehop.indexing.stores.model import Holder
from notehop.indexing.stores.served.postgres import engine_of, is_lost, lock_key, patiently

_KEEPALIVE = (
    "SET tcp_keepalives_idle = 20; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3"
)
"""The lock of a machine that went without a word ends within a minute."""

_TAKEN_AGAIN = 8.0
"""Seconds that a lock is waited for which was lost: the server may not have noticed yet."""

_HOLDER = re.compile(r"(?P<pid>\d+)@(?P<host>\S+) (?P<command>.+)", re.DOTALL)


class LockSession:
    """Holds the writer lock of an index on its server, as long as its connection lasts.

    Who holds it also writes through it, so that nothing is written without the lock.
    """

    def __init__(self, server: ServerCatalog, holder: str) -> None:
        self._server = server
        self._holder = f"{os.getpid()}@{socket.gethostname()[:24]} {holder}"[:63]
        self._engine = engine_of(server, alone=True)
        self._connection: Connection | None = None
        self._turn = threading.Lock()

    def take(self, patience: float = 0.0) -> None:
        """Take the lock.

        :param patience: seconds to wait for another holder.
        :raises IndexLocked: if another process holds it.
        :raises ConnectionLost: if the server does not answer.
        """
        patiently(lambda: self._take(patience), str(self._server))
        _held[self._server.url, self._server.schema] = self

    def end(self) -> None:
        """Let go of the lock; a second time is nothing."""
        if held_lock(self._server) is self:
            del _held[self._server.url, self._server.schema]
        self._hang_up()

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """A transaction under the lock, which is taken again if the connection was lost.

        :raises IndexLocked: if another process has it by then.
        """
        with self._turn:
            connection = self._connection or self._take(_TAKEN_AGAIN)
            try:
                with connection.begin():
                    yield connection
            except (SQLAlchemyError, NotehopError) as exc:
                if is_lost(exc):
                    self._hang_up()
                raise

    def _take(self, patience: float) -> Connection:
        connection = self._engine.connect()
        try:
            # Written here, for SET takes no parameters.
            name = self._holder.replace("'", "''").replace("\\", "/").replace("%", "%%")
            connection.exec_driver_sql(f"{_KEEPALIVE}; SET application_name = '{name}'")
            until = time.monotonic() + patience
            query, key = "SELECT pg_try_advisory_lock(%s)", (lock_key(self._server),)
            while not connection.exec_driver_sql(query, key).scalar():
                connection.commit()
                if time.monotonic() >= until:
                    found = _holder(connection, self._server)
                    raise IndexLocked(
                        f"{self._server}: {found or 'another process'} is writing this index; "
                        "wait until it is done, or stop it"
                    )
                time.sleep(0.05)
            connection.commit()
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.invalidate()
                connection.close()


_held: dict[tuple[str, str], LockSession] = {}
"""The locks that this process holds."""


def held_lock(server: ServerCatalog) -> LockSession | None:
    """The session in which this process holds the lock of an index; None if it does not."""
    return _held.get((server.url, server.schema))


def holder_of(server: ServerCatalog) -> Holder | None:
    """Who writes an index now; None for nobody, or where the server does not tell."""
    engine = engine_of(server, alone=True)
    try:
        with engine.connect() as connection:
            return _holder(connection, server)
    except (SQLAlchemyError, NotehopError):
        return None
    finally:
        engine.dispose()


def _holder(connection: Connection, server: ServerCatalog) -> Holder | None:
    key = lock_key(server)
    row = connection.exec_driver_sql(
        "SELECT application_name, to_char(backend_start AT TIME ZONE 'UTC', "
        '\'YYYY-MM-DD"T"HH24:MI:SS"+00:00"\') FROM pg_locks JOIN pg_stat_activity USING (pid) '
        "WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND granted "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        (key >> 32, key & 0xFFFFFFFF),
    ).first()
    connection.rollback()
    if row is None or not (told := _HOLDER.fullmatch(row[0] or "")):
        return None
    return Holder(int(told["pid"]), told["host"], told["command"], row[1])
