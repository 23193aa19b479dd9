"""The catalog: the source of truth of an index, one generation at a time.

Touches: index.
"""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

from sqlalchemy import inspect, select
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError

from notehop.config.errors import IndexMismatch, IndexMissing
from notehop.indexing import faults
from notehop.indexing.stores import catalog_write
from notehop.indexing.stores.catalog_read import CatalogReads, Fetched, Query
from notehop.indexing.stores.catalog_rows import BadRow, chunk_row, vector_row
from notehop.indexing.stores.layout import IndexLayout, replace_file
from notehop.indexing.stores.model import Batch, Collection
from notehop.indexing.stores.schema import CHUNKS, META, METADATA, SCHEMA_VERSION, VECTORS
from notehop.indexing.stores.sqlite import Database, damaged, translated


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

    def __init__(self, database: Database, ended: Callable[[], None] | None = None) -> None:
        self.label = database.label
        self._database = database
        self._connection = database.connect()
        self._ended = ended
        self._turn = threading.RLock()
        try:
            rows = tuple(sorted((row[0], row[1]) for row in self._rows(_HEAD)))
            self._generation, self.fingerprint, self.stamp = _head(rows)
        except BaseException as exc:
            self._connection.close()
            if isinstance(exc, ValueError | TypeError | KeyError):
                raise damaged(self.label, f"a row cannot be read: {exc}") from exc
            raise

    @property
    def generation(self) -> int:
        """The generation it shows."""
        return self._generation

    def reopened(self) -> CatalogSnapshot:
        """The newest generation in a transaction of its own, whatever becomes of this one."""
        return CatalogSnapshot(self._database, self._ended)

    def close(self) -> None:
        """End the transaction; a second time is nothing."""
        with self._turn:
            self._connection.close()
        if self._ended is not None:
            self._ended()

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with translated(self.label):
            yield self._connection

    def _plain_rows(self, query: Query) -> list[tuple[Any, ...]]:
        with self._turn:
            return super()._plain_rows(query)

    def _fetch(
        self, connection: Connection, query: Query, values: Iterable[str] | None = None
    ) -> Sequence[Fetched]:
        with self._turn:
            return super()._fetch(connection, query, values)


class Catalog(CatalogReads):
    """The catalog at a path. Each question is answered from the newest generation.

    ``snapshot_ended`` is called whenever a snapshot was closed, in any thread.
    """

    snapshot_ended: Callable[[], None] | None = None

    def __init__(self, database: Database) -> None:
        self.label = database.label
        self._database = database
        self._file = _file_id(database.path)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        create: bool = False,
        read_only: bool = False,
        meta: Mapping[str, Any] | None = None,
    ) -> Catalog:
        """Open the catalog at a path.

        :param create: make it, at generation 0 and with ``meta``, if it is not there.
        :raises IndexMissing: if it is not there, or its making was never finished.
        :raises IndexMismatch: if another version of notehop made it.
        :raises IndexDamaged: if it is no catalog, or cannot be read.
        :raises IndexUnwritable: if it cannot be made.
        """
        catalog = cls(Database(path, create=create, read_only=read_only))
        try:
            if create:
                catalog._create(meta or {})
            catalog._check()
        except BaseException:
            catalog.close()
            raise
        catalog._file = _file_id(path)
        return catalog

    def close(self) -> None:
        """Close every connection; the last process to do so folds the journal back."""
        self._database.close()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def replaced(self) -> bool:
        """Whether the file was removed or made anew since it was opened: a rebuild does that."""
        return _file_id(self._database.path) != self._file

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
        try:
            with self._database.writing() as connection:
                query = select(META.c.value).where(META.c.key == "generation")
                generation = int(connection.execute(query).scalar_one()) + 1
                try:
                    catalog_write.apply(connection, batch, generation)
                except IntegrityError as exc:
                    raise ValueError(
                        f"{self.label}: a batch writes a row that is there already: {exc.orig}"
                    ) from exc
                faults.point("catalog-inside-commit")
        except BadRow as exc:
            raise damaged(self.label, f"a row cannot be read: {exc}") from exc
        faults.point("catalog-committed")
        return generation

    def fold(self) -> bool:
        """Fold the journal back into the file and empty it, so that it holds nothing that left.

        :returns: False if a reader's transaction stood in the way; what it needs stays.
        """
        return self._database.fold()

    def verify(self, *, rows: bool = True) -> None:
        """Look at every page, which takes a second a gigabyte, and every row, which takes thirty.

        :raises IndexDamaged: naming the first that is not as it was written.
        """
        check = "integrity_check" if rows else "quick_check"
        with self._reading() as connection:
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
        return CatalogSnapshot(self._database, self.snapshot_ended)

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
        with self._database.reading() as connection:
            yield connection

    def _create(self, meta: Mapping[str, Any]) -> None:
        with self._database.writing() as connection:
            if inspect(connection).get_table_names():
                return
            METADATA.create_all(connection)
            own = {"schema": SCHEMA_VERSION, "identity": uuid.uuid4().hex, "generation": 0}
            catalog_write.put_meta(connection, {**meta, **own})
            faults.point("catalog-inside-making")

    def _check(self) -> None:
        with self._reading() as connection:
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


FileMarks = Mapping[str, tuple[int, int]]
"""Path in the index -> (size in bytes, time of the last change in ns)."""


@dataclass(frozen=True, slots=True)
class CatalogState:
    """What the catalog's files were like when the last run ended, of a generation and stamp.

    A difference proves nothing (a copied folder has other times): it says that every row has to be
    looked at.
    """

    generation: int
    stamp: str
    files: FileMarks

    def fits(self, layout: IndexLayout) -> bool:
        """Whether the files are as they were; a catalog that is open by a writer has others."""
        return self.files == _marks(layout)


def write_catalog_state(layout: IndexLayout, generation: int, stamp: str) -> None:
    """Write down what the files are like now, of a catalog that is whole and closed.

    Where the disk refuses, what was written before stays: the next run looks closer than it need.
    """
    with suppress(OSError):
        state = CatalogState(generation, stamp, _marks(layout))
        if state != read_catalog_state(layout):
            replace_file(layout.catalog_state, json.dumps(asdict(state)))


def read_catalog_state(layout: IndexLayout) -> CatalogState | None:
    """What was written down; None if nothing was, or if it cannot be read."""
    try:
        found = json.loads(layout.catalog_state.read_bytes())
        files = {str(name): (int(size), int(at)) for name, (size, at) in found["files"].items()}
        return CatalogState(int(found["generation"]), str(found["stamp"]), files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def file_marks(root: Path, files: Iterable[Path]) -> dict[str, tuple[int, int]]:
    """The marks of those files that are there and not empty."""
    marks: dict[str, tuple[int, int]] = {}
    for file in files:
        with suppress(OSError):
            found = file.stat()
            if found.st_size and file.is_file():
                marks[file.relative_to(root).as_posix()] = found.st_size, found.st_mtime_ns
    return marks


def _marks(layout: IndexLayout) -> FileMarks:
    # The file -shm is mapped by whoever reads: it says nothing.
    return file_marks(layout.root, (f for f in layout.catalog_files if f.suffix != ".sqlite-shm"))


def _file_id(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
