"""The store of what was written about the notes: SQLite beside the catalog, outlives a rebuild.

A text is kept under the hash of all that it was made from, so that none is made twice. It is kept
as long as a note needs it, and some days longer; when its note leaves the index it is deleted, and
its bytes are overwritten.

Touches: index (``enrichment.sqlite``).
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    and_,
    delete,
    insert,
    inspect,
    or_,
    select,
    update,
)
from sqlalchemy import Text as TextColumn
from sqlalchemy.engine import Connection

from notehop.config.errors import IndexDamaged, IndexFailure, IndexMissing
from notehop.indexing import faults
from notehop.indexing.stores.database import among, listed
from notehop.indexing.stores.model import NoteRow, NoteStatus
from notehop.indexing.stores.sqlite import SqliteDatabase

Kind = Literal["summary", "extract", "header"]


@dataclass(frozen=True, slots=True)
class Text:
    """What was written. ``model`` names who wrote it; of an extract, the rules. ``tokens`` is what
    it cost, sent and received together."""

    key: str
    kind: Kind
    text: str
    model: str
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class TextRef:
    """A text that a note of a content has, or should have."""

    path: str
    key: str
    kind: Kind
    note_hash: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A text that the model did not write. ``last`` is in seconds since the epoch."""

    key: str
    path: str
    kind: Kind
    reason: str
    tries: int
    last: float


@dataclass(frozen=True, slots=True)
class Summary:
    """A note in a line. ``model`` names the model that wrote it; None for the note's own words."""

    text: str
    model: str | None = None


VERSION = 1
"""Raised when a table changes; a store of another version is made anew."""

METADATA = MetaData()

TEXTS = Table(
    "texts",
    METADATA,
    # What was written, by the hash of all that it was made from: it stands for any note that would
    # have the same written.
    Column("key", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("text", TextColumn, nullable=False),
    Column("model", String, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("made", Double, nullable=False),
    Column("checksum", BigInteger, nullable=False),
)

USES = Table(
    "uses",
    METADATA,
    # Which note has which texts. One that is not current is of an older state of the note.
    Column("path", String, primary_key=True),
    Column("key", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("note_hash", String, nullable=False),
    Column("current", Boolean, nullable=False),
    Column("since", Double, nullable=False),
    Index("uses_by_key", "key"),
)

FAILURES = Table(
    "failures",
    METADATA,
    # What the model did not write, and why. The reason holds no word of the note.
    Column("key", String, primary_key=True),
    Column("path", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("reason", TextColumn, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("last", Double, nullable=False),
    Index("failures_by_path", "path"),
)

OWED = Table(
    "owed",
    METADATA,
    # Notes that have a header which the index does not hold yet.
    Column("path", String, primary_key=True),
)

SEEN = Table(
    "seen",
    METADATA,
    # Notes for which nothing is to be done, as long as they are of this shape.
    Column("path", String, primary_key=True),
    Column("shape", String, nullable=False),
)

ABOUT = Table(
    "about",
    METADATA,
    Column("key", String, primary_key=True),
    Column("value", TextColumn, nullable=False),
)

_BY_NOTE = (USES, FAILURES, OWED, SEEN)

_RETRIED = 3
"""Tries of one text that count as of the last hour: after as many it is left for a day."""


class EnrichmentStore:
    """One SQLite file; each method is a transaction."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self.made_anew = False
        """Whether what was there could not be read, and is lost."""

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the store for writing; make one where there is none, a damaged or an older one.

        :raises IndexUnwritable: if it cannot be made.
        """
        try:
            return cls._opened(path, read_only=False)
        except IndexDamaged:
            # With the files that SQLite keeps beside it.
            for suffix in ("-wal", "-shm", "-journal", ""):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            store = cls._opened(path, read_only=False)
            store.made_anew = True
            return store

    @classmethod
    def reading(cls, path: Path) -> Self:
        """Open the store for reading.

        :raises IndexMissing: if there is none, or none that can be read.
        """
        try:
            return cls._opened(path, read_only=True)
        except IndexFailure as exc:
            raise IndexMissing(f"{path}: nothing can be read: {exc}") from exc

    @classmethod
    def _opened(cls, path: Path, *, read_only: bool) -> Self:
        store = cls(SqliteDatabase(path, create=not read_only, read_only=read_only))
        try:
            if not read_only:
                with store._writing() as connection:
                    if not inspect(connection).get_table_names():
                        METADATA.create_all(connection)
                        _put(connection, ABOUT, [{"key": "version", "value": json.dumps(VERSION)}])
            with store._reading() as connection:
                tables = set(inspect(connection).get_table_names())
            if not tables.issuperset(METADATA.tables) or store.meta().get("version") != VERSION:
                raise IndexDamaged(f"{path}: of another version, or never finished")
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Close every connection."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def checkpoint(self) -> bool:
        """Fold the journal into the file and empty it, so that no byte is left of what was deleted.

        :returns: False if somebody was reading: the next run tries again.
        """
        return not self._database.has_journal or self._database.fold(patience=1.0)

    def meta(self) -> dict[str, Any]:
        """What is said of the whole, by key."""
        with self._reading() as connection:
            return {row.key: json.loads(row.value) for row in connection.execute(select(ABOUT))}

    def set_meta(self, key: str, value: Any) -> None:
        """Say something of the whole; ``value`` is JSON-able."""
        with self._writing() as connection:
            _put(connection, ABOUT, [{"key": key, "value": json.dumps(value, sort_keys=True)}])

    def texts(self, keys: Iterable[str]) -> dict[str, Text]:
        """Key -> text, for those that are there; one that is not what was written is not."""
        with self._reading() as connection:
            query = select(TEXTS).where(among(TEXTS.c.key))
            return {
                row.key: Text(row.key, row.kind, row.text, row.model, row.tokens)
                for row in connection.execute(query, listed(keys))
                if row.checksum == _checksum(row.key, row.text)
            }

    def summaries(self, hashes: Mapping[str, str]) -> dict[str, Summary]:
        """Path -> summary, of notes that have one of a content; a model's goes before an extract.

        :param hashes: path -> hash of the content.
        """
        query = (
            select(USES.c.path, USES.c.note_hash, TEXTS)
            .join(TEXTS, TEXTS.c.key == USES.c.key)
            .where(USES.c.current.is_(True), USES.c.kind.in_(("summary", "extract")))
            .where(among(USES.c.path))
        )
        found: dict[str, Summary] = {}
        with self._reading() as connection:
            for row in connection.execute(query, listed(hashes)):
                intact = row.checksum == _checksum(row.key, row.text)
                if not intact or not row.text or row.note_hash != hashes[row.path]:
                    continue
                if row.kind == "summary":
                    found[row.path] = Summary(row.text, row.model)
                else:
                    found.setdefault(row.path, Summary(row.text))
        return found

    def paths(self, roots: Iterable[str] | None = None) -> set[str]:
        """The notes of which anything is known; of those at some paths or below, or of all."""
        found: set[str] = set()
        with self._reading() as connection:
            for table in _BY_NOTE:
                column = table.c.path
                query = select(column).distinct()
                if roots is None:
                    found.update(connection.scalars(query))
                    continue
                for root in roots:
                    # Below a folder are the paths between "folder/" and "folder0".
                    inside = and_(column > f"{root}/", column < f"{root}0")
                    found.update(connection.scalars(query.where(or_(column == root, inside))))
        return found

    def note_hashes(self, paths: Iterable[str]) -> dict[str, str]:
        """Path -> hash of the content of which the texts are that the note has now."""
        query = select(USES.c.path, USES.c.note_hash).distinct()
        query = query.where(USES.c.current.is_(True), among(USES.c.path))
        with self._reading() as connection:
            return {row.path: row.note_hash for row in connection.execute(query, listed(paths))}

    def delete_notes(self, paths: Iterable[str], moved: Mapping[str, str]) -> None:
        """Delete all that is known of notes, and the texts that no other note has.

        :param moved: of them -> another path of the same content: it gets what the note has now, if
            it has nothing.
        """
        with self._writing() as connection:
            for old, new in sorted(moved.items()):
                if connection.execute(select(USES.c.key).where(USES.c.path == new)).first() is None:
                    mine = and_(USES.c.path == old, USES.c.current.is_(True))
                    connection.execute(update(USES).where(mine).values(path=new))
                    failed = update(FAILURES).where(FAILURES.c.path == old)
                    connection.execute(failed.values(path=new))
            query = select(USES.c.key).where(among(USES.c.path)).distinct()
            keys = connection.scalars(query, listed(paths)).all()
            for table in _BY_NOTE:
                _delete(connection, table.c.path, paths)
            _delete_unused(connection, keys)
        faults.point("enrich-forgot")

    def set_requirements(self, uses: Mapping[str, Sequence[TextRef]]) -> None:
        """Say which texts notes need now; what they needed before is kept for a while.

        :param uses: path -> all that the note needs.
        """
        now = time.time()
        with self._writing() as connection:
            for path, needed in uses.items():
                current = and_(USES.c.path == path, USES.c.current.is_(True))
                had = connection.scalars(select(USES.c.key).where(current)).all()
                stale = sorted({*had} - {use.key for use in needed})
                of_path = and_(USES.c.path == path, USES.c.key.in_(stale))
                connection.execute(update(USES).where(of_path).values(current=False, since=now))
                connection.execute(delete(FAILURES).where(FAILURES.c.key.in_(stale)))
                rows = [{**asdict(use), "current": True, "since": now} for use in needed]
                _put(connection, USES, rows)

    def put(self, texts: Iterable[Text]) -> int:
        """Keep texts that a note still needs; notes that need a header are to be indexed with it.

        :returns: how many of the texts were kept. What is of a note that left meanwhile is not.
        """
        wanted = {text.key: text for text in texts}
        now = time.time()
        with self._writing() as connection:
            query = select(USES).where(among(USES.c.key))
            users = connection.execute(query, listed(wanted)).all()
            used = {row.key for row in users}
            rows = [
                {**asdict(text), "made": now, "checksum": _checksum(text.key, text.text)}
                for text in wanted.values()
                if text.key in used
            ]
            _put(connection, TEXTS, rows)
            _delete(connection, FAILURES.c.key, wanted)
            owed = sorted({row.path for row in users if row.kind == "header"})
            _put(connection, OWED, [{"path": path} for path in owed])
            faults.point("enrich-inside-put")
        faults.point("enrich-put")
        return len(rows)

    def fail(self, key: str, path: str, kind: Kind, reason: str) -> None:
        """Keep why a text was not written; it counts the tries."""
        with self._writing() as connection:
            query = select(FAILURES.c.tries).where(FAILURES.c.key == key)
            tries = connection.execute(query).scalar() or 0
            _put(
                connection,
                FAILURES,
                [asdict(Failure(key, path, kind, reason, tries + 1, time.time()))],
            )

    def failures(self) -> list[Failure]:
        """What is not written, by path and key."""
        with self._reading() as connection:
            query = select(FAILURES).order_by(FAILURES.c.path, FAILURES.c.key)
            return [Failure(*row) for row in connection.execute(query)]

    def pending_reindex(self) -> list[str]:
        """The notes that have to be indexed with their headers, sorted."""
        with self._reading() as connection:
            return sorted(connection.scalars(select(OWED.c.path)))

    def mark_reindexed(self, paths: Iterable[str]) -> None:
        """Say that these notes are indexed with their headers."""
        with self._writing() as connection:
            _delete(connection, OWED.c.path, paths)

    def checked(self) -> dict[str, str]:
        """Path -> shape of the notes for which nothing was to be done."""
        with self._reading() as connection:
            return {row.path: row.shape for row in connection.execute(select(SEEN))}

    def mark_checked(self, shapes: Mapping[str, str]) -> None:
        """Say that for these notes nothing is to be done while they are of this shape."""
        with self._writing() as connection:
            _put(connection, SEEN, [{"path": p, "shape": shapes[p]} for p in sorted(shapes)])

    def sweep(self, before: float) -> None:
        """Delete the texts that no note has needed since a time, in seconds since the epoch."""
        with self._writing() as connection:
            old = and_(USES.c.current.is_(False), USES.c.since < before)
            keys = connection.scalars(select(USES.c.key).where(old).distinct()).all()
            if keys:
                connection.execute(delete(USES).where(old))
                _delete_unused(connection, keys)

    def retire_all(self) -> None:
        """Say that no note needs anything any more: all of it was switched off."""
        with self._writing() as connection:
            standing = update(USES).where(USES.c.current.is_(True))
            connection.execute(standing.values(current=False, since=time.time()))
            for table in (FAILURES, OWED, SEEN):
                connection.execute(delete(table))

    def tally(self) -> dict[str, tuple[int, int]]:
        """Kind -> how many texts notes need now that are there, and how many are not."""
        query = (
            select(USES.c.kind, TEXTS.c.key)
            .join(TEXTS, TEXTS.c.key == USES.c.key, isouter=True)
            .where(USES.c.current.is_(True))
        )
        found: dict[str, tuple[int, int]] = {}
        with self._reading() as connection:
            for kind, there in connection.execute(query):
                have, lack = found.get(kind, (0, 0))
                found[kind] = (have + 1, lack) if there is not None else (have, lack + 1)
        return found

    def made_since(self, moment: float) -> int:
        """Requests for texts that a model wrote, or failed to, since a time in seconds since the
        epoch."""
        made = and_(TEXTS.c.made >= moment, TEXTS.c.kind != "extract")
        with self._reading() as connection:
            written = connection.execute(select(TEXTS.c.key).where(made)).all()
            failed = connection.scalars(select(FAILURES.c.tries).where(FAILURES.c.last >= moment))
            return len(written) + sum(min(int(tries), _RETRIED) for tries in failed)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._translated(), self._database.reading() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with self._translated(), self._database.writing() as connection:
            yield connection

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """What mends the catalog would not mend this."""
        try:
            yield
        except IndexDamaged as exc:
            raise IndexDamaged(
                f"{self._database.label}: what was written about the notes cannot be read; delete "
                "this file and run: notehop index"
            ) from exc


def _checksum(key: str, text: str) -> int:
    return zlib.crc32(f"{key}\n{text}".encode())


def _put(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows; one of the same key goes."""
    if rows:
        connection.execute(insert(table).prefix_with("OR REPLACE"), list(rows))


def _delete(connection: Connection, column: Column[str], values: Iterable[str]) -> None:
    connection.execute(delete(column.table).where(among(column)), listed(values))


def _delete_unused(connection: Connection, keys: Iterable[str]) -> None:
    query = select(USES.c.key).where(among(USES.c.key))
    left = {*keys} - {*connection.scalars(query, listed(keys))}
    _delete(connection, TEXTS.c.key, left)
    _delete(connection, FAILURES.c.key, left)


def read_summaries(path: Path, notes: Iterable[NoteRow]) -> dict[str, Summary]:
    """Path -> summary, of those notes that have one of their text as it is indexed.

    :param path: of the store; one that is not there, or cannot be read, has none.
    """
    hashes = {note.path: note.content_hash for note in notes if note.status is NoteStatus.INDEXED}
    try:
        if hashes:
            with EnrichmentStore.reading(path) as store:
                return store.summaries(hashes)
    except IndexFailure:
        pass
    return {}
