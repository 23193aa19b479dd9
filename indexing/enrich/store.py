"""The store of what was written about the notes: SQLite beside the catalog, outlives a rebuild.

A text is kept under the hash of all that it was made from, so that none is made twice. It is kept
as long as a note needs it, and some days longer; when its note leaves the index it is deleted, and
its bytes are overwritten.

Touches: index (``enrichment.sqlite``).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import and_, delete, or_, select, update
from sqlalchemy.engine import Connection

from notehop.indexing import faults
from notehop.indexing.enrich.rows import Failure, Kind, Text, Use, checksum, text_row, use_row
from notehop.indexing.enrich.schema import FAILURES, OWED, SEEN, TEXTS, USES
from notehop.indexing.enrich.store_file import StoreFile, put_rows
from notehop.indexing.stores.catalog_fetch import IN_LIST, slices

_RETRIED = 3
"""Tries of one text that count as of the last hour: after as many it is left for a day."""


class EnrichmentStore(StoreFile):
    """Reads and writes one store; each method is a transaction."""

    def texts(self, keys: Iterable[str]) -> dict[str, Text]:
        """Key -> text, for those that are there; one that is not what was written is not."""
        found: dict[str, Text] = {}
        with self._reading() as connection:
            for part in slices(sorted(set(keys)), IN_LIST):
                for row in connection.execute(select(TEXTS).where(TEXTS.c.key.in_(part))):
                    if row.checksum == checksum(row.key, row.text):
                        found[row.key] = Text(row.key, row.kind, row.text, row.model, row.tokens)
        return found

    def has(self, kind: Kind) -> bool:
        """Whether there is any text of a kind."""
        with self._reading() as connection:
            query = select(TEXTS.c.key).where(TEXTS.c.kind == kind).limit(1)
            return connection.execute(query).first() is not None

    def of_notes(self, paths: Iterable[str], kinds: Sequence[Kind]) -> Iterator[tuple[Use, Text]]:
        """The texts that notes have now, with the content that they are of."""
        query = (
            select(USES, TEXTS.c.text, TEXTS.c.model, TEXTS.c.tokens, TEXTS.c.checksum)
            .join(TEXTS, TEXTS.c.key == USES.c.key)
            .where(and_(USES.c.current.is_(True), USES.c.kind.in_(kinds)))
        )
        with self._reading() as connection:
            for part in slices(sorted(set(paths)), IN_LIST):
                for row in connection.execute(query.where(USES.c.path.in_(part))):
                    if row.checksum == checksum(row.key, row.text):
                        yield (
                            Use(row.path, row.key, row.kind, row.note_hash),
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
        found: dict[str, str] = {}
        query = select(USES.c.path, USES.c.note_hash).where(USES.c.current.is_(True)).distinct()
        with self._reading() as connection:
            for part in slices(sorted(set(paths)), IN_LIST):
                found |= {
                    r[0]: r[1] for r in connection.execute(query.where(USES.c.path.in_(part)))
                }
        return found

    def move(self, old: str, new: str) -> None:
        """Give what a note has now to another path of the same content, if that has nothing."""
        with self._writing() as connection:
            if connection.execute(select(USES.c.key).where(USES.c.path == new)).first() is None:
                mine = and_(USES.c.path == old, USES.c.current.is_(True))
                connection.execute(update(USES).where(mine).values(path=new))
                connection.execute(update(FAILURES).where(FAILURES.c.path == old).values(path=new))

    def note(self, uses: Mapping[str, Sequence[Use]]) -> None:
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
                put_rows(connection, USES, [use_row(use, now) for use in needed])

    def put(self, texts: Iterable[Text]) -> int:
        """Keep texts that a note still needs; notes that need a header are to be indexed with it.

        :returns: how many of the texts were kept. What is of a note that left meanwhile is not.
        """
        wanted = list({text.key: text for text in texts}.values())
        now = time.time()
        kept = 0
        with self._writing() as connection:
            for part in slices(wanted, IN_LIST // 2):
                keys = [text.key for text in part]
                query = select(USES.c.key, USES.c.path, USES.c.kind)
                users = connection.execute(query.where(USES.c.key.in_(keys))).all()
                used = {row.key for row in users}
                connection.execute(delete(TEXTS).where(TEXTS.c.key.in_(keys)))
                connection.execute(delete(FAILURES).where(FAILURES.c.key.in_(keys)))
                rows = [text_row(text, now) for text in part if text.key in used]
                put_rows(connection, TEXTS, rows)
                kept += len(rows)
                owed = sorted({row.path for row in users if row.kind == "header"})
                connection.execute(delete(OWED).where(OWED.c.path.in_(owed)))
                put_rows(connection, OWED, [{"path": path} for path in owed])
            faults.point("enrich-inside-put")
        faults.point("enrich-put")
        return kept

    def fail(self, key: str, path: str, kind: Kind, reason: str) -> None:
        """Keep why a text was not written; it counts the tries."""
        with self._writing() as connection:
            query = select(FAILURES.c.tries).where(FAILURES.c.key == key)
            tries = connection.execute(query).scalar() or 0
            connection.execute(delete(FAILURES).where(FAILURES.c.key == key))
            values = {"key": key, "path": path, "kind": kind, "reason": reason}
            put_rows(connection, FAILURES, [{**values, "tries": tries + 1, "last": time.time()}])

    def failures(self) -> list[Failure]:
        """What is not written, by path and key."""
        with self._reading() as connection:
            rows = connection.execute(select(FAILURES)).all()
        found = [Failure(r.key, r.path, r.kind, r.reason, r.tries, r.last) for r in rows]
        return sorted(found, key=lambda one: (one.path, one.key))

    def owed(self) -> list[str]:
        """The notes that have to be indexed with their headers, sorted."""
        with self._reading() as connection:
            return sorted(row[0] for row in connection.execute(select(OWED.c.path)))

    def settle(self, paths: Iterable[str]) -> None:
        """Say that these notes are indexed with their headers."""
        with self._writing() as connection:
            for part in slices(sorted(set(paths)), IN_LIST):
                connection.execute(delete(OWED).where(OWED.c.path.in_(part)))

    def seen(self) -> dict[str, str]:
        """Path -> shape of the notes for which nothing was to be done."""
        with self._reading() as connection:
            return {row[0]: row[1] for row in connection.execute(select(SEEN))}

    def see(self, shapes: Mapping[str, str]) -> None:
        """Say that for these notes nothing is to be done while they are of this shape."""
        with self._writing() as connection:
            for part in slices(sorted(shapes), IN_LIST):
                connection.execute(delete(SEEN).where(SEEN.c.path.in_(part)))
                put_rows(connection, SEEN, [{"path": p, "shape": shapes[p]} for p in part])

    def forget(self, paths: Iterable[str]) -> bool:
        """Delete all that is known of notes, and the texts that no other note has.

        :returns: whether there was anything: then :meth:`fold` is due.
        """
        found = False
        with self._writing() as connection:
            for part in slices(sorted(set(paths)), IN_LIST):
                query = select(USES.c.key).where(USES.c.path.in_(part)).distinct()
                keys = [row[0] for row in connection.execute(query)]
                for table in (USES, FAILURES, OWED, SEEN):
                    gone = connection.execute(delete(table).where(table.c.path.in_(part))).rowcount
                    found |= gone > 0
                _delete_unused(connection, keys)
        faults.point("enrich-forgot")
        return found

    def sweep(self, before: float) -> bool:
        """Delete the texts that no note has needed since a time, in seconds since the epoch.

        :returns: whether there was any: then :meth:`fold` is due.
        """
        with self._writing() as connection:
            old = and_(USES.c.current.is_(False), USES.c.since < before)
            keys = [row[0] for row in connection.execute(select(USES.c.key).where(old).distinct())]
            if not keys:
                return False
            connection.execute(delete(USES).where(old))
            _delete_unused(connection, keys)
        return True

    def retire(self) -> None:
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


def _delete_unused(connection: Connection, keys: Sequence[str]) -> None:
    for part in slices(keys, IN_LIST // 2):
        query = select(USES.c.key).where(USES.c.key.in_(part))
        used = {row[0] for row in connection.execute(query)}
        left = [key for key in part if key not in used]
        connection.execute(delete(TEXTS).where(TEXTS.c.key.in_(left)))
        connection.execute(delete(FAILURES).where(FAILURES.c.key.in_(left)))
