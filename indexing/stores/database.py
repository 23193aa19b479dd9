"""What a catalog needs of the database that holds it; the embedded one is in ``sqlite.py``, the one
on a server in ``postgres.py``."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Boolean, Column, ColumnElement, Text, TypeDecorator, bindparam, inspect
from sqlalchemy.engine import Connection, Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import ARRAY, TypeEngine

from notehop.config.errors import IndexDamaged
from notehop.indexing.stores.layout import CatalogAddress

Result = TypeVar("Result")

REBUILD = "run: notehop index --rebuild"

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class Database(ABC):
    """The tables of one catalog. Threads may share it; connections are made when they are needed.

    ``label`` names it in messages, without a password. ``shared`` says that other machines may
    write it too: who writes holds what it knows against what is there. ``replaced`` says that other
    tables stand there than were opened, those of a rebuild; ``size`` is in bytes.
    """

    label: str
    shared = False
    replaced = False

    @abstractmethod
    def connect(self) -> Connection:
        """A connection, for who closes it: its transaction sees one state of the tables.

        :raises IndexMissing: if there are none.
        """

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection in a read transaction; errors of the block become ours."""
        with self.translated(), self.connect() as connection:
            yield connection

    @abstractmethod
    def write(self, work: Callable[[Connection], Result]) -> Result:
        """Do work in a write transaction, which is committed at its end.

        :param work: may be called again, where a connection was lost: it has to look at what is
            there, for the transaction may have been committed.
        """

    def again(self, work: Callable[[], Result]) -> Result:
        """Do work that reads; once more, on another connection, where one was lost."""
        return work()

    def is_lost(self, exc: BaseException) -> bool:  # noqa: ARG002 (a file is not lost)
        """Whether an error says that its connection is gone, and not what was asked wrong."""
        return False

    @abstractmethod
    def translated(self, *, writing: bool = False) -> AbstractContextManager[None]:
        """A block that turns the database's exceptions into ours; others pass."""

    def tables(self, connection: Connection) -> set[str]:
        """The names of the tables that there are."""
        return set(inspect(connection).get_table_names())

    def check_pages(self, *, thorough: bool) -> None:  # noqa: B027 (a server's own matter)
        """Look at every page; ``thorough``, at the indexes too.

        :raises IndexDamaged: naming the first that is not as it was written.
        """

    @abstractmethod
    def forget_deleted(self) -> bool:
        """Let what was deleted leave the database's own files, as far as it can.

        :returns: False if a reader's transaction stood in the way; what it needs stays.
        """

    @property
    @abstractmethod
    def size(self) -> int: ...

    @abstractmethod
    def close(self) -> None: ...


def open_database(
    address: CatalogAddress, *, create: bool = False, read_only: bool = False
) -> Database:
    """The database at an address.

    :param create: what is not there may be made.
    :raises IndexMissing: if it is not there and is not to be made.
    :raises IndexFailure: if its server cannot be reached.
    """
    if isinstance(address, Path):
        from notehop.indexing.stores.sqlite import SqliteDatabase

        return SqliteDatabase(address, create=create, read_only=read_only)
    from notehop.indexing.stores.postgres import PostgresDatabase

    return PostgresDatabase(address, create=create, read_only=read_only)


def damaged(label: str, says: object) -> IndexDamaged:
    """The error for a catalog that cannot be read."""
    return IndexDamaged(f"{label}: the index is damaged ({says}); {REBUILD}")


class _Listed(TypeDecorator[list[str]]):
    """Many texts in one parameter: JSON for SQLite, an array for PostgreSQL."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return ARRAY(Text()) if dialect.name == "postgresql" else Text()

    def process_bind_param(self, value: list[str] | None, dialect: Dialect) -> Any:
        if dialect.name != "postgresql":
            return json.dumps(value)
        # What no row can hold, half of a surrogate pair or a zero byte, would be refused with all
        # the rest.
        return [one for one in value or () if not _UNSTORABLE.search(one)]


class _Among(FunctionElement[bool]):
    name = "among"
    type = Boolean()
    inherit_cache = True


@compiles(_Among, "sqlite")
def _among_json(element: _Among, compiler: SQLCompiler, **kw: Any) -> str:
    column, values = (compiler.process(one, **kw) for one in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"


@compiles(_Among, "postgresql")
def _among_array(element: _Among, compiler: SQLCompiler, **kw: Any) -> str:
    column, values = (compiler.process(one, **kw) for one in element.clauses)
    return f"{column} = ANY (CAST({values} AS TEXT[]))"


def among(column: Column[Any]) -> ColumnElement[bool]:
    """Whether a column holds one of the values that :func:`listed` gives a statement.

    However many there are, it is one statement, which is compiled once.
    """
    return _Among(column, bindparam("listed", type_=_Listed()))


def listed(values: Iterable[str]) -> dict[str, list[str]]:
    """The parameter of a statement with :func:`among`."""
    return {"listed": list(values)}
