"""Reading the catalog: every question its readers ask, answered in a fixed order."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter, itemgetter
from typing import Any, Self, TypeVar

import numpy as np
from sqlalchemy import Column, ColumnElement, Select, func, or_, select, tuple_
from sqlalchemy.engine import Connection, Row

from notehop.indexing.graph.files import NOTE_SUFFIX
from notehop.indexing.stores.catalog_rows import (
    chunk_row,
    indexed,
    link_row,
    note_row,
    unpack_tokens,
    vector_row,
)
from notehop.indexing.stores.database import among, damaged, listed
from notehop.indexing.stores.filter_labels import DATE, NAME, value_label
from notehop.indexing.stores.rows import (
    ChunkId,
    ChunkKey,
    ChunkRow,
    FieldTokens,
    LinkRow,
    Matrix,
    NoteRow,
    NoteStatus,
    Vectored,
)
from notehop.indexing.stores.schema import ATTACHMENTS, CHANGES, CHUNKS, LABELS, LINKS, META, NOTES, VECTORS

Value = TypeVar("Value")

Query = Select[*tuple[Any, ...]]

ResultRow = Row[*tuple[Any, ...]]

PAGE = 5_000  # rows an iterator reads at a time

_PLACE = attrgetter("path", "ordinal")
_LEADING = LINKS.c.status.in_(("resolved", "ambiguous"))

# What every query asks; made once.
_NAMES = select(LABELS.c.value, LABELS.c.path).where(LABELS.c.name == NAME)
_NAMED = _NAMES.where(among(LABELS.c.value))
_NOTES_AT = select(NOTES).where(among(NOTES.c.path))
_CHUNKS_OF_ID = select(CHUNKS).where(among(CHUNKS.c.id))
_LINKS_BY = {
    column: select(LINKS).where(among(column))
    for column in (LINKS.c.path, LINKS.c.target_path, LINKS.c.name_key)
}
_VECTORS = select(VECTORS.c.id, VECTORS.c.vector, VECTORS.c.checksum)


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What tells whether a file changed; ``reason`` says why a note is skipped or failed."""

    size: int
    mtime_ns: int
    content_hash: str
    status: NoteStatus
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How much the catalog holds: notes by status, chunks, links by status; absent means none."""

    notes: Mapping[str, int]
    chunks: int
    links: Mapping[str, int]


def fetched(connection: Connection, query: Query, values: Iterable[str] | None = None) -> Sequence[ResultRow]:
    """All rows of a query; see :meth:`CatalogReads._fetch`."""
    if values is None:
        return connection.execute(query).all()
    wanted = sorted(set(values))
    return connection.execute(query, listed(wanted)).all() if wanted else []


class CatalogReads(ABC):
    """The questions. Each sees one generation; lists and iterators are sorted by path, ordinal."""

    label: str

    @abstractmethod
    def _fetch(self, query: Query, values: Iterable[str] | None = None) -> Sequence[ResultRow]:
        """All rows of a query; ``values`` are those of :func:`~indexing.stores.database.among`."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def answer(self, query: Query, make: Callable[[ResultRow], Value]) -> list[Value]:
        """What is made of each row of a query of the caller's own, in the order of the query."""
        return self._made(make, self._fetch(query))

    @property
    def generation(self) -> int:
        """The number of the last commit; 0 for a new catalog."""
        return int(self._fetch(select(META.c.value).where(META.c.key == "generation"))[0][0])

    def meta(self) -> dict[str, Any]:
        """Everything said about the index as a whole, by key."""
        rows = self._fetch(select(META))
        return dict(self._made(lambda row: (row[0], json.loads(row[1])), rows, itemgetter(0)))

    def counts(self) -> Counts:
        notes, links = (
            {str(name): int(count) for name, count in sorted(map(tuple, self._fetch(query)))}
            for query in (
                select(column, func.count()).group_by(column) for column in (NOTES.c.status, LINKS.c.status)
            )
        )
        [[chunks]] = self._fetch(select(func.count()).select_from(CHUNKS))
        return Counts(notes, int(chunks), links)

    @property
    def has_chunks(self) -> bool:
        return bool(self._fetch(select(CHUNKS.c.id).limit(1)))

    def notes(self, status: NoteStatus | None = None) -> list[NoteRow]:
        """All notes, or those of one status, by path."""
        query = select(NOTES)
        if status is not None:
            query = query.where(NOTES.c.status == status.value)
        return self._made(note_row, self._fetch(query), attrgetter("path"))

    def note(self, path: str) -> NoteRow | None:
        """One note; None if the catalog has none at this path."""
        return self.notes_at([path]).get(path)

    def notes_at(self, paths: Iterable[str]) -> dict[str, NoteRow]:
        """Path -> note, for those that are there, by path."""
        rows = self._made(note_row, self._fetch(_NOTES_AT, paths), attrgetter("path"))
        return {note.path: note for note in rows}

    def notes_named(self, name: str) -> list[str]:
        """The indexed notes whose title or alias is ``name``, sorted; none for an empty name.

        Compared without case and Unicode form, with white space collapsed.
        """
        return self.named_any([name]).get(name, [])

    def named_any(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Name -> the notes of :meth:`notes_named`, for those of the names that are some note's."""
        keys = {name: value_label(name) for name in names}
        found = _grouped(self._fetch(_NAMED, set(keys.values()) - {""}))
        return {name: found[key] for name, key in keys.items() if key in found}

    def stamps(self) -> dict[str, FileStamp]:
        """Path -> stamp of every note, by path."""
        wanted = ("path", "size", "mtime_ns", "content_hash", "status", "reason")

        def stamp(row: ResultRow) -> tuple[str, FileStamp]:
            return row[0], FileStamp(row[1], row[2], row[3], NoteStatus(row[4]), row[5])

        rows = self._fetch(select(*(NOTES.c[name] for name in wanted)))
        return dict(self._made(stamp, rows, itemgetter(0)))

    def attachments(self) -> dict[str, bool]:
        """Path -> whether it is kept out, of every file that is no note, by path."""
        rows = self._fetch(select(ATTACHMENTS))
        return dict(self._made(lambda row: (row[0], bool(row[1])), rows, itemgetter(0)))

    def names(self) -> list[tuple[str, str]]:
        """(name, path) of the title and aliases of every indexed note, folded, sorted."""
        return [(row[0], row[1]) for row in sorted(self._fetch(_NAMES))]

    def aliases(self) -> dict[str, tuple[str, ...]]:
        """Path -> aliases, of every note that has any, by path."""
        rows = self._fetch(select(NOTES.c.path, NOTES.c.aliases).where(NOTES.c.aliases != "[]"))
        made = self._made(lambda row: (row[0], tuple(json.loads(row[1]))), rows, itemgetter(0))
        return dict(made)

    def paths_by_content_hash(self, hashes: Iterable[str]) -> dict[str, list[str]]:
        """Content hash -> paths of the notes that have it, sorted: where a moved note came from."""
        query = select(NOTES.c.content_hash, NOTES.c.path).where(among(NOTES.c.content_hash))
        return _grouped(self._fetch(query, hashes))

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, ChunkRow]:
        """Id -> chunk, for those that are there, in the order of ``ids``."""
        wanted = list(dict.fromkeys(ids))
        rows = self._made(chunk_row, self._fetch(_CHUNKS_OF_ID, wanted))
        found = {chunk.id: chunk for chunk in rows}
        return {chunk_id: found[chunk_id] for chunk_id in wanted if chunk_id in found}

    def chunks_of(self, path: str) -> list[ChunkRow]:
        """The chunks of a note in text order."""
        query = select(CHUNKS).where(CHUNKS.c.path == path).order_by(CHUNKS.c.ordinal)
        return self._made(chunk_row, self._fetch(query))

    def chunk_keys(self, paths: Iterable[str] | None = None) -> list[ChunkKey]:
        """The keys of all chunks, or of those of some notes."""
        table = CHUNKS.c
        query = select(table.id, table.path, table.ordinal, table.first_line, table.kind)
        rows = self._of_paths(query, table.path, paths)
        return self._made(lambda row: ChunkKey(*row), rows, _PLACE)

    def chunk_tokens(self, ids: Iterable[ChunkId] | None = None) -> Iterator[tuple[ChunkId, FieldTokens]]:
        """The tokens of all chunks, or of those named, by id; IndexDamaged while iterating."""
        query = select(CHUNKS.c.id, CHUNKS.c.tokens)
        if ids is None:
            rows = self._pages(query, (CHUNKS.c.id,))
        else:
            named = query.where(among(CHUNKS.c.id)).order_by(CHUNKS.c.id)
            parts = slices(sorted(set(ids)), PAGE)
            rows = (row for some in parts for row in self._fetch(named, some))
        for row in rows:
            yield row[0], unpack_tokens(bytes(row[1]))

    def vectors(self, name: Vectored, ids: Iterable[str]) -> tuple[list[str], Matrix]:
        """Those of the ids that have a vector, sorted, and a float32 matrix, a row each.

        :returns: of no ids, a matrix of shape (0, 0).
        :raises IndexDamaged: if one is not what was written.
        """
        query = _VECTORS.where(VECTORS.c.collection == name, among(VECTORS.c.id))
        return _stacked(sorted(self._made(vector_row, self._fetch(query, ids))))

    def all_vectors(self, name: Vectored) -> Iterator[tuple[list[str], Matrix]]:
        """As :meth:`vectors` of all ids, some thousand at a time."""
        rows = self._pages(_VECTORS.where(VECTORS.c.collection == name), (VECTORS.c.id,))
        while some := self._made(vector_row, islice(rows, PAGE)):
            yield _stacked(some)

    def chunk_by_embedded_hash(self, hashes: Iterable[str]) -> dict[str, ChunkId]:
        """Hash of an embedded text -> the first chunk, by id, that has it: its vector fits."""
        query = select(CHUNKS.c.embedded_hash, func.min(CHUNKS.c.id))
        query = query.where(among(CHUNKS.c.embedded_hash)).group_by(CHUNKS.c.embedded_hash)
        return {row[0]: row[1] for row in sorted(self._fetch(query, hashes))}

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
        return self._made(link_row, self._fetch(select(LINKS).where(LINKS.c.status == status)))

    def links(self) -> Iterator[LinkRow]:
        for row in self._pages(select(LINKS), (LINKS.c.path, LINKS.c.ordinal)):
            yield from self._made(link_row, [row])

    def leading_links(self, paths: Collection[str] | None = None) -> Iterator[tuple[str, str]]:
        """(source, target) of the links that lead to a file: of all, or of those from and to paths."""
        query = select(LINKS.c.path, LINKS.c.ordinal, LINKS.c.target_path)
        query = query.where(LINKS.c.target_path.is_not(None), _LEADING)
        rows: Iterable[ResultRow]
        if paths is None:
            rows = self._pages(query, (LINKS.c.path, LINKS.c.ordinal))
        else:
            either = or_(among(LINKS.c.path), among(LINKS.c.target_path))
            rows = self._fetch(query.where(either), paths)
        for row in rows:
            yield row[0], row[2]

    def indexed_paths(self) -> list[str]:
        """The paths of the indexed notes, sorted."""
        query = select(NOTES.c.path).where(NOTES.c.status == NoteStatus.INDEXED.value)
        return sorted(_first(self._fetch(query)))

    def changed_paths(self, since_generation: int) -> list[str]:
        """The notes written or removed after a generation, sorted."""
        query = select(CHANGES.c.path).where(CHANGES.c.generation > since_generation)
        return sorted(_first(self._fetch(query)))

    def dates(self, paths: Iterable[str]) -> dict[str, str]:
        """Path -> date of the note, as it sorts."""
        query = select(LABELS.c.path, LABELS.c.value).where(LABELS.c.name == DATE)
        return {row[0]: row[1] for row in self._of_paths(query, LABELS.c.path, paths)}

    def chunks_holding(self, part: str) -> list[ChunkId]:
        """The chunks whose text holds a part, letter by letter."""
        query = select(CHUNKS.c.id).where(CHUNKS.c.text.contains(part, autoescape=True))
        return _first(self._fetch(query))

    def said_in(self, ids: Iterable[ChunkId]) -> dict[ChunkId, tuple[str, ...]]:
        """Id -> what a chunk says: names of its note, headings, text; for those that are there."""
        note, chunk = NOTES.c, CHUNKS.c
        query = select(chunk.id, note.title, note.path, note.aliases, chunk.heading_path, chunk.text)
        query = query.join(NOTES, note.path == chunk.path).where(among(chunk.id))

        def said(row: ResultRow) -> tuple[ChunkId, tuple[str, ...]]:
            chunk_id, title, path, aliases, headings, text = row
            name = path.rpartition("/")[2].removesuffix(NOTE_SUFFIX)
            return chunk_id, (title, name, *json.loads(aliases), *json.loads(headings), text)

        return dict(self._made(said, self._fetch(query, ids)))

    def _links(self, column: Column[Any], values: Iterable[str]) -> list[LinkRow]:
        return self._made(link_row, self._fetch(_LINKS_BY[column], values), _PLACE)

    def _of_paths(
        self, query: Query, column: Column[Any], paths: Iterable[str] | None
    ) -> Sequence[ResultRow]:
        return self._fetch(query if paths is None else query.where(among(column)), paths)

    def _made(
        self,
        make: Callable[[ResultRow], Value],
        rows: Iterable[ResultRow],
        key: Callable[[Value], Any] | None = None,
    ) -> list[Value]:
        """What is made of rows, in the order of a key; a broken index may give ones that lack it."""
        try:
            made = [make(row) for row in rows]
            return made if key is None else sorted(made, key=key)
        except (ValueError, TypeError) as exc:
            raise damaged(self.label, f"a row cannot be read: {exc}") from exc

    def _pages(self, query: Query, key: tuple[ColumnElement[Any], ...]) -> Iterator[ResultRow]:
        """The rows in the order of the key, which starts the row, read page by page."""
        page = query.order_by(*key).limit(PAGE)
        rows = self._fetch(page)
        while rows:
            yield from rows
            if len(rows) < PAGE:
                return
            last = tuple(rows[-1][: len(key)])
            rows = self._fetch(page.where(tuple_(*key) > last))


def slices(values: Sequence[Value], size: int) -> Iterator[Sequence[Value]]:
    """The values in runs of at most ``size``."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _first(rows: Iterable[ResultRow]) -> list[str]:
    return [row[0] for row in rows]


def _grouped(rows: Iterable[ResultRow]) -> dict[str, list[str]]:
    """First column -> the values of the second, sorted."""
    found: dict[str, list[str]] = {}
    for key, value in sorted(map(tuple, rows)):
        found.setdefault(key, []).append(value)
    return found


def _stacked(found: list[tuple[str, bytes]]) -> tuple[list[str], Matrix]:
    matrix = np.frombuffer(b"".join(stored for _, stored in found), dtype="<f4")
    return [one for one, _ in found], matrix.reshape(len(found), -1 if found else 0)
