"""The catalog in a PostgreSQL database, which several machines share, and its writer lock.

An index has a schema with one table, ``catalogs``, which names the schema of the catalog in force
and that of one that a rebuild makes. A rebuild replaces the name, in one transaction; readers go on
in the old schema until they are done. The lock is a session that lasts, and writes.
"""

from __future__ import annotations

import os
import re
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Engine, event
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from notehop.config.errors import IndexLocked, IndexMissing, NotehopError, UsageError
from notehop.indexing.stores.database import Database, Result, damaged
from notehop.indexing.stores.layout import ServerCatalog
from notehop.indexing.stores.rows import Holder
from notehop.indexing.stores.served.postgres_connection import (
    engine_of,
    failure,
    is_lost,
    patiently,
    state_of,
    translated,
)

_SCHEMA = "notehop_schema"
"""What a connection remembers: the schema whose tables it sees."""

_GONE_STATES = ("42P01", "3F000")
"""Those of a table or schema that is not there."""

_KEEPALIVE = "SET tcp_keepalives_idle = 20; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3"
"""The lock of a machine that went without a word ends within a minute."""

_TAKEN_AGAIN = 8.0
"""Seconds that a lock is waited for which was lost: the server may not have noticed yet."""

_HOLDER = re.compile(r"(?P<pid>\d+)@(?P<host>\S+) (?P<command>.+)", re.DOTALL)


class PostgresDatabase(Database):
    """The tables of one catalog of an index: IndexMissing if they are not there and are not to be made,
    ConnectionLost if the server does not answer."""

    shared = True
    replaced = False
    failure = staticmethod(failure)

    def __init__(self, server: ServerCatalog, *, create: bool = False, read_only: bool = False) -> None:
        self.server = server
        self.label = str(server)
        self._create = create
        self._engine = engine_of(server, read_only=read_only)
        self._closed = False
        event.listen(self._engine, "checkin", self._given_back)
        try:
            if not create:
                self.connect().close()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close every connection that nobody uses; the others when they are given back."""
        self._closed = True
        self._engine.dispose()

    def _given_back(self, _: object, entry: ConnectionPoolEntry) -> None:
        # To a pool that nobody looks after any more.
        if self._closed:
            entry.invalidate()

    def connect(self) -> Connection:
        return patiently(self._connected, self.label)

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """Do work in a transaction of the session that holds the writer lock. A session that broke gave
        the lock up with it: it is taken again; IndexLocked if another process holds it by now."""

        def entered(connection: Connection) -> Result:
            self._enter(connection)
            return work(connection)

        return _in_session(self.server, entered, self._engine)

    def read(self, work: Callable[[Connection], Result]) -> Result:
        return patiently(lambda: super(PostgresDatabase, self).read(work), self.label)

    def is_lost(self, exc: BaseException) -> bool:
        return is_lost(exc)

    def check_pages(self) -> None:
        """Nothing: its pages are the server's matter."""

    def tables(self, connection: Connection) -> set[str]:
        query = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
        return set(connection.exec_driver_sql(query).scalars())

    def forget_deleted(self, patience: float = 0.0) -> bool:  # noqa: ARG002 (nobody is waited for)
        """Nothing: the server frees room by itself, and keeps bytes in places of its own until then."""
        return True

    @property
    def size(self) -> int:
        query = (
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class "
            "WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"
        )
        with self.reading() as connection:
            return int(connection.exec_driver_sql(query).scalar_one())

    def _connected(self) -> Connection:
        connection = self._engine.connect()
        try:
            self._find(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _find(self, connection: Connection) -> None:
        """Begin a transaction that sees the catalog in force, and keeps it from being removed."""
        for _ in range(20):
            seen = connection.info.get(_SCHEMA)
            # Its table ``meta`` is read for the lock on it: without, it could be gone before the
            # next statement.
            locking = "" if seen is None else " AND (SELECT true FROM meta LIMIT 1)"
            found = _named(connection, self.server, locking)
            if found is not None and found == seen:
                return
            connection.rollback()
            if found is None and seen is None:
                raise IndexMissing(f"{self.label}: no index yet; run: notehop index")
            connection.info.pop(_SCHEMA, None)
            if found is not None:
                connection.exec_driver_sql(f'SET search_path TO "{found}"')
                connection.commit()
                connection.info[_SCHEMA] = found
        raise damaged(self.label, "its tables are gone")

    def _enter(self, connection: Connection) -> None:
        """Let a write transaction see the catalog, which is made if it may be."""
        found = _named(connection, self.server) if _has_table(connection, self.server) else None
        if found is None:
            if not self._create:
                raise IndexMissing(f"{self.label}: no index yet; run: notehop index")
            encoding = connection.exec_driver_sql("SHOW server_encoding").scalar()
            if encoding != "UTF8":
                raise UsageError(
                    f"{self.label}: the database has the encoding {encoding}, which holds no notes; "
                    "create one with ENCODING 'UTF8' TEMPLATE template0"
                )
            table, found = _table(self.server), f"{self.server.schema}_{uuid.uuid4().hex[:8]}"
            for statement in (
                f'CREATE SCHEMA IF NOT EXISTS "{self.server.schema}"',
                f"CREATE TABLE IF NOT EXISTS {table} (role text NOT NULL, schema text PRIMARY KEY)",
                f'CREATE SCHEMA "{found}"',
            ):
                connection.exec_driver_sql(statement)
            row = (self.server.role, found)
            connection.exec_driver_sql(f"INSERT INTO {table} VALUES (%s, %s)", row)
        connection.exec_driver_sql(f'SET LOCAL search_path TO "{found}"')


def put_in_force(server: ServerCatalog) -> None:
    """Let the catalog that a rebuild has made be the one in force; nothing if there is none. This
    process holds the writer lock."""
    table = _table(server)

    def work(connection: Connection) -> None:
        connection.exec_driver_sql(
            f"UPDATE {table} SET role = CASE role WHEN 'next' THEN 'current' ELSE 'replaced' END "
            f"WHERE role IN ('current', 'next') AND (SELECT true FROM {table} WHERE role = 'next')"
        )

    _in_session(server, work)


def remove_replaced(server: ServerCatalog) -> None:
    """Remove the catalogs that are not in force, but for those that somebody reads. This process holds
    the writer lock."""
    table = _table(server)

    def work(connection: Connection) -> None:
        if not _has_table(connection, server):
            return
        query = f"SELECT schema FROM {table} WHERE role <> 'current'"
        for schema in list(connection.exec_driver_sql(query).scalars()):
            # Who reads holds ``meta``: nobody is kept waiting for this.
            lock = f'LOCK TABLE "{schema}".meta IN ACCESS EXCLUSIVE MODE NOWAIT'
            try:
                with connection.begin_nested():
                    connection.exec_driver_sql(lock)
            except DBAPIError as exc:
                if state_of(exc) == "55P03":
                    continue
                if state_of(exc) not in _GONE_STATES:
                    raise
            connection.exec_driver_sql(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')
            connection.exec_driver_sql(f"DELETE FROM {table} WHERE schema = %s", (schema,))

    _in_session(server, work)


def _in_session(
    server: ServerCatalog, work: Callable[[Connection], Result], engine: Engine | None = None
) -> Result:
    """Do work in a transaction of the session that holds the writer lock, else of the engine; where
    there is none, this process has to hold the lock."""

    def attempt() -> Result:
        source = _held.get((server.url, server.schema)) or engine
        assert source is not None
        with translated(str(server), writing=True), source.begin() as connection:
            return work(connection)

    return patiently(attempt, str(server))


def _table(server: ServerCatalog) -> str:
    return f'"{server.schema}".catalogs'


def _has_table(connection: Connection, server: ServerCatalog) -> bool:
    found = connection.exec_driver_sql("SELECT to_regclass(%s)", (_table(server),)).scalar()
    return found is not None


def _named(connection: Connection, server: ServerCatalog, more: str = "") -> str | None:
    """The schema of a catalog; None where there is none, or not what the condition asks for."""
    query = f"SELECT schema FROM {_table(server)} WHERE role = %s{more}"
    try:
        named: str | None = connection.exec_driver_sql(query, (server.role,)).scalar()
    except DBAPIError as exc:
        if state_of(exc) in _GONE_STATES:
            return None
        raise
    return named


def lock_key(server: ServerCatalog) -> int:
    """The number of the advisory lock of an index: it follows from its schema."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"notehop:{server.schema}").int >> 65


class LockSession:
    """Holds the writer lock of an index on its server, as long as its connection lasts: who holds it
    also writes through it, so that nothing is written without the lock."""

    def __init__(self, server: ServerCatalog, holder: str) -> None:
        self._server = server
        self._holder = f"{os.getpid()}@{socket.gethostname()[:24]} {holder}"[:63]
        self._engine = engine_of(server, alone=True)
        self._connection: Connection | None = None
        self._turn = threading.Lock()

    def take(self, patience: float = 0.0) -> None:
        """Take the lock, which may take ``patience`` seconds; IndexLocked if another process holds it,
        ConnectionLost if the server does not answer."""
        patiently(lambda: self._take(patience), str(self._server))
        _held[self._server.url, self._server.schema] = self

    def end(self) -> None:
        """Let go of the lock; a second time is nothing."""
        if _held.get((self._server.url, self._server.schema)) is self:
            del _held[self._server.url, self._server.schema]
        self._hang_up()

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A transaction under the lock, which is taken again if the connection was lost;
        IndexLocked if another process has it by then."""
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
            connection.exec_driver_sql(_KEEPALIVE)
            named = "SELECT set_config('application_name', %s, false)"
            connection.exec_driver_sql(named, (self._holder,))
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


_held: dict[tuple[str, str], LockSession] = {}  # the locks that this process holds


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
