"""The file of what was written about the notes: opening it, its transactions, its journal.

Touches: index (``enrichment.sqlite``).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Engine, Table, delete, insert, inspect, select
from sqlalchemy.engine import Connection

from notehop.config.errors import IndexDamaged, IndexFailure, IndexMissing
from notehop.indexing.enrich.schema import ABOUT, METADATA, VERSION
from notehop.indexing.stores.catalog_engine import BUSY_SECONDS, WRITE, open_engine, translated


class StoreFile:
    """One SQLite file with the tables of :mod:`notehop.indexing.enrich.schema`."""

    def __init__(self, path: Path, engine: Engine) -> None:
        self._path = path
        self._engine = engine
        self._label = str(path)
        self.made_anew = False
        """Whether what was there could not be read, and is lost."""

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the store for writing; make one where there is none, a damaged or an older one.

        :raises IndexUnwritable: if it cannot be made.
        """
        try:
            return cls._opened(path)
        except (IndexDamaged, _Other):
            remove(path)
            store = cls._opened(path)
            store.made_anew = True
            return store

    @classmethod
    def _opened(cls, path: Path) -> Self:
        store = cls(path, open_engine(path, create=True, read_only=False))
        try:
            store._create()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    def reading(cls, path: Path) -> Self | None:
        """Open the store for reading; None if there is none, or none that can be read."""
        try:
            store = cls(path, open_engine(path, create=False, read_only=True))
        except IndexMissing:
            return None
        try:
            if store.about().get("version") != VERSION:
                raise _Other
        except (IndexFailure, _Other):
            store.close()
            return None
        return store

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fold(self) -> bool:
        """Fold the journal into the file and empty it, so that no byte is left of what was deleted.

        :returns: False if somebody was reading: the next run tries again.
        """
        connection = self._engine.raw_connection()
        cursor = connection.cursor()
        try:
            cursor.execute("PRAGMA busy_timeout=1000")
            return not cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.OperationalError:
            return False
        finally:
            cursor.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000:.0f}")
            connection.close()

    @property
    def unfolded(self) -> bool:
        """Whether something stands in the journal."""
        try:
            return self._path.with_name(f"{self._path.name}-wal").stat().st_size > 0
        except OSError:
            return False

    def about(self) -> dict[str, Any]:
        """What is said of the whole, by key."""
        with self._reading() as connection:
            return {row[0]: json.loads(row[1]) for row in connection.execute(select(ABOUT))}

    def tell(self, key: str, value: Any) -> None:
        """Say something of the whole; ``value`` is JSON-able."""
        with self._writing() as connection:
            connection.execute(delete(ABOUT).where(ABOUT.c.key == key))
            put_rows(connection, ABOUT, [{"key": key, "value": json.dumps(value, sort_keys=True)}])

    def _create(self) -> None:
        with self._writing() as connection:
            tables = set(inspect(connection).get_table_names())
            if not tables:
                METADATA.create_all(connection)
                put_rows(connection, ABOUT, [{"key": "version", "value": json.dumps(VERSION)}])
        self._check()

    def _check(self) -> None:
        with self._reading() as connection:
            tables = set(inspect(connection).get_table_names())
        if not tables.issuperset(METADATA.tables) or self.about().get("version") != VERSION:
            raise _Other

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._told(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with (
            self._told(writing=True),
            self._engine.connect().execution_options(**WRITE) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def _told(self, *, writing: bool = False) -> Iterator[None]:
        """Errors in our words; what mends the catalog would not mend this."""
        try:
            with translated(self._label, writing=writing):
                yield
        except IndexDamaged as exc:
            raise IndexDamaged(
                f"{self._label}: what was written about the notes cannot be read; delete this "
                "file and run: notehop index"
            ) from exc


class _Other(Exception):
    """The store is of another version, or was never finished."""


def remove(path: Path) -> None:
    """Delete a store with the files that SQLite keeps beside it."""
    for suffix in ("-wal", "-shm", "-journal", ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def put_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), list(rows))
