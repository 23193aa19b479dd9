"""The store of what was written about the notes: SQLite beside the catalog, outlives a rebuild.

A text is kept under the hash of all that it was made from, as long as a note needs it; then it is
deleted, and its bytes are overwritten.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from sqlalchemy.engine import Connection

from notehop.config.errors import IndexDamaged, IndexFailure
from notehop.indexing import crash_points
from notehop.indexing.stores.catalog_read import CatalogReads, FileStamp
from notehop.indexing.stores.database import Database
from notehop.indexing.stores.rows import NoteRow, NoteStatus

Kind = Literal["summary", "header"]


@dataclass(frozen=True, slots=True)
class Summary:
    """A note in a line. ``model`` names the model that wrote it; None for the note's own words."""

    text: str
    model: str | None = None


LOST = "could not be read and is made anew; what was written about the notes is lost"

VERSION = 1  # raised when a table changes; a store of another version is made anew

# texts: what was written; it stands for any note that would have the same written.
# uses: which note needs which texts; one that is not current was needed before, and its text is kept
# until a run has written all that is needed now.
# owed: notes that have a header which the index does not hold yet.
# Nothing reads what texts say of kind, tokens and made, and uses of since.
_TABLES = {
    "texts": "key VARCHAR NOT NULL PRIMARY KEY, kind VARCHAR NOT NULL, text TEXT NOT NULL, "
    "model VARCHAR NOT NULL, tokens INTEGER NOT NULL, made DOUBLE NOT NULL, checksum BIGINT NOT NULL",
    "uses": "path VARCHAR NOT NULL, key VARCHAR NOT NULL, kind VARCHAR NOT NULL, "
    "note_hash VARCHAR NOT NULL, current BOOLEAN NOT NULL, since DOUBLE NOT NULL, "
    "PRIMARY KEY (path, key)",
    "owed": "path VARCHAR NOT NULL PRIMARY KEY",
    "about": "key VARCHAR NOT NULL PRIMARY KEY, value TEXT NOT NULL",
}
_BY_NOTE = ("uses", "owed")

_LISTED = "IN (SELECT value FROM json_each(?))"
_DELETE_UNUSED = "DELETE FROM texts WHERE key NOT IN (SELECT key FROM uses)"


class EnrichmentStore:
    """One SQLite file; each method is a transaction."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        """Open the file; ``made_anew`` tells of one that could not be read, and is lost."""
        self.made_anew = False
        self._database = Database(path, create=not read_only, read_only=read_only)
        try:
            if not read_only:
                with self._writing() as connection:
                    run = connection.exec_driver_sql
                    if not self._database.tables(connection):
                        for name, columns in _TABLES.items():
                            run(f"CREATE TABLE {name} ({columns})")
                        run("CREATE INDEX uses_by_key ON uses (key)")
                        _put(connection, "about", [("version", json.dumps(VERSION))])
                    # Of releases before, with paths of notes in it.
                    run("DROP TABLE IF EXISTS failures")
                    run("DROP TABLE IF EXISTS seen")
            if self._about("version") != VERSION:
                raise IndexDamaged(f"{path}: of another version, or never finished")
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the store for writing; make one where there is none, a damaged or an older one. Raises
        IndexUnwritable if it cannot be made."""
        try:
            return cls(path, read_only=False)
        except IndexDamaged:
            # With the files that SQLite keeps beside it.
            for suffix in ("-wal", "-shm", "-journal", ""):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            store = cls(path, read_only=False)
            store.made_anew = True
            return store

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def checkpoint(self) -> bool:
        """Empty the journal, so that no byte is left of what was deleted; False if somebody reads."""
        return not self._database.has_journal or self._database.forget_deleted(patience=1.0)

    def last_run(self) -> dict[str, Any]:
        """What the last run left: ``at``, in seconds since the epoch, why it ``stopped``, and what
        ``failed`` of what notes need: path, kind and reason of each, by path and key."""
        last = self._about("last") or {}
        reasons = last.get("failed", {})
        rows = self._rows(
            "SELECT path, kind, key FROM uses WHERE current AND key NOT IN (SELECT key FROM texts) "
            f"AND key {_LISTED} ORDER BY path, key",
            _json(reasons),
        )
        failed = [{"path": path, "kind": kind, "reason": reasons[key]} for path, kind, key in rows]
        return {"at": last.get("at"), "stopped": last.get("stopped"), "failed": failed}

    def failures(self) -> dict[str, str]:
        """Key -> reason, of the texts that were not written when last asked for; the last one last."""
        failed: dict[str, str] = (self._about("last") or {}).get("failed", {})
        return failed

    def set_last_run(self, stopped: str | None, failed: Mapping[str, str]) -> None:
        """:param failed: key of a text -> why it was not written; no word of the note."""
        last = {"at": time.time(), "stopped": stopped, "failed": failed}
        with self._writing() as connection:
            _put(connection, "about", [("last", json.dumps(last))])

    def _about(self, key: str) -> Any:
        rows = self._rows("SELECT value FROM about WHERE key = ?", key)
        return json.loads(rows[0].value) if rows else None

    def texts(self, keys: Iterable[str]) -> dict[str, str]:
        """Key -> text, for those that are there; one that is not what was written is not."""
        rows = self._rows(f"SELECT key, text, checksum FROM texts WHERE key {_LISTED}", _json(keys))
        return {key: text for key, text, checksum in rows if checksum == _checksum(key, text)}

    def summaries(self, hashes: Mapping[str, str]) -> dict[str, Summary]:
        """Path -> summary, of notes that have one of a content.

        :param hashes: path -> hash of the content.
        """
        query = (
            "SELECT path, note_hash, texts.* FROM uses JOIN texts USING (key) "
            f"WHERE current AND uses.kind = 'summary' AND path {_LISTED}"
        )
        return {
            row.path: Summary(row.text, row.model)
            for row in self._rows(query, _json(hashes))
            if row.note_hash == hashes[row.path] and row.checksum == _checksum(row.key, row.text)
        }

    def delete_orphans(self, indexed: Collection[str], catalog: CatalogReads) -> bool:
        """Delete all that is known of notes that are not indexed, and the texts that no other note has.

        Where the content of one is at another path now, that gets what it has, if it has nothing.

        :returns: whether there was any.
        """
        with self._writing() as connection:
            run = connection.exec_driver_sql
            known = " UNION ".join(f"SELECT path FROM {table}" for table in _BY_NOTE)
            gone = {path for (path,) in run(known)}.difference(indexed)
            if not gone:
                return False
            query = f"SELECT DISTINCT path, note_hash FROM uses WHERE path {_LISTED}"
            hashes = run(query, (_json(gone),)).all()
            holders = catalog.paths_by_content_hash({note_hash for _, note_hash in hashes})
            for old, note_hash in sorted(hashes):
                new = next((one for one in holders.get(note_hash, ()) if one in indexed), None)
                if new and run("SELECT 1 FROM uses WHERE path = ?", (new,)).first() is None:
                    of_this = "UPDATE uses SET path = ? WHERE path = ? AND note_hash = ?"
                    run(of_this, (new, old, note_hash))
            for table in _BY_NOTE:
                run(f"DELETE FROM {table} WHERE path {_LISTED}", (_json(gone),))
            run(_DELETE_UNUSED)
        crash_points.point("enrich-forgot")
        return True

    def set_requirements(self, needed: Mapping[str, Mapping[str, Kind]], hashes: Mapping[str, str]) -> None:
        """Say which texts (key -> kind) notes need now; those they needed before are kept.

        :param hashes: path -> hash of the note's content.
        """
        now = time.time()
        rows = [
            (path, key, kind, hashes[path], 1, now)
            for path, texts in needed.items()
            for key, kind in texts.items()
        ]
        with self._writing() as connection:
            query = f"UPDATE uses SET current = 0 WHERE path {_LISTED}"
            connection.exec_driver_sql(query, (_json(needed),))
            _put(connection, "uses", rows)

    def delete_unused(self) -> None:
        """Delete the texts that no note needs any more."""
        with self._writing() as connection:
            connection.exec_driver_sql("DELETE FROM uses WHERE NOT current")
            connection.exec_driver_sql(_DELETE_UNUSED)

    def put(self, key: str, text: str, model: str) -> bool:
        """Keep a text, if a note still needs it: not that of one that left meanwhile. Notes that need
        it as a header are to be indexed with it. Returns whether it was kept."""
        with self._writing() as connection:
            query = "SELECT path, kind FROM uses WHERE key = ? ORDER BY path"
            users = connection.exec_driver_sql(query, (key,)).all()
            if users:
                row = (key, users[0].kind, text, model, 0, time.time(), _checksum(key, text))
                _put(connection, "texts", [row])
            _put(connection, "owed", [(path,) for path, kind in users if kind == "header"])
            crash_points.point("enrich-inside-put")
        crash_points.point("enrich-put")
        return bool(users)

    def pending_reindex(self) -> list[str]:
        """The notes that have to be indexed with their headers, sorted."""
        return sorted(path for (path,) in self._rows("SELECT path FROM owed"))

    def mark_reindexed(self, paths: Iterable[str]) -> None:
        with self._writing() as connection:
            connection.exec_driver_sql(f"DELETE FROM owed WHERE path {_LISTED}", (_json(paths),))

    def tally(self) -> dict[str, tuple[int, int]]:
        """Kind -> how many texts notes need now that are there, and how many are not."""
        query = (
            "SELECT uses.kind, count(texts.key), count(*) - count(texts.key) "
            "FROM uses LEFT JOIN texts USING (key) "
            "WHERE current AND uses.kind IN ('summary', 'header') GROUP BY uses.kind"
        )
        return {kind: (have, lack) for kind, have, lack in self._rows(query)}

    def _rows(self, query: str, *values: Any) -> Sequence[Any]:
        with self._translated(), self._database.reading() as connection:
            return connection.exec_driver_sql(query, values).all()

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


def _json(values: Iterable[str]) -> str:
    return json.dumps([*values])


def _put(connection: Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows; one of the same key goes."""
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        connection.exec_driver_sql(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", list(rows))


def read_summaries(path: Path, notes: Iterable[NoteRow]) -> dict[str, Summary]:
    """Path -> summary, of those notes that have one of their text as it is indexed; none where the
    store is not there, or cannot be read."""
    hashes = {note.path: note.content_hash for note in notes if note.status is NoteStatus.INDEXED}
    if hashes:
        with suppress(IndexFailure), EnrichmentStore(path, read_only=True) as store:
            return store.summaries(hashes)
    return {}


def delete_orphans(path: Path, catalog: CatalogReads, stamps: Mapping[str, FileStamp]) -> list[str]:
    """Delete what was written about notes that are not in the index, bytes included.

    A crash before this is done is seen by the next run.

    :param path: of the store.
    :param stamps: those of all notes of the catalog.
    :returns: what the owner of the notes should know.
    """
    if not path.is_file():
        return []
    indexed = {note for note, stamp in stamps.items() if stamp.status is NoteStatus.INDEXED}
    try:
        with EnrichmentStore.open(path) as store:
            if store.made_anew:
                return [f"{path}: {LOST}"]
            deleted = store.delete_orphans(indexed, catalog)
            if not store.checkpoint() and deleted:
                return [
                    f"{path}: what was written about notes that left stands in its journal, since "
                    "somebody reads it; the next run empties that"
                ]
    except IndexFailure as exc:
        return [f"what was written about notes that left is still there: {exc}"]
    return []
