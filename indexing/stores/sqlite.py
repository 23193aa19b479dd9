"""The SQLite files of an index: how they are opened, and their failures in our words.

Touches: index.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Column, ColumnElement, bindparam, create_engine, event, func, select
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from notehop.config.errors import (
    IndexDamaged,
    IndexFailure,
    IndexLocked,
    IndexMissing,
    IndexUnwritable,
)

BUSY_SECONDS = 10.0
"""How long a statement waits for another writer: a big commit takes a few seconds."""

REBUILD = "run: notehop index --rebuild"

_WRITE = {"notehop_write": True}
"""Execution options of a connection whose transaction takes the write lock at its start."""

_IMMUTABLE = "?mode=ro&immutable=1"

_REFUSED = (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN)
"""What SQLite says when it cannot make or grow a file."""

_LISTED = func.json_each(bindparam("listed")).table_valued("value")


def among(column: Column[Any]) -> ColumnElement[bool]:
    """Whether a column holds one of the values that :func:`listed` gives a statement.

    However many there are, it is one statement, which is compiled once.
    """
    return column.in_(select(_LISTED.c.value))


def listed(values: Iterable[str]) -> dict[str, str]:
    """The parameter of a statement with :func:`among`."""
    return {"listed": json.dumps(list(values))}


class Database:
    """One SQLite file in WAL mode; a connection is made at first use.

    :raises IndexMissing: if the file is not there and is not to be made.
    """

    def __init__(self, path: Path, *, create: bool = False, read_only: bool = False) -> None:
        if not create and not path.is_file():
            raise IndexMissing(f"{path}: no index yet; run: notehop index")
        self.path = path
        self.label = str(path)
        uri = path.absolute().as_uri() + _uri_mode(path, read_only)

        def connect() -> sqlite3.Connection:
            if read_only:
                return _reading(path, uri)
            if create:
                # For its owner alone; the journal gets the rights of the file.
                with suppress(OSError):
                    path.touch(0o600, exist_ok=False)
            connection = _connected(uri, sqlite3.Connection)
            # FULL: a generation number once seen must not come back with other content, and
            # vectors are deleted on the word of a commit.
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            # What leaves the index leaves its file: a deleted row is overwritten.
            connection.execute("PRAGMA secure_delete=ON")
            return connection

        # Readers hold a connection for as long as a query lasts: let there be as many as queries.
        self._engine = create_engine(
            "sqlite+pysqlite://", creator=connect, poolclass=QueuePool, pool_size=8, max_overflow=-1
        )
        event.listen(self._engine, "begin", _begin)
        event.listen(self._engine, "checkin", _used_once)

    def close(self) -> None:
        """Close every connection; the last process to do so folds the journal back."""
        self._engine.dispose()

    def connect(self) -> Connection:
        """A connection, for who closes it: its transaction sees one state of the file."""
        with translated(self.label):
            return self._engine.connect()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection in a read transaction; errors of the block become ours."""
        with translated(self.label), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection in a write transaction, which is committed at the end of the block."""
        with (
            translated(self.label, writing=True),
            self._engine.connect().execution_options(**_WRITE) as connection,
            connection.begin(),
        ):
            yield connection

    def fold(self, patience: float = 0.0) -> bool:
        """Fold the journal back into the file and empty it, so that it holds nothing that left.

        :param patience: seconds to wait for who reads.
        :returns: False if a reader's transaction stood in the way; what it needs stays.
        """
        connection = self._engine.raw_connection()
        cursor = connection.cursor()
        try:
            cursor.execute(f"PRAGMA busy_timeout={patience * 1000:.0f}")
            return not cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.OperationalError:
            return False
        finally:
            cursor.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000:.0f}")
            connection.close()

    @property
    def has_journal(self) -> bool:
        """Whether something stands in the journal."""
        return _has_journal(self.path)


@contextmanager
def translated(label: str, *, writing: bool = False) -> Iterator[None]:
    """Turn the database's exceptions into ours; others pass."""
    try:
        yield
    except DBAPIError as exc:
        raise _failure(exc.orig, label, writing) from exc
    except (sqlite3.Error, UnicodeDecodeError) as exc:
        # Rows that are read as the driver gives them; of text it says only that it is no UTF-8.
        raise _failure(exc, label, writing) from exc


class _Still(sqlite3.Connection):
    """A connection that takes the file for one that nobody writes."""


def _connected(uri: str, kind: type[sqlite3.Connection]) -> sqlite3.Connection:
    # isolation_level None: Python would start transactions only before writes, and a reader
    # needs one to see a single generation.
    return sqlite3.connect(
        uri,
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        factory=kind,
    )


def _reading(path: Path, uri: str) -> sqlite3.Connection:
    connection = _connected(uri, sqlite3.Connection)
    try:
        _look(connection)
    except sqlite3.Error as exc:
        connection.close()
        if _primary(exc) not in _REFUSED or _has_journal(path):
            raise
        # A full disk has no room for the -shm file. Nothing waits in the journal: as in a folder
        # that cannot be written, the file alone says everything.
        connection = _connected(path.absolute().as_uri() + _IMMUTABLE, _Still)
        _look(connection)
    return connection


def _look(connection: sqlite3.Connection) -> None:
    """Read for the first time: only now SQLite makes the files that it needs for that."""
    connection.execute("PRAGMA query_only=ON")
    connection.execute("SELECT count(*) FROM sqlite_master").fetchall()


def _used_once(connection: Any, entry: ConnectionPoolEntry) -> None:
    """Let the next query find out whether there is room again and somebody writes."""
    if isinstance(connection, _Still):
        entry.invalidate(soft=True)


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("notehop_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _uri_mode(path: Path, read_only: bool) -> str:
    if not read_only:
        return "?mode=rwc"
    # Reading in WAL mode writes to the -shm file. In a folder that cannot be written that is
    # possible only where nothing waits in the journal, and then the file alone says everything.
    frozen = not os.access(path.parent, os.W_OK)
    return _IMMUTABLE if frozen and not _has_journal(path) else "?mode=ro"


def _has_journal(path: Path) -> bool:
    try:
        return path.with_name(path.name + "-wal").stat().st_size > 0
    except OSError:
        return False


def _failure(cause: Any, label: str, writing: bool) -> IndexFailure:
    # SQLite quotes a text that it cannot decode, whole: that of a note is for no log.
    says = str(cause).partition(" with text ")[0]
    match _primary(cause):
        case sqlite3.SQLITE_FULL if writing:
            return IndexUnwritable(
                f"{label}: the disk is full; the index is as it was before. "
                "Free space and run: notehop index"
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN if writing:
            return IndexUnwritable(
                f"{label}: cannot be written ({says}); mend the permissions of the folder, "
                "free space if the disk is full, or name another folder with --index-dir"
            )
        case sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY:
            return IndexFailure(
                f"{label}: cannot be opened ({says}); mend the permissions of the folder, "
                "or free space if the disk is full"
            )
        case sqlite3.SQLITE_IOERR if writing:
            return IndexUnwritable(
                f"{label}: the disk refused a write ({says}); the index is as it was before. "
                "Free space or check the disk, and run: notehop index"
            )
        case sqlite3.SQLITE_IOERR | sqlite3.SQLITE_FULL:
            # Of the disk and not of what is on it: a rebuild would need still more of it.
            return IndexFailure(
                f"{label}: the disk refused ({says}): it is full or failing; "
                "free space or check the disk, and try again"
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return IndexLocked(
                f"{label}: another process is writing it for more than {BUSY_SECONDS:g} s; "
                "wait until it is done and try again"
            )
        case _:
            # No database, a page, table or column that is not there, text that is not UTF-8: not
            # what a commit of ours left.
            return damaged(label, says)


def _primary(cause: Any) -> int | None:
    """The primary result code of an error of SQLite; None for another's."""
    code: int | None = getattr(cause, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def damaged(label: str, says: str) -> IndexDamaged:
    """The error for a catalog that cannot be read."""
    return IndexDamaged(f"{label}: the index is damaged ({says}); {REBUILD}")
