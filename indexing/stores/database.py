"""The database that holds a catalog: a file of SQLite. One on a server: ``served/postgres_database.py``."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Column, ColumnElement, Integer, Text, bindparam, create_engine, event, inspect
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from notehop.config import errors
from notehop.indexing.stores.layout import CatalogAddress, file_number

Result = TypeVar("Result")

REBUILD = "run: notehop index --rebuild"

BUSY_SECONDS = 10.0
"""How long a statement waits for another writer: a big commit takes a few seconds."""

_REFUSED = (
    sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
)  # fmt: skip
"""What SQLite says when it cannot make or grow a file."""

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def open_database(address: CatalogAddress, *, create: bool = False, read_only: bool = False) -> Database:
    """The database at an address, which may be made with ``create``.

    :raises IndexMissing: if it is not there and is not to be made.
    :raises IndexFailure: if its server cannot be reached.
    """
    if isinstance(address, Path):
        return Database(address, create=create, read_only=read_only)
    from notehop.indexing.stores.served.postgres_database import PostgresDatabase

    return PostgresDatabase(address, create=create, read_only=read_only)


@contextmanager
def translated(
    failure: Callable[..., errors.IndexFailure], label: str, *, writing: bool = False
) -> Iterator[None]:
    """A block that turns a database's exceptions into ours; others pass."""
    try:
        yield
    except UnicodeEncodeError as exc:
        raise errors.IndexFailure(f"{label}: half of a surrogate pair can be neither kept nor asked") from exc
    except (SQLAlchemyError, sqlite3.Error, UnicodeDecodeError) as exc:
        raise failure(exc, label, writing=writing) from exc


def damaged(label: str, says: object) -> errors.IndexDamaged:
    return errors.IndexDamaged(f"{label}: the index is damaged ({says}); {REBUILD}")


class _Among(FunctionElement[Any]):
    name = "among"
    # No Boolean: for SQLite, which has none, that would be compared with 1, and no index be used.
    type = Integer()
    inherit_cache = True


_AMONG = {
    "sqlite": "{} IN (SELECT value FROM json_each({}))",
    "postgresql": "{} = ANY (ARRAY(SELECT json_array_elements_text(CAST({} AS json))))",
}
"""By dialect, how a column is compared with the texts of an array of JSON."""


@compiles(_Among)
def _among(element: _Among, compiler: SQLCompiler, **kw: Any) -> str:
    sides = (compiler.process(one, **kw) for one in element.clauses)
    return _AMONG[compiler.dialect.name].format(*sides)


def among(column: Column[Any]) -> ColumnElement[bool]:
    """Whether a column holds one of the values that :func:`listed` gives a statement.

    However many there are, it is one statement, which is compiled once.
    """
    return _Among(column, bindparam("listed", type_=Text()))


def listed(values: Iterable[str]) -> dict[str, str]:
    """The parameter of a statement with :func:`among`."""
    # What no row can hold, half of a surrogate pair or a zero byte, PostgreSQL would refuse with all
    # the rest.
    return {"listed": json.dumps([one for one in values if not _UNSTORABLE.search(one)])}


def storable(text: str) -> str:
    """The text without halves of surrogate pairs, as names of files may hold, which UTF-8 cannot, and
    without zero bytes, which PostgreSQL does not take."""
    return _UNSTORABLE.sub("\ufffd", text)


class Database:
    """The tables of one catalog, in a file of SQLite in WAL mode; those of a server are a subclass's.

    Threads may share it; connections are made when they are needed. ``label`` names it in messages,
    without a password. ``shared`` says that other machines may write it too: who writes holds what
    it knows against what is there. IndexMissing if the file is not there and is not to be made.
    """

    label: str
    shared = False

    def __init__(self, path: Path, *, create: bool = False, read_only: bool = False) -> None:
        if not create and not path.is_file():
            raise errors.IndexMissing(f"{path}: no index yet; run: notehop index")
        self.path = path
        self.label = str(path)
        self._file: tuple[int, int] | None = None

        def connect() -> sqlite3.Connection:
            if create:
                # For its owner alone; the journal gets the rights of the file.
                with suppress(OSError):
                    path.touch(0o600, exist_ok=False)
            if self._file is None:
                # Before it is opened: one that is replaced meanwhile is looked at again.
                self._file = file_number(path)
            if read_only:
                return _reading(path)
            connection = _connected(path, "?mode=rwc")
            # FULL: a generation number once seen must not come back with other content, and
            # vectors are deleted on the word of a commit. What leaves the index leaves its file: a
            # deleted row is overwritten.
            connection.executescript(
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON"
            )
            return connection

        # Readers hold a connection for as long as a query lasts: let there be as many as queries.
        self._engine = create_engine(
            "sqlite+pysqlite://", creator=connect, poolclass=QueuePool, pool_size=8, max_overflow=-1
        )
        event.listen(self._engine, "begin", _begin)
        event.listen(self._engine, "checkin", _close_unwritten)

    def close(self) -> None:
        """Close every connection; the last process to do so folds the journal back."""
        self._engine.dispose()

    def connect(self) -> Connection:
        """A connection, for who closes it: its transaction sees one state of the tables;
        IndexMissing if there are none."""
        with self.translated():
            return self._engine.connect()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection in a read transaction; errors of the block become ours."""
        with self.translated(), self.connect() as connection:
            yield connection

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """Do work in a read transaction; on a server once more where its connection was lost."""
        with self.reading() as connection:
            return work(connection)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection in a write transaction, which is committed at the end of the block."""
        with (
            self.translated(writing=True),
            self._engine.connect().execution_options(notehop_write=True) as connection,
            connection.begin(),
        ):
            yield connection

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """Do work in a write transaction, which is committed at its end.

        :param work: may be called again, where a connection was lost: it has to look at what is
            there, for the transaction may have been committed.
        """
        with self.writing() as connection:
            return work(connection)

    def is_lost(self, exc: BaseException) -> bool:  # noqa: ARG002 (a file is not lost)
        """Whether an error says that its connection is gone, and not what was asked wrong."""
        return False

    def tables(self, connection: Connection) -> set[str]:
        return set(inspect(connection).get_table_names())

    def check_pages(self) -> None:
        """Look at every page; IndexDamaged names the first that is not as it was written."""
        with self.reading() as connection:
            said = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one()
        if said != "ok":
            raise damaged(self.label, said)

    def forget_deleted(self, patience: float = 0.0) -> bool:
        """Let what was deleted leave the database's own files, as far as it can.

        :param patience: seconds to wait for who reads.
        :returns: False if a reader's transaction stood in the way; what it needs stays.
        """
        # What is deleted is overwritten as it is; the journal is folded back into the file and emptied.
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
    def replaced(self) -> bool:
        """Whether other tables stand there than were opened."""
        return file_number(self.path) != self._file

    @property
    def size(self) -> int:
        """In bytes."""
        return self.path.stat().st_size

    @property
    def has_journal(self) -> bool:
        return _has_journal(self.path)

    def translated(self, *, writing: bool = False) -> AbstractContextManager[None]:
        return translated(self.failure, self.label, writing=writing)

    @staticmethod
    def failure(exc: Exception, label: str, *, writing: bool) -> errors.IndexFailure:
        """What an exception of the database or its driver is for us."""
        if isinstance(exc, SQLAlchemyError) and not isinstance(exc, DBAPIError):
            # Of a connection that is closed, or of a value: it may quote the texts of a statement.
            return errors.IndexFailure(f"{label}: the database failed ({type(exc).__name__})")
        # Rows that are read as the driver gives them raise its own errors, and of a text only that it
        # is no UTF-8. SQLite quotes a text that it cannot decode, whole: that of a note is for no log.
        cause = exc.orig if isinstance(exc, DBAPIError) else exc
        says = str(cause).partition(" with text ")[0]
        code = _primary(cause)
        if code in _REFUSED:
            # Of the disk and not of what is on it: a rebuild would need still more of it.
            kind = errors.IndexUnwritable if writing else errors.IndexFailure
            return kind(
                f"{label}: cannot be {'written' if writing else 'opened'} ({says}); the index is as it "
                "was before. Free space, mend the disk or the permissions of the folder, or name "
                "another folder with --index-dir"
            )
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return errors.IndexLocked(
                f"{label}: another process is writing it for more than {BUSY_SECONDS:g} s; "
                "wait until it is done and try again"
            )
        # No database, a page, table or column that is not there, text that is not UTF-8: not what a
        # commit of ours left.
        return damaged(label, says)


class _Unwritten(sqlite3.Connection):
    """A connection that takes its file for one that nobody writes."""


def _connected(
    path: Path, mode: str, kind: type[sqlite3.Connection] = sqlite3.Connection
) -> sqlite3.Connection:
    # isolation_level None: Python would start transactions only before writes, and a reader
    # needs one to see a single generation.
    return sqlite3.connect(
        path.absolute().as_uri() + mode,
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        factory=kind,
    )


def _reading(path: Path) -> sqlite3.Connection:
    # Reading in WAL mode writes to the -shm file, which is made with the first question. Where that
    # cannot be, the disk is full or the folder read-only, the file alone says everything if nothing
    # waits in the journal.
    connection = _connected(path, "?mode=ro")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
    except sqlite3.Error as exc:
        connection.close()
        if _primary(exc) not in _REFUSED or _has_journal(path):
            raise
        connection = _connected(path, "?mode=ro&immutable=1", _Unwritten)
    connection.execute("PRAGMA query_only=ON")
    return connection


def _close_unwritten(connection: Any, record: ConnectionPoolEntry) -> None:
    """Have the pool open the file anew each time: somebody may write it by then."""
    if isinstance(connection, _Unwritten):
        record.invalidate()


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("notehop_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _has_journal(path: Path) -> bool:
    try:
        return path.with_name(path.name + "-wal").stat().st_size > 0
    except OSError:
        return False


def _primary(cause: Any) -> int | None:
    """The primary result code of an error of SQLite; None for another's."""
    code: int | None = getattr(cause, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
