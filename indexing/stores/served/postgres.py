"""The catalog in a PostgreSQL database, which several machines share.

An index has a schema with one table, ``catalogs``, which names the schema of the catalog in force
and that of one that a rebuild makes. A rebuild replaces the name, in one transaction; readers go on
in the old schema until they are done.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DataError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry, NullPool, QueuePool
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_exponential

from notehop.config.errors import (
    IndexFailure,
    IndexLocked,
    IndexMissing,
    IndexUnwritable,
    UsageError,
)
from notehop.indexing.llm.consent import Hosts, is_loopback, refusal
from notehop.indexing.stores.database import Database, Result, damaged
from notehop.indexing.stores.layout import ServerCatalog
from notehop.indexing.stores.schema import METADATA

PATIENCE = 10.0
"""Seconds for which a server that does not answer is tried again: one that restarts takes a few."""

_DEFAULTS: dict[str, Any] = {
    "application_name": "notehop",
    "connect_timeout": 5,
    # Of a machine that went without a word, the system alone would tell after a quarter of an hour.
    "tcp_user_timeout": 20_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 2,
}
"""What a connection is made with, where the address does not say otherwise."""

_SCHEMA = "notehop_schema"
"""What a connection remembers: the schema whose tables it sees."""

_LOST_STATES = ("08", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "25006")
"""SQLSTATEs of a connection that is gone or going: of a server that restarts, that hangs up on
transactions which last, or that became the standby of another."""

_GONE_STATES = ("42P01", "3F000")
"""Those of a table or schema that is not there."""

_USELESS = re.compile(
    r"authentication failed|no password supplied|password|does not exist|pg_hba\.conf"
    r"|not permitted|invalid |certificate|root\.crt",
    re.IGNORECASE,
)
"""What a server says that is no better in a second."""


class ConnectionLost(IndexFailure):
    """The server went away, or cannot be reached."""


class PostgresDatabase(Database):
    """The tables of one catalog of an index.

    :raises IndexMissing: if they are not there and are not to be made.
    :raises ConnectionLost: if the server does not answer.
    """

    shared = True

    def __init__(
        self, server: ServerCatalog, *, create: bool = False, read_only: bool = False
    ) -> None:
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

    def announce(self, connection: Connection, generation: int) -> None:
        """Tell who listens; the server does so when the transaction is committed."""
        connection.exec_driver_sql(
            "SELECT pg_notify(%s, %s)", (self.server.schema, str(generation))
        )

    def _given_back(self, _: object, entry: ConnectionPoolEntry) -> None:
        # To a pool that nobody looks after any more.
        if self._closed:
            entry.invalidate()

    def connect(self) -> Connection:
        return patiently(self._connected, self.label)

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """Do work in a transaction of the session that holds the writer lock.

        A session that broke gave the lock up with it: it is taken again.

        :raises IndexLocked: if another process holds it by now.
        """
        from notehop.indexing.stores.served.postgres_lock import held_lock

        def attempt() -> Result:
            lock = held_lock(self.server)
            with (
                translated(self.label, writing=True),
                self._engine.begin() if lock is None else lock.transaction() as connection,
            ):
                self._enter(connection)
                return work(connection)

        return patiently(attempt, self.label)

    def again(self, work: Callable[[], Result]) -> Result:
        return patiently(work, self.label)

    def is_lost(self, exc: BaseException) -> bool:
        return is_lost(exc)

    def tables(self, connection: Connection) -> set[str]:
        query = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
        return set(connection.exec_driver_sql(query).scalars())

    def forget_deleted(self) -> bool:
        """Vacuum the tables: the server may use the room of what was deleted, and reads it no more."""
        with self.translated(writing=True), self.connect() as connection:
            schema = connection.info[_SCHEMA]
            # Nobody sees others' transactions but their own role's, which readers have.
            others = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                "AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL "
                "AND backend_type = 'client backend'"
            )
            reading = bool(connection.exec_driver_sql(others).scalar())
            connection.rollback()
            with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as alone:
                for table in METADATA.sorted_tables:
                    alone.exec_driver_sql(f'VACUUM "{schema}"."{table.name}"')
        return not reading

    @property
    def size(self) -> int:
        query = (
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class "
            "WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"
        )
        with self.reading() as connection:
            return int(connection.exec_driver_sql(query).scalar_one())

    def translated(self, *, writing: bool = False) -> AbstractContextManager[None]:
        return translated(self.label, writing=writing)

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
            found = self._make(connection)
        connection.exec_driver_sql(f'SET LOCAL search_path TO "{found}"')

    def _make(self, connection: Connection) -> str:
        encoding = connection.exec_driver_sql("SHOW server_encoding").scalar()
        if encoding != "UTF8":
            raise UsageError(
                f"{self.label}: the database has the encoding {encoding}, which holds no notes; "
                "create one with ENCODING 'UTF8' TEMPLATE template0"
            )
        table, made = _table(self.server), f"{self.server.schema}_{uuid.uuid4().hex[:8]}"
        for statement in (
            f'CREATE SCHEMA IF NOT EXISTS "{self.server.schema}"',
            f"CREATE TABLE IF NOT EXISTS {table} (role text NOT NULL, schema text PRIMARY KEY)",
            f'CREATE SCHEMA "{made}"',
        ):
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql(f"INSERT INTO {table} VALUES (%s, %s)", (self.server.role, made))
        return made


def engine_of(server: ServerCatalog, *, read_only: bool = False, alone: bool = False) -> Engine:
    """What makes connections to a server.

    Each is refused with an IndexFailure if it leads to a host that the user did not name.

    :param alone: keep none of them: each is a session of its own, for locks.
    :raises UsageError: if the driver is not installed.
    """
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as exc:
        raise UsageError(
            f"{server}: the driver is not installed; run: pip install 'notehop[postgres]'"
        ) from exc
    address = server.url.replace("postgresql+psycopg://", "postgresql://", 1)

    def connect() -> Any:
        try:
            known = conninfo_to_dict(address)
            more = {name: value for name, value in _DEFAULTS.items() if name not in known}
            made = psycopg.connect(address, client_encoding="utf8", **more)
        except psycopg.ProgrammingError as exc:
            raise UsageError(f"{server}: catalog.url cannot be used ({exc}); correct it") from exc
        # Whom it came to: of several hosts one, and those of the environment count too.
        host, at = made.info.host, made.info.hostaddr
        if not (
            host.startswith(("/", "@")) or is_loopback(at) or Hosts(server.allowed).allows(host)
        ):
            made.close()
            raise IndexFailure(str(refusal(host, "the text of your notes")))
        made.read_only = read_only
        # Short questions: to compile them takes longer. And no server hangs up on a pool.
        made.execute("SET jit = off; SET idle_session_timeout = 0")
        made.commit()
        return made

    kept: dict[str, Any] = {"poolclass": QueuePool, "pool_size": 4, "max_overflow": -1}
    return create_engine(
        "postgresql+psycopg://",
        creator=connect,
        use_native_hstore=False,
        # A transaction sees one state; in a session that is alone it follows its own locks.
        isolation_level="READ COMMITTED" if alone else "REPEATABLE READ",
        **({"poolclass": NullPool} if alone else kept),
    )


def lock_key(server: ServerCatalog) -> int:
    """The number of the advisory lock of an index: it follows from its schema."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"notehop:{server.schema}").int >> 65


def put_in_force(server: ServerCatalog) -> None:
    """Let the catalog that a rebuild has made be the one in force; nothing if there is none.

    The caller holds the writer lock.
    """
    database, table = PostgresDatabase(server, create=True), _table(server)

    def work(connection: Connection) -> None:
        connection.exec_driver_sql(
            f"UPDATE {table} SET role = CASE role WHEN 'next' THEN 'current' ELSE 'replaced' END "
            f"WHERE role IN ('current', 'next') AND (SELECT true FROM {table} WHERE role = 'next')"
        )

    try:
        database.write(work)
    finally:
        database.close()


def remove_replaced(server: ServerCatalog) -> None:
    """Remove the catalogs that are not in force, but for those that somebody reads.

    The caller holds the writer lock.
    """
    engine, table = engine_of(server, alone=True), _table(server)
    try:
        with (
            translated(str(server), writing=True),
            patiently(engine.connect, str(server)) as connection,
        ):
            if not _has_table(connection, server):
                return
            query = f"SELECT schema FROM {table} WHERE role <> 'current'"
            old = list(connection.exec_driver_sql(query).scalars())
            connection.commit()
            for schema in old:
                try:
                    # Who reads holds ``meta``: nobody is kept waiting for this.
                    lock = f'LOCK TABLE "{schema}".meta IN ACCESS EXCLUSIVE MODE NOWAIT'
                    connection.exec_driver_sql(lock)
                except DBAPIError as exc:
                    connection.rollback()
                    if state_of(exc) == "55P03":
                        continue
                    if state_of(exc) not in _GONE_STATES:
                        raise
                connection.exec_driver_sql(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')
                connection.exec_driver_sql(f"DELETE FROM {table} WHERE schema = %s", (schema,))
                connection.commit()
    finally:
        engine.dispose()


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


def patiently(work: Callable[[], Result], label: str) -> Result:
    """What work comes to; while its connection is lost it is tried again, for some seconds.

    :raises ConnectionLost: if it cannot be had until then.
    """

    def passes(exc: BaseException) -> bool:
        return is_lost(exc) and not _USELESS.search(_says(exc.__cause__ or exc))

    tries = Retrying(
        stop=stop_after_delay(PATIENCE),
        wait=wait_exponential(0.05, max=1.0),
        retry=retry_if_exception(passes),
        reraise=True,
    )
    with translated(label):
        return tries(work)


def is_lost(exc: BaseException) -> bool:
    """Whether an error, of the driver or ours, says that a connection is gone or cannot be had."""
    if isinstance(exc, ConnectionLost):
        return True
    if not isinstance(exc, DBAPIError):
        return False
    import psycopg

    state = state_of(exc)
    if state is not None:
        return state.startswith(_LOST_STATES)
    return isinstance(exc.orig, psycopg.OperationalError | psycopg.InterfaceError)


def state_of(exc: DBAPIError) -> str | None:
    """The SQLSTATE of an error; None for one that the server did not tell."""
    state: str | None = getattr(exc.orig, "sqlstate", None)
    return state


@contextmanager
def translated(label: str, *, writing: bool = False) -> Iterator[None]:
    """Turn the exceptions of SQLAlchemy and the driver into ours; others pass."""
    try:
        yield
    except DBAPIError as exc:
        raise _failure(exc, label, writing) from exc
    except UnicodeEncodeError as exc:
        raise IndexFailure(
            f"{label}: half of a surrogate pair can be neither kept nor asked"
        ) from exc
    except SQLAlchemyError as exc:
        raise IndexFailure(f"{label}: the database failed ({type(exc).__name__})") from exc


def _failure(exc: DBAPIError, label: str, writing: bool) -> IndexFailure:
    says, state = _says(exc), state_of(exc) or ""
    if state == "25006":
        return IndexUnwritable(
            f"{label}: the server takes no writes ({says}); it may be a standby: name the primary "
            "in catalog.url, or both with target_session_attrs=read-write"
        )
    if is_lost(exc):
        told = " What was committed stays, nothing is half-written." if writing else ""
        return ConnectionLost(
            f"{label}: the server does not answer, or hung up ({says}); start it, or mend "
            f"catalog.url, the password (PGPASSWORD or a passfile) or the network, and try again.{told}"
        )
    if state in ("53100", "53200") or state.startswith("58"):
        return IndexUnwritable(
            f"{label}: the disk or the memory of the server is full or failing ({says}); the index "
            "is as it was before. Free space there and run: notehop index"
        )
    if state == "42501":
        return IndexUnwritable(
            f"{label}: not allowed ({says}); give the role the right to it: "
            "GRANT CREATE, CONNECT ON DATABASE … TO …"
        )
    if state in ("55P03", "40P01", "40001", "57014"):
        return IndexLocked(f"{label}: another transaction is in the way ({says}); try again")
    if state == "54000":
        return IndexUnwritable(
            f"{label}: the name of a file is too long for the index of a table ({says}); "
            "shorten it, or leave it out with vault.exclude; the index is as it was before"
        )
    if isinstance(exc, DataError):
        return IndexFailure(f"{label}: a value can be neither kept nor asked ({says})")
    return damaged(label, says)


_QUOTED = re.compile(r"\s*(DETAIL|CONTEXT|LINE \d+|HINT):.*", re.DOTALL)


def _says(exc: BaseException) -> str:
    """What an error says, without the rows that PostgreSQL quotes: their text is for no log."""
    orig = getattr(exc, "orig", None)
    diag = getattr(orig, "diag", None)
    said = getattr(diag, "message_primary", None) or str(orig or exc)
    return " ".join(_QUOTED.sub("", said).split())[:300]
