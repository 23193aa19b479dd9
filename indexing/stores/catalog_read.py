"""Reading the catalog: every question its readers ask, answered in a fixed order.

Touches: index (reads).
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import Column, ColumnElement, Select, func, or_, select, tuple_
from sqlalchemy.engine import Connection, Row

from notehop.indexing.graph.files import NOTE_SUFFIX
from notehop.indexing.stores.catalog_rows import (
    PackedTokens,
    chunk_row,
    indexed,
    link_row,
    name_key,
    note_row,
    vector_row,
)
from notehop.indexing.stores.database import among, damaged, listed
from notehop.indexing.stores.labels import DATE
from notehop.indexing.stores.model import (
    ChunkId,
    ChunkKey,
    ChunkRow,
    FieldTokens,
    LinkRow,
    Matrix,
    NoteRow,
    NoteStatus,
)
from notehop.indexing.stores.model import Collection as Vectored
from notehop.indexing.stores.schema import (
    ATTACHMENTS,
    CHANGES,
    CHUNKS,
    LABELS,
    LINKS,
    META,
    NAMES,
    NOTES,
    VECTORS,
)

Made = TypeVar("Made")

Query = Select[*tuple[Any, ...]]

Fetched = Row[*tuple[Any, ...]]

PAGE = 5_000
"""Rows an iterator reads at a time."""

_PLACE = attrgetter("path", "ordinal")

_PATH = attrgetter("path")

_VECTORS = select(VECTORS.c.id, VECTORS.c.vector, VECTORS.c.checksum)

_NAMED = select(NAMES.c.key, NAMES.c.path).where(among(NAMES.c.key))
"""What every query asks; made once, as are these:"""

_NOTES_AT = select(NOTES).where(among(NOTES.c.path))
_CHUNKS_OF_ID = select(CHUNKS).where(among(CHUNKS.c.id))
_LINKS_BY = {
    column: select(LINKS).where(among(column))
    for column in (LINKS.c.path, LINKS.c.target_path, LINKS.c.name_key)
}


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What tells whether a file changed, without reading the rest of its row."""

    size: int
    mtime_ns: int
    content_hash: str
    status: NoteStatus


@dataclass(frozen=True, slots=True)
class Counts:
    """How much the catalog holds: notes by status, chunks, links by status; absent means none."""

    notes: Mapping[str, int]
    chunks: int
    links: Mapping[str, int]


class CatalogReads(ABC):
    """The questions. Each sees one generation; lists and iterators are sorted by path, ordinal.

    Where the connection comes from is the subclass's matter.
    """

    label: str

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Connection]:
        """A connection inside a read transaction."""

    def answer(self, query: Query, make: Callable[[Fetched], Made]) -> list[Made]:
        """What is made of each row of a query of the caller's own, in the order of the query."""
        return self._made(make, self._rows(query))

    @property
    def generation(self) -> int:
        """The number of the last commit; 0 for a new catalog."""
        return int(self._rows(select(META.c.value).where(META.c.key == "generation"))[0][0])

    def meta(self) -> dict[str, Any]:
        """Everything said about the index as a whole, by key."""
        rows = self._rows(select(META).order_by(META.c.key))
        return dict(self._made(lambda row: (row[0], json.loads(row[1])), rows))

    def counts(self) -> Counts:
        """How much there is."""
        with self._reading() as connection:
            notes, chunks, links = (
                self._fetch(connection, query)
                for query in (
                    select(NOTES.c.status, func.count()).group_by(NOTES.c.status),
                    select(func.count()).select_from(CHUNKS),
                    select(LINKS.c.status, func.count()).group_by(LINKS.c.status),
                )
            )
        return Counts(
            {str(row[0]): int(row[1]) for row in sorted(notes)},
            int(chunks[0][0]),
            {str(row[0]): int(row[1]) for row in sorted(links)},
        )

    @property
    def has_chunks(self) -> bool:
        """Whether any note has a chunk."""
        return bool(self._rows(select(CHUNKS.c.id).limit(1)))

    def notes(self, status: NoteStatus | None = None) -> list[NoteRow]:
        """All notes, or those of one status, by path."""
        query = select(NOTES)
        if status is not None:
            query = query.where(NOTES.c.status == status.value)
        return sorted(self._made(note_row, self._rows(query)), key=_PATH)

    def note(self, path: str) -> NoteRow | None:
        """One note; None if the catalog has none at this path."""
        return self.notes_at([path]).get(path)

    def notes_at(self, paths: Iterable[str]) -> dict[str, NoteRow]:
        """Path -> note, for those that are there, by path."""
        rows = self._made(note_row, self._rows(_NOTES_AT, paths))
        return {note.path: note for note in sorted(rows, key=_PATH)}

    def notes_named(self, name: str) -> list[str]:
        """The indexed notes whose title or alias is ``name``, sorted; none for an empty name.

        Compared without case and Unicode form, with white space collapsed.
        """
        return self.named_any([name]).get(name, [])

    def named_any(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Name -> the notes of :meth:`notes_named`, for those of the names that are some note's."""
        keys = {name: name_key(name) for name in names}
        found: dict[str, list[str]] = {}
        for key, path in sorted(map(tuple, self._rows(_NAMED, set(keys.values()) - {""}))):
            found.setdefault(key, []).append(path)
        return {name: found[key] for name, key in keys.items() if key in found}

    def stamps(self) -> dict[str, FileStamp]:
        """Path -> stamp of every note, by path."""
        query = select(
            NOTES.c.path, NOTES.c.size, NOTES.c.mtime_ns, NOTES.c.content_hash, NOTES.c.status
        )
        return dict(
            self._made(
                lambda row: (row[0], FileStamp(row[1], row[2], row[3], NoteStatus(row[4]))),
                self._sorted(self._rows(query), key=itemgetter(0)),
            )
        )

    def attachments(self) -> dict[str, bool]:
        """Path -> whether it is kept out, of every file that is no note, by path."""
        rows = self._rows(select(ATTACHMENTS))
        return dict(sorted(self._made(lambda row: (row[0], bool(row[1])), rows)))

    def names(self) -> list[tuple[str, str]]:
        """(name, path) of the title and aliases of every indexed note, folded, sorted."""
        return [(row[0], row[1]) for row in sorted(self._plain_rows(select(NAMES)))]

    def aliases(self) -> dict[str, tuple[str, ...]]:
        """Path -> aliases, of every note that has any, by path."""
        query = select(NOTES.c.path, NOTES.c.aliases).where(NOTES.c.aliases != "[]")
        rows = self._made(lambda row: (row[0], tuple(json.loads(row[1]))), self._rows(query))
        return {path: aliases for path, aliases in sorted(rows) if aliases}

    def paths_by_content_hash(self, hashes: Iterable[str]) -> dict[str, list[str]]:
        """Content hash -> paths of the notes that have it, sorted: where a moved note came from."""
        query = select(NOTES.c.content_hash, NOTES.c.path).where(among(NOTES.c.content_hash))
        found: dict[str, list[str]] = {}
        for row in sorted(self._rows(query, hashes)):
            found.setdefault(row[0], []).append(row[1])
        return found

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, ChunkRow]:
        """Id -> chunk, for those that are there, in the order of ``ids``."""
        wanted = list(dict.fromkeys(ids))
        rows = self._made(chunk_row, self._rows(_CHUNKS_OF_ID, wanted))
        found = {chunk.id: chunk for chunk in rows}
        return {chunk_id: found[chunk_id] for chunk_id in wanted if chunk_id in found}

    def chunks_of(self, path: str) -> list[ChunkRow]:
        """The chunks of a note in text order; empty if there is none."""
        rows = self._rows(select(CHUNKS).where(CHUNKS.c.path == path).order_by(CHUNKS.c.ordinal))
        return self._made(chunk_row, rows)

    def chunk_keys(self, paths: Iterable[str] | None = None) -> list[ChunkKey]:
        """The keys of all chunks, or of those of some notes."""
        query = select(
            CHUNKS.c.id,
            CHUNKS.c.path,
            CHUNKS.c.ordinal,
            CHUNKS.c.embedded_hash,
            CHUNKS.c.generation,
        )
        rows = self._of_paths(query, CHUNKS.c.path, paths)
        return self._sorted(self._made(lambda row: ChunkKey(*row), rows), key=_PLACE)

    def chunk_lines(self, paths: Iterable[str]) -> dict[str, tuple[tuple[ChunkId, int, int], ...]]:
        """Path -> (id, first line, last line) of its chunks in order, by path; none, no entry.

        Properties are left out where the note has text.
        """
        query = select(
            CHUNKS.c.path,
            CHUNKS.c.ordinal,
            CHUNKS.c.id,
            CHUNKS.c.first_line,
            CHUNKS.c.last_line,
            CHUNKS.c.kind,
        ).where(among(CHUNKS.c.path))
        found: dict[str, list[tuple[ChunkId, int, int]]] = {}
        # By path and ordinal: rows themselves compare slowly.
        for row in self._sorted(self._rows(query, paths), key=itemgetter(0, 1)):
            # Those of the text come first.
            if row[5] == "text" or row[0] not in found:
                found.setdefault(row[0], []).append((row[2], row[3], row[4]))
        return {path: tuple(lines) for path, lines in found.items()}

    def chunk_ids(self) -> dict[str, tuple[ChunkId, ...]]:
        """Path -> ids of its chunks in order, by path, for all notes that have any."""
        query = select(CHUNKS.c.path, CHUNKS.c.ordinal, CHUNKS.c.id)
        found: dict[str, list[ChunkId]] = {}
        # Sorted again: an index that is broken gives them in another order.
        for path, _, chunk_id in self._sorted(
            self._plain_rows(query.order_by(CHUNKS.c.path, CHUNKS.c.ordinal))
        ):
            found.setdefault(path, []).append(chunk_id)
        return {path: tuple(ids) for path, ids in found.items()}

    def chunk_tokens(
        self, ids: Iterable[ChunkId] | None = None, *, since_generation: int | None = None
    ) -> Iterator[tuple[ChunkId, FieldTokens]]:
        """The tokens of chunks, by id: all, those named, those written after a generation, or both.

        :raises IndexDamaged: while iterating, when stored tokens cannot be read.
        """
        query = select(CHUNKS.c.id, CHUNKS.c.tokens)
        if since_generation is not None:
            # The ids first: sorting by them, SQLite would go through all chunks instead.
            newer = select(CHUNKS.c.id).where(CHUNKS.c.generation > since_generation)
            found = {row[0] for row in self._plain_rows(newer)}
            ids = found if ids is None else found.intersection(ids)
        with self._reading() as connection:
            if ids is None:
                rows = self._pages(connection, query, (CHUNKS.c.id,))
            else:
                named = query.where(among(CHUNKS.c.id)).order_by(CHUNKS.c.id)
                parts = slices(sorted(set(ids)), PAGE)
                rows = (row for some in parts for row in self._fetch(connection, named, some))
            for row in rows:
                yield row[0], PackedTokens(bytes(row[1]))

    def vectors(self, name: Vectored, ids: Iterable[str]) -> tuple[list[str], Matrix]:
        """Those of the ids that have a vector, sorted, and a float32 matrix, a row each.

        :returns: of no ids, a matrix of shape (0, 0).
        :raises IndexDamaged: if one is not what was written.
        """
        query = _VECTORS.where(VECTORS.c.collection == name, among(VECTORS.c.id))
        return _stacked(sorted(self._made(vector_row, self._rows(query, ids))))

    def all_vectors(self, name: Vectored) -> Iterator[tuple[list[str], Matrix]]:
        """As :meth:`vectors` of all ids, some thousand at a time."""
        query = _VECTORS.where(VECTORS.c.collection == name)
        with self._reading() as connection:
            rows = self._pages(connection, query, (VECTORS.c.id,))
            while some := self._made(vector_row, islice(rows, PAGE)):
                yield _stacked(some)

    def chunk_by_embedded_hash(self, hashes: Iterable[str]) -> dict[str, ChunkId]:
        """Hash of an embedded text -> the first chunk, by id, that has it: its vector fits."""
        query = select(CHUNKS.c.embedded_hash, func.min(CHUNKS.c.id))
        query = query.where(among(CHUNKS.c.embedded_hash)).group_by(CHUNKS.c.embedded_hash)
        return {row[0]: row[1] for row in sorted(self._rows(query, hashes))}

    def links_from(self, paths: Iterable[str]) -> list[LinkRow]:
        """The links that stand in these notes."""
        return self._links(LINKS.c.path, paths)

    def links_to(self, paths: Iterable[str]) -> list[LinkRow]:
        """The links that lead to these files."""
        return self._links(LINKS.c.target_path, paths)

    def links_named(self, names: Iterable[str]) -> list[LinkRow]:
        """The links whose :func:`~indexing.graph.files.link_name` is one of these."""
        return self._links(LINKS.c.name_key, map(indexed, names))

    def links_with(self, status: str) -> list[LinkRow]:
        """The links of a status."""
        return self._made(link_row, self._rows(select(LINKS).where(LINKS.c.status == status)))

    def links(self) -> Iterator[LinkRow]:
        """All links."""
        with self._reading() as connection:
            for row in self._pages(connection, select(LINKS), (LINKS.c.path, LINKS.c.ordinal)):
                yield from self._made(link_row, [row])

    def leading_links(self, paths: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        """(source, target) of the links that lead to a file: of all notes, or of those at paths."""
        query = select(LINKS.c.path, LINKS.c.ordinal, LINKS.c.target_path).where(
            LINKS.c.target_path.is_not(None), LINKS.c.status.in_(("resolved", "ambiguous"))
        )
        if paths is not None:
            rows = self._of_paths(query, LINKS.c.path, paths)
            yield from ((row[0], row[2]) for row in rows)
            return
        with self._reading() as connection:
            for row in self._pages(connection, query, (LINKS.c.path, LINKS.c.ordinal)):
                yield row[0], row[2]

    def links_leading_to(self, paths: Collection[str]) -> list[tuple[str, str]]:
        """(source, target) of the links that lead to files at paths."""
        query = select(LINKS.c.path, LINKS.c.target_path).where(
            among(LINKS.c.target_path), LINKS.c.status.in_(("resolved", "ambiguous"))
        )
        return [(row[0], row[1]) for row in self._rows(query, paths)]

    def indexed_paths(self) -> list[str]:
        """The paths of the indexed notes, sorted."""
        query = select(NOTES.c.path).where(NOTES.c.status == NoteStatus.INDEXED.value)
        return sorted(row[0] for row in self._plain_rows(query))

    def known_chunks(self, ids: Iterable[ChunkId]) -> set[ChunkId]:
        """Those of the ids that a chunk has."""
        return {row[0] for row in self._rows(select(CHUNKS.c.id).where(among(CHUNKS.c.id)), ids)}

    def known_sentences(self, sentence_ids: Iterable[str]) -> set[str]:
        """Those of the ids that a link still has."""
        query = select(LINKS.c.sentence_id).where(among(LINKS.c.sentence_id)).distinct()
        return {row[0] for row in self._rows(query, sentence_ids)}

    def changed_paths(self, since_generation: int) -> list[str]:
        """The notes written or removed after a generation, sorted."""
        query = select(CHANGES.c.path).where(CHANGES.c.generation > since_generation)
        return sorted(row[0] for row in self._rows(query))

    def relinked_paths(self, since_generation: int) -> list[str]:
        """The notes written or removed since, or dated anew, or with a link that leads elsewhere,
        sorted."""
        query = select(CHANGES.c.path).where(CHANGES.c.linked > since_generation)
        return sorted(row[0] for row in self._rows(query))

    def labelled(self, name: str, value: str) -> list[str]:
        """The notes that carry a label, in no meaningful order."""
        query = select(LABELS.c.path).where(LABELS.c.name == name, LABELS.c.value == value)
        return [row[0] for row in self._plain_rows(query)]

    def dated(self, first: str | None, end: str | None) -> list[str]:
        """The notes whose date is ``first`` or later and before ``end``, in no meaningful order."""
        query = select(LABELS.c.path).where(LABELS.c.name == DATE)
        if first is not None:
            query = query.where(LABELS.c.value >= first)
        if end is not None:
            query = query.where(LABELS.c.value < end)
        return [row[0] for row in self._plain_rows(query)]

    def has_label(self, name: str) -> bool:
        """Whether any note has a label of this name."""
        return bool(self._rows(select(LABELS.c.name).where(LABELS.c.name == name).limit(1)))

    def label_names(self) -> list[str]:
        """The names of all labels, sorted; each found by its own look-up, for there are few."""
        found: list[str] = []
        query = select(func.min(LABELS.c.name))
        with self._reading() as connection:
            name = self._fetch(connection, query)[0][0]
            while name is not None:
                found.append(name)
                name = self._fetch(connection, query.where(LABELS.c.name > name))[0][0]
        return sorted(found)

    def label_values(self, name: str) -> dict[str, int]:
        """The values of a label -> how many notes have each, by value."""
        query = select(LABELS.c.value, func.count()).where(LABELS.c.name == name)
        return {row[0]: row[1] for row in sorted(self._rows(query.group_by(LABELS.c.value)))}

    def labels_with(self, parts: Collection[str]) -> list[tuple[str, str]]:
        """The (name, value) of each label, dates aside, whose value has any of the parts in it, or is
        ``true``; sorted."""
        name, value = LABELS.c.name, LABELS.c.value
        either = [value.contains(part, autoescape=True) for part in parts]
        query = select(name, value).where(name != DATE, or_(value == "true", *either)).distinct()
        return sorted((row[0], row[1]) for row in self._rows(query))

    def dates(self, paths: Iterable[str]) -> dict[str, str]:
        """Path -> date of the note, as it sorts."""
        query = select(LABELS.c.path, LABELS.c.value).where(LABELS.c.name == DATE)
        return {row[0]: row[1] for row in self._of_paths(query, LABELS.c.path, paths)}

    def newest(self, count: int) -> list[tuple[str, str]]:
        """The (date, path) of the newest notes, newest first, ties by path."""
        date, path = LABELS.c.value, LABELS.c.path
        query = select(date, path).where(LABELS.c.name == DATE).order_by(date.desc(), path)
        return [(row[0], row[1]) for row in self._rows(query.limit(count))]

    def chunks_holding(self, part: str) -> list[ChunkId]:
        """The chunks whose text holds a part, letter by letter."""
        query = select(CHUNKS.c.id).where(CHUNKS.c.text.contains(part, autoescape=True))
        return [row[0] for row in self._rows(query)]

    def said_in(self, ids: Iterable[ChunkId]) -> dict[ChunkId, tuple[str, ...]]:
        """Id -> what a chunk says: names of its note, headings, text; for those that are there."""
        query = (
            select(
                CHUNKS.c.id,
                NOTES.c.title,
                NOTES.c.path,
                NOTES.c.aliases,
                CHUNKS.c.heading_path,
                CHUNKS.c.text,
            )
            .join(NOTES, NOTES.c.path == CHUNKS.c.path)
            .where(among(CHUNKS.c.id))
        )
        return dict(self._made(_said, self._rows(query, ids)))

    def _links(self, column: Column[Any], values: Iterable[str]) -> list[LinkRow]:
        return sorted(self._made(link_row, self._rows(_LINKS_BY[column], values)), key=_PLACE)

    def _of_paths(
        self, query: Query, column: Column[Any], paths: Iterable[str] | None
    ) -> Sequence[Fetched]:
        """The rows of notes at some paths, or of all for None."""
        return self._rows(query) if paths is None else self._rows(query.where(among(column)), paths)

    def _rows(self, query: Query, values: Iterable[str] | None = None) -> Sequence[Fetched]:
        """All rows; ``values`` are those of :func:`~indexing.stores.database.among`, if it has one."""
        with self._reading() as connection:
            return self._fetch(connection, query, values)

    def _fetch(
        self, connection: Connection, query: Query, values: Iterable[str] | None = None
    ) -> Sequence[Fetched]:
        if values is None:
            return connection.execute(query).all()
        wanted = set(values)
        return connection.execute(query, listed(sorted(wanted))).all() if wanted else []

    def _plain_rows(self, query: Query) -> list[tuple[Any, ...]]:
        """All rows as the driver gives them, for columns of text and whole numbers: three times as
        fast, which counts from ten thousand rows."""
        with self._reading() as connection:
            cursor = connection.execute(query).cursor
            return [] if cursor is None else [tuple(row) for row in cursor.fetchall()]

    def _made(self, make: Callable[[Fetched], Made], rows: Iterable[Fetched]) -> list[Made]:
        try:
            return [make(row) for row in rows]
        except (ValueError, TypeError) as exc:
            raise damaged(self.label, f"a row cannot be read: {exc}") from exc

    def _sorted(
        self, rows: Iterable[Made], key: Callable[[Made], Any] = lambda row: row
    ) -> list[Made]:
        """The rows in order; where an index of the database is broken, they may lack a value."""
        try:
            return sorted(rows, key=key)
        except TypeError as exc:
            raise damaged(self.label, f"a row cannot be read: {exc}") from exc

    def _pages(
        self, connection: Connection, query: Query, key: tuple[ColumnElement[Any], ...]
    ) -> Iterator[Fetched]:
        """The rows in the order of the key, which starts the row, read page by page."""
        page = query.order_by(*key).limit(PAGE)
        rows = self._fetch(connection, page)
        while rows:
            yield from rows
            if len(rows) < PAGE:
                return
            last = tuple(rows[-1][: len(key)])
            rows = self._fetch(connection, page.where(tuple_(*key) > last))


def slices(values: Sequence[Made], size: int) -> Iterator[Sequence[Made]]:
    """The values in runs of at most ``size``."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _said(row: Fetched) -> tuple[ChunkId, tuple[str, ...]]:
    chunk_id, title, path, aliases, headings, text = row
    name = path.rpartition("/")[2].removesuffix(NOTE_SUFFIX)
    return chunk_id, (title, name, *json.loads(aliases), *json.loads(headings), text)


def _stacked(found: list[tuple[str, bytes]]) -> tuple[list[str], Matrix]:
    matrix = np.frombuffer(b"".join(stored for _, stored in found), dtype="<f4")
    return [one for one, _ in found], matrix.reshape(len(found), -1 if found else 0)
