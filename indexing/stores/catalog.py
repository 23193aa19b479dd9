"""The catalog: the source of truth of an index, one generation at a time.

Touches: index.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from sqlalchemy import Engine, inspect, select
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError

from notehop.config.errors import IndexMismatch, IndexMissing
from notehop.indexing import faults
from notehop.indexing.stores import catalog_write
from notehop.indexing.stores.catalog_engine import (
    BUSY_SECONDS,
    WRITE,
    damaged,
    label_of,
    open_engine,
    sqlite_path,
    translated,
)
from notehop.indexing.stores.catalog_fetch import Fetched, Query
from notehop.indexing.stores.catalog_read import CatalogReads, Counts, FileStamp
from notehop.indexing.stores.catalog_rows import BadRow, chunk_row, vector_row
from notehop.indexing.stores.model import Batch, Collection
from notehop.indexing.stores.schema import CHUNKS, META, METADATA, SCHEMA_VERSION, VECTORS

__all__ = ["Catalog", "CatalogSnapshot", "Counts", "FileStamp", "stamp_of"]


def stamp_of(meta: Mapping[str, Any]) -> str:
    """What an index derived from a catalog must carry to be one of its own; 32 hexadecimal digits.

    It follows from the identity of the catalog and the fingerprint of what made its vectors, so
    that a file left over from before a rebuild never fits.
    """
    said = json.dumps([meta.get("identity"), meta.get("fingerprint")], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:32]


_HEAD = select(META).where(META.c.key.in_(("generation", "identity", "fingerprint")))
"""What every query asks first; made once."""


_Head = tuple[int, dict[str, Any] | None, str]
"""Generation, fingerprint and stamp; nobody changes the fingerprint."""


@lru_cache(maxsize=8)
def _head(rows: tuple[tuple[str, str], ...]) -> _Head:
    """What the rows of :data:`_HEAD` say: the same, query after query, until a commit."""
    said = {key: json.loads(value) for key, value in rows}
    return int(said["generation"]), said.get("fingerprint"), stamp_of(said)


class CatalogSnapshot(CatalogReads):
    """One generation of the catalog, held by an open read transaction until it is closed.

    ``fingerprint`` says what made its vectors (None before the first batch), ``stamp`` is what its
    derived indexes carry. Threads may share it. Writers go on meanwhile, but their journal cannot
    be folded back while it lives: hold it for a query, not for a day.
    """

    def __init__(
        self, connection: Connection, label: str, ended: Callable[[], None] | None = None
    ) -> None:
        self.label = label
        self._connection = connection
        self._ended = ended
        self._turn = threading.RLock()
        rows = tuple(sorted((row[0], row[1]) for row in self._rows(_HEAD)))
        try:
            self._generation, self.fingerprint, self.stamp = _head(rows)
        except (ValueError, TypeError, KeyError) as exc:
            raise damaged(label, f"a row cannot be read: {exc}") from exc

    @property
    def generation(self) -> int:
        """The generation it shows."""
        return self._generation

    def reopened(self) -> CatalogSnapshot:
        """The newest generation in a transaction of its own, whatever becomes of this one."""
        with translated(self.label):
            connection = self._connection.engine.connect()
        try:
            return CatalogSnapshot(connection, self.label, self._ended)
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        """End the transaction; a second time is nothing."""
        with self._turn:
            self._connection.close()
        if self._ended is not None:
            self._ended()

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        yield self._connection

    def _fetch_many(self, connection: Connection, query: Query) -> list[tuple[Any, ...]]:
        with self._turn:
            return super()._fetch_many(connection, query)

    def _fetch(
        self, connection: Connection, query: Query, values: Mapping[str, Any] | None = None
    ) -> Sequence[Fetched]:
        with self._turn:
            return super()._fetch(connection, query, values)


class Catalog(CatalogReads):
    """The catalog at a path or URL. Each question is answered from the newest generation.

    ``snapshot_ended`` is called whenever a snapshot was closed, in any thread.
    """

    snapshot_ended: Callable[[], None] | None = None

    def __init__(self, engine: Engine, label: str, path: Path | None) -> None:
        self.label = label
        self._engine = engine
        self._path = path
        self._file = _file_id(path)

    @classmethod
    def open(
        cls,
        where: Path | str,
        *,
        create: bool = False,
        read_only: bool = False,
        meta: Mapping[str, Any] | None = None,
    ) -> Catalog:
        """Open the catalog at a path (SQLite) or SQLAlchemy URL.

        :param create: make it, at generation 0 and with ``meta``, if it is not there.
        :raises IndexMissing: if it is not there, or its making was never finished.
        :raises IndexMismatch: if another version of notehop made it.
        :raises IndexDamaged: if it is no catalog, or cannot be read.
        :raises IndexUnwritable: if it cannot be made.
        """
        label, path = label_of(where), sqlite_path(where)
        engine = open_engine(where, create=create, read_only=read_only)
        catalog = cls(engine, label, path)
        try:
            if create:
                catalog._create(meta or {})
            catalog._check()
        except BaseException:
            engine.dispose()
            raise
        catalog._file = _file_id(path)
        return catalog

    def close(self) -> None:
        """Close every connection; the last process to do so folds the journal back."""
        self._engine.dispose()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def replaced(self) -> bool:
        """Whether the file was removed or made anew since it was opened: a rebuild does that."""
        return self._path is not None and _file_id(self._path) != self._file

    def stamp(self) -> str:
        """The stamp that derived indexes carry; see :func:`stamp_of`."""
        return stamp_of(self.meta())

    def commit(self, batch: Batch) -> int:
        """Write a batch in one transaction and return the generation it made.

        An empty batch writes nothing and returns the generation there is.

        :raises ValueError: if the batch contradicts itself or the catalog; nothing is written.
        :raises IndexUnwritable: disk full, read-only, or failing; nothing is written.
        :raises IndexLocked: if another process kept writing; nothing is written.
        :raises IndexDamaged: if what is there cannot be read; nothing is written.
        """
        catalog_write.check(batch)
        if not batch:
            return self.generation
        faults.point("catalog-before-commit")
        with translated(self.label, writing=True):
            try:
                with self._writing() as connection:
                    query = select(META.c.value).where(META.c.key == "generation")
                    generation = int(connection.execute(query).scalar_one()) + 1
                    catalog_write.apply(connection, batch, generation)
                    faults.point("catalog-inside-commit")
            except BadRow as exc:
                raise damaged(self.label, f"a row cannot be read: {exc}") from exc
            except IntegrityError as exc:
                raise ValueError(
                    f"{self.label}: a batch writes a row that is there already: {exc.orig}"
                ) from exc
        faults.point("catalog-committed")
        return generation

    def fold(self) -> bool:
        """Fold the journal back into the file and empty it, so that it holds nothing that left.

        :returns: False if a reader's transaction stood in the way; what it needs stays.
        """
        if self._path is None:
            return True
        connection = self._engine.raw_connection()
        cursor = connection.cursor()
        try:
            # Who reads may go on reading for long: nobody waits for that here.
            cursor.execute("PRAGMA busy_timeout=0")
            return not cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        except sqlite3.OperationalError:
            return False
        finally:
            cursor.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000:.0f}")
            connection.close()

    def verify(self, *, rows: bool = True) -> None:
        """Look at every page, which takes a second a gigabyte, and every row, which takes thirty.

        :raises IndexDamaged: naming the first that is not as it was written.
        """
        if self._path is not None:
            check = "integrity_check" if rows else "quick_check"
            with self._reading() as connection, translated(self.label):
                said = connection.exec_driver_sql(f"PRAGMA {check}(1)").scalar_one()
            if said != "ok":
                raise damaged(self.label, str(said))
        if not rows:
            return
        self.meta()
        self.notes()
        with self._reading() as connection:
            for row in self._pages(connection, select(CHUNKS), (CHUNKS.c.id,)):
                self._made(chunk_row, [row])
            checked = select(VECTORS.c.id, VECTORS.c.vector, VECTORS.c.checksum)
            for name in get_args(Collection):
                query = checked.where(VECTORS.c.collection == name)
                for row in self._pages(connection, query, (VECTORS.c.id,)):
                    self._made(vector_row, [row])
        for _ in self.links():
            pass

    def open_snapshot(self) -> CatalogSnapshot:
        """The newest generation, held until the snapshot is closed."""
        with translated(self.label):
            connection = self._engine.connect()
        try:
            return CatalogSnapshot(connection, self.label, self.snapshot_ended)
        except BaseException:
            connection.close()
            raise

    @contextmanager
    def snapshot(self) -> Iterator[CatalogSnapshot]:
        """The newest generation, held for the block."""
        held = self.open_snapshot()
        try:
            yield held
        finally:
            held.close()

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with translated(self.label):
            connection = self._engine.connect()
        try:
            yield connection
        finally:
            connection.close()

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._engine.connect() as plain:
            connection = plain.execution_options(**WRITE)
            with connection.begin():
                yield connection

    def _create(self, meta: Mapping[str, Any]) -> None:
        with translated(self.label, writing=True), self._writing() as connection:
            if inspect(connection).get_table_names():
                return
            METADATA.create_all(connection)
            own = {"schema": SCHEMA_VERSION, "identity": uuid.uuid4().hex, "generation": 0}
            catalog_write.put_meta(connection, {**meta, **own})
            faults.point("catalog-inside-making")

    def _check(self) -> None:
        with self._reading() as connection, translated(self.label):
            tables = set(inspect(connection).get_table_names())
        if not tables:
            raise IndexMissing(f"{self.label}: no index yet; run: notehop index")
        if "meta" not in tables:
            raise damaged(self.label, "it is another program's database")
        schema = self.meta().get("schema")
        if isinstance(schema, int) and schema > SCHEMA_VERSION:
            raise IndexMismatch(
                f"{self.label}: a newer notehop wrote this index (format {schema}, this one reads "
                f"format {SCHEMA_VERSION}); update notehop, or run: notehop index --rebuild"
            )
        if schema != SCHEMA_VERSION:
            raise IndexMismatch(
                f"{self.label}: index written in format {schema}, this notehop reads format "
                f"{SCHEMA_VERSION}; run: notehop index --rebuild"
            )
        if missing := sorted(set(METADATA.tables) - tables):
            raise damaged(self.label, f"it has no table {missing[0]}")


def fold_withdrawn(catalog: Catalog, mark: Path) -> None:
    """Empty the journal of the catalog, if words of withdrawn notes may stand in it.

    While somebody reads an older generation it cannot be: whose transaction ends last tries again,
    and so does the next run.

    :param mark: the file that is there while they may.
    :raises OSError: if the disk refuses.
    """
    try:
        marked = mark.stat().st_mtime_ns
        if catalog.fold() and mark.stat().st_mtime_ns == marked:
            mark.unlink(missing_ok=True)
    except FileNotFoundError:
        pass


def _file_id(path: Path | None) -> tuple[int, int] | None:
    try:
        found = None if path is None else path.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found else None
