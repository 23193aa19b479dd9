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
from notehop.indexing.stores.sqlite import Database, among, listed

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


_RETRIED = 3
"""Tries of one text that count as of the last hour: after as many it is left for a day."""


class EnrichmentStore:
    """One SQLite file; each method is a transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
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
            _remove(path)
            store = cls._opened(path)
            store.made_anew = True
            return store

    @classmethod
    def _opened(cls, path: Path) -> Self:
        store = cls(Database(path, create=True))
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
            store = cls(Database(path, read_only=True))
        except IndexMissing:
            return None
        try:
            if store.meta().get("version") != VERSION:
                raise _Other
        except (IndexFailure, _Other):
            store.close()
            return None
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
        return self._database.fold(patience=1.0)

    @property
    def has_journal(self) -> bool:
        """Whether something stands in the journal."""
        return self._database.has_journal

    def meta(self) -> dict[str, Any]:
        """What is said of the whole, by key."""
        with self._reading() as connection:
            return {row[0]: json.loads(row[1]) for row in connection.execute(select(ABOUT))}

    def set_meta(self, key: str, value: Any) -> None:
        """Say something of the whole; ``value`` is JSON-able."""
        with self._writing() as connection:
            connection.execute(delete(ABOUT).where(ABOUT.c.key == key))
            _put_rows(connection, ABOUT, [{"key": key, "value": json.dumps(value, sort_keys=True)}])

    def _create(self) -> None:
        with self._writing() as connection:
            tables = set(inspect(connection).get_table_names())
            if not tables:
                METADATA.create_all(connection)
                _put_rows(connection, ABOUT, [{"key": "version", "value": json.dumps(VERSION)}])
        self._check()

    def _check(self) -> None:
        with self._reading() as connection:
            tables = set(inspect(connection).get_table_names())
        if not tables.issuperset(METADATA.tables) or self.meta().get("version") != VERSION:
            raise _Other

    def texts(self, keys: Iterable[str]) -> dict[str, Text]:
        """Key -> text, for those that are there; one that is not what was written is not."""
        found: dict[str, Text] = {}
        with self._reading() as connection:
            query = select(TEXTS).where(among(TEXTS.c.key))
            for row in connection.execute(query, listed(keys)):
                if row.checksum == _checksum(row.key, row.text):
                    found[row.key] = Text(row.key, row.kind, row.text, row.model, row.tokens)
        return found

    def of_notes(
        self, paths: Iterable[str], kinds: Sequence[Kind]
    ) -> Iterator[tuple[TextRef, Text]]:
        """The texts that notes have now, with the content that they are of."""
        query = (
            select(USES, TEXTS.c.text, TEXTS.c.model, TEXTS.c.tokens, TEXTS.c.checksum)
            .join(TEXTS, TEXTS.c.key == USES.c.key)
            .where(and_(USES.c.current.is_(True), USES.c.kind.in_(kinds)))
        )
        with self._reading() as connection:
            for row in connection.execute(query.where(among(USES.c.path)), listed(paths)):
                if row.checksum == _checksum(row.key, row.text):
                    yield (
                        TextRef(row.path, row.key, row.kind, row.note_hash),
                        Text(row.key, row.kind, row.text, row.model, row.tokens),
                    )

    def paths(self, roots: Iterable[str] | None = None) -> set[str]:
        """The notes of which anything is known; of those at some paths or below, or of all."""
        found: set[str] = set()
        with self._reading() as connection:
            for table in (USES, FAILURES, OWED, SEEN):
                column = table.c.path
                query = select(column).distinct()
                if roots is None:
                    found |= {row[0] for row in connection.execute(query)}
                    continue
                for root in roots:
                    # Below a folder are the paths between "folder/" and "folder0".
                    inside = and_(column > f"{root}/", column < f"{root}0")
                    at = query.where(or_(column == root, inside))
                    found |= {row[0] for row in connection.execute(at)}
        return found

    def note_hashes(self, paths: Iterable[str]) -> dict[str, str]:
        """Path -> hash of the content of which the texts are that the note has now."""
        query = select(USES.c.path, USES.c.note_hash).distinct()
        query = query.where(USES.c.current.is_(True), among(USES.c.path))
        with self._reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query, listed(paths))}

    def move(self, old: str, new: str) -> None:
        """Give what a note has now to another path of the same content, if that has nothing."""
        with self._writing() as connection:
            if connection.execute(select(USES.c.key).where(USES.c.path == new)).first() is None:
                mine = and_(USES.c.path == old, USES.c.current.is_(True))
                connection.execute(update(USES).where(mine).values(path=new))
                connection.execute(update(FAILURES).where(FAILURES.c.path == old).values(path=new))

    def set_requirements(self, uses: Mapping[str, Sequence[TextRef]]) -> None:
        """Say which texts notes need now; what they needed before is kept for a while.

        :param uses: path -> all that the note needs.
        """
        now = time.time()
        with self._writing() as connection:
            for path, needed in uses.items():
                keys = {use.key for use in needed}
                rows = connection.execute(select(USES).where(USES.c.path == path)).all()
                stale = [row.key for row in rows if row.current and row.key not in keys]
                of_path = and_(USES.c.path == path, USES.c.key.in_(stale))
                connection.execute(update(USES).where(of_path).values(current=False, since=now))
                connection.execute(delete(FAILURES).where(FAILURES.c.key.in_(stale)))
                mine = and_(USES.c.path == path, USES.c.key.in_(keys))
                connection.execute(delete(USES).where(mine))
                _put_rows(
                    connection,
                    USES,
                    [{**asdict(use), "current": True, "since": now} for use in needed],
                )

    def put(self, texts: Iterable[Text]) -> int:
        """Keep texts that a note still needs; notes that need a header are to be indexed with it.

        :returns: how many of the texts were kept. What is of a note that left meanwhile is not.
        """
        wanted = list({text.key: text for text in texts}.values())
        now = time.time()
        with self._writing() as connection:
            keys = listed(text.key for text in wanted)
            query = select(USES.c.key, USES.c.path, USES.c.kind).where(among(USES.c.key))
            users = connection.execute(query, keys).all()
            used = {row.key for row in users}
            for table in (TEXTS, FAILURES):
                connection.execute(delete(table).where(among(table.c.key)), keys)
            rows = [
                {**asdict(text), "made": now, "checksum": _checksum(text.key, text.text)}
                for text in wanted
                if text.key in used
            ]
            _put_rows(connection, TEXTS, rows)
            owed = sorted({row.path for row in users if row.kind == "header"})
            connection.execute(delete(OWED).where(among(OWED.c.path)), listed(owed))
            _put_rows(connection, OWED, [{"path": path} for path in owed])
            faults.point("enrich-inside-put")
        faults.point("enrich-put")
        return len(rows)

    def fail(self, key: str, path: str, kind: Kind, reason: str) -> None:
        """Keep why a text was not written; it counts the tries."""
        with self._writing() as connection:
            query = select(FAILURES.c.tries).where(FAILURES.c.key == key)
            tries = connection.execute(query).scalar() or 0
            connection.execute(delete(FAILURES).where(FAILURES.c.key == key))
            values = {"key": key, "path": path, "kind": kind, "reason": reason}
            _put_rows(connection, FAILURES, [{**values, "tries": tries + 1, "last": time.time()}])

    def failures(self) -> list[Failure]:
        """What is not written, by path and key."""
        with self._reading() as connection:
            rows = connection.execute(select(FAILURES)).all()
        return sorted((Failure(*row) for row in rows), key=lambda one: (one.path, one.key))

    def pending_reindex(self) -> list[str]:
        """The notes that have to be indexed with their headers, sorted."""
        with self._reading() as connection:
            return sorted(row[0] for row in connection.execute(select(OWED.c.path)))

    def mark_reindexed(self, paths: Iterable[str]) -> None:
        """Say that these notes are indexed with their headers."""
        with self._writing() as connection:
            connection.execute(delete(OWED).where(among(OWED.c.path)), listed(paths))

    def checked(self) -> dict[str, str]:
        """Path -> shape of the notes for which nothing was to be done."""
        with self._reading() as connection:
            return {row[0]: row[1] for row in connection.execute(select(SEEN))}

    def mark_checked(self, shapes: Mapping[str, str]) -> None:
        """Say that for these notes nothing is to be done while they are of this shape."""
        with self._writing() as connection:
            connection.execute(delete(SEEN).where(among(SEEN.c.path)), listed(shapes))
            _put_rows(connection, SEEN, [{"path": p, "shape": shapes[p]} for p in sorted(shapes)])

    def delete_notes(self, paths: Iterable[str]) -> bool:
        """Delete all that is known of notes, and the texts that no other note has.

        :returns: whether there was anything: then :meth:`checkpoint` is due.
        """
        found, left = False, listed(paths)
        with self._writing() as connection:
            query = select(USES.c.key).where(among(USES.c.path)).distinct()
            keys = [row[0] for row in connection.execute(query, left)]
            for table in (USES, FAILURES, OWED, SEEN):
                gone = connection.execute(delete(table).where(among(table.c.path)), left).rowcount
                found |= gone > 0
            _delete_unused(connection, keys)
        faults.point("enrich-forgot")
        return found

    def sweep(self, before: float) -> bool:
        """Delete the texts that no note has needed since a time, in seconds since the epoch.

        :returns: whether there was any: then :meth:`checkpoint` is due.
        """
        with self._writing() as connection:
            old = and_(USES.c.current.is_(False), USES.c.since < before)
            keys = [row[0] for row in connection.execute(select(USES.c.key).where(old).distinct())]
            if not keys:
                return False
            connection.execute(delete(USES).where(old))
            _delete_unused(connection, keys)
        return True

    def retire_all(self) -> None:
        """Say that no note needs anything any more: all of it was switched off."""
        with self._writing() as connection:
            standing = USES.c.current.is_(True)
            connection.execute(
                update(USES).where(standing).values(current=False, since=time.time())
            )
            for table in (FAILURES, OWED, SEEN):
                connection.execute(delete(table))

    def tally(self) -> dict[str, tuple[int, int]]:
        """Kind -> how many texts notes need now that are there, and how many are not."""
        query = (
            select(USES.c.kind, USES.c.key, TEXTS.c.key)
            .join(TEXTS, TEXTS.c.key == USES.c.key, isouter=True)
            .where(USES.c.current.is_(True))
        )
        found: dict[str, tuple[int, int]] = {}
        with self._reading() as connection:
            for kind, _, there in connection.execute(query):
                have, lack = found.get(kind, (0, 0))
                found[kind] = (have + 1, lack) if there is not None else (have, lack + 1)
        return found

    def made_since(self, moment: float) -> int:
        """Requests for texts that a model wrote, or failed to, since a time in seconds since the
        epoch."""
        with self._reading() as connection:
            made = and_(TEXTS.c.made >= moment, TEXTS.c.kind != "extract")
            written = connection.execute(select(TEXTS.c.key).where(made)).all()
            failed = connection.execute(select(FAILURES.c.tries).where(FAILURES.c.last >= moment))
            return len(written) + sum(min(int(row.tries), _RETRIED) for row in failed)

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


class _Other(Exception):
    """The store is of another version, or was never finished."""


def _remove(path: Path) -> None:
    """Delete a store with the files that SQLite keeps beside it."""
    for suffix in ("-wal", "-shm", "-journal", ""):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _put_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), list(rows))


def _delete_unused(connection: Connection, keys: Sequence[str]) -> None:
    query = select(USES.c.key).where(among(USES.c.key))
    used = {row[0] for row in connection.execute(query, listed(keys))}
    left = listed(key for key in keys if key not in used)
    for table in (TEXTS, FAILURES):
        connection.execute(delete(table).where(among(table.c.key)), left)
