"""The catalog: the source of truth of an index, one generation at a time."""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, get_args

from sqlalchemy import select
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from notehop.config.errors import IndexFailure, IndexLocked, IndexMismatch, IndexMissing
from notehop.indexing import crash_points
from notehop.indexing.stores.catalog_read import CatalogReads, Query, ResultRow, fetched
from notehop.indexing.stores.catalog_rows import BadRow, chunk_row, put_meta, write_batch
from notehop.indexing.stores.database import REBUILD, Database, damaged, open_database
from notehop.indexing.stores.layout import CatalogAddress, IndexLayout, read_json, replace_file
from notehop.indexing.stores.rows import Batch, Vectored
from notehop.indexing.stores.schema import CHUNKS, META, METADATA, SCHEMA_VERSION

_HEAD = select(META).where(META.c.key.in_(("schema", "generation", "identity", "fingerprint", "commit")))
"""What tells one state of a catalog from any other, also where a server lost some."""


def stamp_of(meta: Mapping[str, Any]) -> str:
    """What is derived from a catalog carries this, to be one of its own: 32 hexadecimal digits, of its
    identity and the fingerprint of what made its vectors."""
    said = json.dumps([meta.get("identity"), meta.get("fingerprint")], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def _head_of(label: str, rows: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """What the rows of :data:`_HEAD` say; IndexMismatch if another version of notehop wrote them."""
    try:
        head = {key: json.loads(value) for key, value in rows}
        schema, _ = head.get("schema"), int(head["generation"])
    except (ValueError, TypeError, KeyError) as exc:
        raise damaged(label, f"a row cannot be read: {exc}") from exc
    if schema != SCHEMA_VERSION:
        newer = isinstance(schema, int) and schema > SCHEMA_VERSION
        raise IndexMismatch(
            f"{label}: index written in format {schema}, this notehop reads format "
            f"{SCHEMA_VERSION}; {'update notehop, or ' if newer else ''}{REBUILD}"
        )
    return head


def check_fingerprint(stored: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Compare the fingerprint of an index with the one that the settings ask for.

    :param expected: keys that are absent or None may be anything: ``auto`` decided them when the
        index was built.
    :raises IndexMismatch: naming each difference, as built and as asked, and the way out.
    """
    different = {key for key, value in expected.items() if value not in (None, stored.get(key))}
    if not different:
        return
    # Another model has other weights: no need to say so.
    of_model = {"model", "dimensions", *(["weights"] if "model" in different else [])}
    sides = []
    for said in (stored, expected):
        length = said.get("dimensions")
        model = f"{said.get('model')} ({length})" if length else f"{said.get('model')}"
        others = [f"{key} {said.get(key)}" for key in sorted(different - of_model)]
        sides.append(", ".join([model, *others] if different & of_model else others))
    raise IndexMismatch(f"index built with {sides[0]}, settings name {sides[1]}; {REBUILD}")


def check_vault(meta: Mapping[str, Any], vault: Path, index: Path) -> None:
    """Refuse an index of another vault with an IndexMismatch that names both; one whose vault is not
    there any more has been moved. ``meta`` is that of its catalog."""
    known = meta.get("vault")
    if known is not None and Path(known) != vault.resolve() and Path(known).is_dir():
        raise IndexMismatch(
            f"{index}: this is the index of {known}, not of {vault.resolve()}; "
            "name another folder with --index-dir"
        )


def dimensions_of(fingerprint: Mapping[str, Any] | None) -> int:
    """The length of the vectors of an index; IndexMismatch if its fingerprint does not say."""
    try:
        return int((fingerprint or {})["dimensions"])
    except (KeyError, TypeError, ValueError) as exc:
        raise IndexMismatch(f"the index does not say how long its vectors are; {REBUILD}") from exc


class CatalogSnapshot(CatalogReads):
    """One generation of the catalog, held by an open read transaction until it is closed.

    Where the connection to a server is lost it goes on with another one, if the generation is still
    the newest. ``fingerprint`` says what made its vectors (None before the first batch), ``stamp`` is
    what its derived indexes carry. Threads may share it. Writers go on meanwhile, but their journal
    cannot be folded back while it lives: hold it for a query, not for a day.
    """

    def __init__(self, database: Database) -> None:
        self.label, self._database = database.label, database
        self._connection = database.connect()
        self._turn = threading.RLock()
        self._head: dict[str, Any] = {}
        try:
            self._head = _head_of(self.label, self._fetch(_HEAD))
        except BaseException:
            self._let_go()
            raise
        self._generation = int(self._head["generation"])
        self.fingerprint: dict[str, Any] | None = self._head.get("fingerprint")
        self.stamp = stamp_of(self._head)

    @property
    def generation(self) -> int:
        return self._generation

    def close(self) -> None:
        """End the transaction; a second time is nothing."""
        with self._turn:
            self._let_go()

    def _let_go(self) -> None:
        # It wrote nothing: where its connection is lost, so is the transaction, and all is well.
        with suppress(DBAPIError):
            self._connection.close()

    def _fetch(self, query: Query, values: Iterable[str] | None = None) -> Sequence[ResultRow]:
        with self._turn, self._database.translated():
            try:
                return fetched(self._connection, query, values)
            except DBAPIError as exc:
                if not self._database.is_lost(exc):
                    raise
                self._let_go()
                self._connection = self._database.connect()
                head = self._head and _head_of(self.label, fetched(self._connection, _HEAD))
                if head != self._head:
                    self._let_go()
                    raise IndexFailure(
                        f"{self.label}: the connection was lost, and the index went on meanwhile; try again"
                    ) from exc
                return fetched(self._connection, query, values)


class Catalog(CatalogReads):
    """The catalog at an address. Each question is answered from the newest generation."""

    def __init__(self, database: Database) -> None:
        self.label = database.label
        self.database = database
        self._known: dict[str, Any] | None = None

    @classmethod
    def open(
        cls,
        address: CatalogAddress,
        *,
        create: bool = False,
        read_only: bool = False,
        meta: Mapping[str, Any] | None = None,
    ) -> Catalog:
        """Open the catalog at an address.

        :param create: make it, at generation 0 and with ``meta``, if it is not there.
        :raises IndexMissing: if it is not there, or its making was never finished.
        :raises IndexMismatch: if another version of notehop made it.
        :raises IndexDamaged: if it is no catalog, or cannot be read.
        :raises IndexUnwritable: if it cannot be made.
        :raises IndexFailure: if its server cannot be reached.
        """
        database = open_database(address, create=create, read_only=read_only)
        catalog = cls(database)

        def make(connection: Connection) -> None:
            if not database.tables(connection):
                METADATA.create_all(connection)
                own = {"schema": SCHEMA_VERSION, "identity": uuid.uuid4().hex, "generation": 0}
                put_meta(connection, {**(meta or {}), **own})
                crash_points.point("catalog-inside-making")

        try:
            if create:
                database.write(make)
            tables = database.read(database.tables)
            if not tables:
                raise IndexMissing(f"{catalog.label}: no index yet; run: notehop index")
            catalog._known = _head_of(catalog.label, catalog._fetch(_HEAD))
            if missing := sorted(set(METADATA.tables) - tables):
                raise damaged(catalog.label, f"it has no table {missing[0]}")
        except BaseException:
            catalog.close()
            raise
        return catalog

    @classmethod
    def of(cls, layout: IndexLayout) -> Catalog:
        """The catalog of an index, to be read; of a rebuild that ends meanwhile, the new one;
        IndexFailure as :meth:`open`."""
        while True:
            address = layout.catalog
            try:
                return cls.open(address, read_only=True)
            except IndexFailure:
                if address == layout.catalog:
                    raise

    @staticmethod
    def exists(address: CatalogAddress) -> bool:
        """Whether anything is there, be it damaged; IndexFailure if its server cannot be
        reached."""
        if isinstance(address, Path):
            return address.exists()
        try:
            open_database(address, read_only=True).close()
        except IndexMissing:
            return False
        return True

    def close(self) -> None:
        self.database.close()

    def commit(self, batch: Batch) -> int:
        """Write a batch in one transaction and return the generation it made.

        :raises IndexUnwritable: disk full, read-only, or failing; nothing is written.
        :raises IndexLocked: if another process kept writing, or wrote meanwhile on a server whose
            connection was lost; nothing is written.
        :raises IndexDamaged: if what is there cannot be read; nothing is written.
        """
        crash_points.point("catalog-before-commit")
        commit = uuid.uuid4().hex

        def work(connection: Connection) -> dict[str, Any]:
            head = _head_of(self.label, fetched(connection, _HEAD))
            if head.get("commit") == commit:
                # The answer was lost, not the commit.
                return head
            if self.database.shared and self._known not in (None, head):
                # A lock on a server ends with its connection.
                raise IndexLocked(
                    f"{self.label}: another process wrote this index while the connection was "
                    "lost; nothing was written on it; run: notehop index"
                )
            self._known = head
            write_batch(connection, batch, head["generation"] + 1, commit)
            crash_points.point("catalog-inside-commit")
            return _head_of(self.label, fetched(connection, _HEAD))

        try:
            self._known = self.database.write(work)
        except BadRow as exc:
            raise damaged(self.label, f"a row cannot be read: {exc}") from exc
        crash_points.point("catalog-committed")
        return int(self._known["generation"])

    def renew_if_older(self, state: CatalogState | None) -> None:
        """Take another identity, if it has lost what it had when a run ended, as one restored from a
        backup: what was derived from the lost generations fits no more then, anywhere."""
        if state is None:
            return
        meta = self.meta()
        if stamp_of(meta) == state.stamp and int(meta["generation"]) < state.generation:
            own = {"identity": uuid.uuid4().hex}
            self.database.write(lambda connection: put_meta(connection, own))
            self._known = _head_of(self.label, self._fetch(_HEAD))

    def verify(self) -> None:
        """Look at every page and every row, which takes half a minute a gigabyte; IndexDamaged names the
        first that is not as it was written."""
        self.database.check_pages()
        self.meta()
        self.notes()
        for row in self._pages(select(CHUNKS), (CHUNKS.c.id,)):
            self._made(chunk_row, [row])
        for _ in chain(*map(self.all_vectors, get_args(Vectored)), self.links()):
            pass

    def snapshot(self) -> CatalogSnapshot:
        """The newest generation, held until the snapshot is closed."""
        return CatalogSnapshot(self.database)

    def _fetch(self, query: Query, values: Iterable[str] | None = None) -> Sequence[ResultRow]:
        return self.database.read(lambda connection: fetched(connection, query, values))


@dataclass(frozen=True, slots=True)
class CatalogState:
    """What the catalog's files (path -> size in bytes, time of the last change in ns) were like when
    the last run ended, of a generation and stamp.

    A difference proves nothing (a copied folder has other times): every row has to be looked at then.
    """

    generation: int
    stamp: str
    files: Mapping[str, tuple[int, int]]

    def fits(self, layout: IndexLayout) -> bool:
        """Whether the files are as they were; a catalog that is open by a writer has others."""
        return self.files == catalog_marks(layout)


def write_catalog_state(layout: IndexLayout, generation: int, stamp: str) -> None:
    """Write down what the files are like now, of a catalog that is whole and closed. Where the disk
    refuses, what was written before stays: the next run looks closer than it need."""
    with suppress(OSError):
        state = CatalogState(generation, stamp, catalog_marks(layout))
        if state != read_catalog_state(layout):
            replace_file(layout.catalog_state, json.dumps(asdict(state)))


def read_catalog_state(layout: IndexLayout) -> CatalogState | None:
    """What was written down; None if nothing was, or if it cannot be read."""
    return read_json(CatalogState, layout.catalog_state)


def catalog_marks(layout: IndexLayout) -> Mapping[str, tuple[int, int]]:
    """The marks of those files of the catalog that are there and not empty; of one on a server none."""
    marks: dict[str, tuple[int, int]] = {}
    for file in layout.catalog_files:
        with suppress(OSError):
            found = file.stat()
            # The file -shm is mapped by whoever reads: it says nothing.
            if found.st_size and file.is_file() and file.suffix != ".sqlite-shm":
                marks[file.relative_to(layout.root).as_posix()] = found.st_size, found.st_mtime_ns
    return marks
