"""Reading the catalog: every question its readers ask, answered in a fixed order.

Touches: index (reads).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
from sqlalchemy import Column, bindparam, func, select

from notehop.indexing.stores.catalog_fetch import IN_LIST, PAGE, Lookup, slices
from notehop.indexing.stores.catalog_filter import LabelReads
from notehop.indexing.stores.catalog_rows import (
    PackedTokens,
    chunk_key,
    chunk_row,
    link_row,
    name_key,
    note_row,
    vector_row,
)
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
    LINKS,
    META,
    NAMES,
    NOTES,
    VECTORS,
)

_PLACE = attrgetter("path", "ordinal")

_BY_PATH = itemgetter(0, 1)
"""Sorts rows that start with path and ordinal: rows themselves compare slowly."""

_KEY_COLUMNS = (
    CHUNKS.c.id,
    CHUNKS.c.path,
    CHUNKS.c.ordinal,
    CHUNKS.c.embedded_hash,
    CHUNKS.c.generation,
)


_VECTORS = select(VECTORS.c.id, VECTORS.c.vector, VECTORS.c.checksum)

_NAMED = select(NAMES.c.path).where(NAMES.c.key == bindparam("name"))
"""What every query asks; made once, as are these:"""

_NAMED_ANY = Lookup(select(NAMES.c.key, NAMES.c.path), NAMES.c.key)
_NOTES_AT = Lookup(select(NOTES), NOTES.c.path)
_CHUNKS_OF_ID = Lookup(select(CHUNKS), CHUNKS.c.id)
_LINKS_BY = {
    column: Lookup(select(LINKS), column)
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


class CatalogReads(LabelReads):
    """The questions. Each sees one generation; lists and iterators are sorted by path, ordinal."""

    @property
    def generation(self) -> int:
        """The number of the last commit; 0 for a new catalog."""
        rows = self._rows(select(META.c.value).where(META.c.key == "generation"))
        return int(rows[0][0])

    def meta(self) -> dict[str, Any]:
        """Everything said about the index as a whole, by key."""
        rows = self._rows(select(META).order_by(META.c.key))
        return dict(self._made(lambda row: (row[0], json.loads(row[1])), rows))

    def counts(self) -> Counts:
        """How much there is."""
        with self._reading() as connection:
            notes = self._fetch(
                connection, select(NOTES.c.status, func.count()).group_by(NOTES.c.status)
            )
            chunks = self._fetch(connection, select(func.count()).select_from(CHUNKS))
            links = self._fetch(
                connection, select(LINKS.c.status, func.count()).group_by(LINKS.c.status)
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
        return sorted(self._made(note_row, self._rows(query)), key=attrgetter("path"))

    def note(self, path: str) -> NoteRow | None:
        """One note; None if the catalog has none at this path."""
        return self.notes_at([path]).get(path)

    def notes_at(self, paths: Iterable[str]) -> dict[str, NoteRow]:
        """Path -> note, for those that are there, by path."""
        rows = self._found(_NOTES_AT, paths)
        return {
            note.path: note for note in sorted(self._made(note_row, rows), key=attrgetter("path"))
        }

    def notes_named(self, name: str) -> list[str]:
        """The indexed notes whose title or alias is ``name``, sorted; none for an empty name.

        Compared without case and Unicode form, with white space collapsed.
        """
        with self._reading() as connection:
            rows = self._fetch(connection, _NAMED, {"name": name_key(name)})
        return sorted(row[0] for row in rows)

    def named_any(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Name -> the notes of :meth:`notes_named`, for those of the names that are some note's."""
        keys = {name: name_key(name) for name in names}
        found: dict[str, list[str]] = {}
        rows = self._found(_NAMED_ANY, set(keys.values()) - {""})
        for key, path in sorted(map(tuple, rows)):
            found.setdefault(key, []).append(path)
        return {name: found[key] for name, key in keys.items() if key in found}

    def stamps(self) -> dict[str, FileStamp]:
        """Path -> stamp of every note, by path."""
        rows = self._rows(
            select(
                NOTES.c.path,
                NOTES.c.size,
                NOTES.c.mtime_ns,
                NOTES.c.content_hash,
                NOTES.c.status,
            )
        )
        return dict(
            self._made(
                lambda row: (row[0], FileStamp(row[1], row[2], row[3], NoteStatus(row[4]))),
                self._sorted(rows, key=itemgetter(0)),
            )
        )

    def attachments(self) -> dict[str, bool]:
        """Path -> whether it is kept out, of every file that is no note, by path."""
        rows = self._rows(select(ATTACHMENTS))
        return dict(sorted(self._made(lambda row: (row[0], bool(row[1])), rows)))

    def aliases(self) -> dict[str, tuple[str, ...]]:
        """Path -> aliases, of every note that has any, by path."""
        query = select(NOTES.c.path, NOTES.c.aliases).where(NOTES.c.aliases != "[]")
        rows = self._made(lambda row: (row[0], tuple(json.loads(row[1]))), self._rows(query))
        return {path: aliases for path, aliases in sorted(rows) if aliases}

    def paths_by_content_hash(self, hashes: Iterable[str]) -> dict[str, list[str]]:
        """Content hash -> paths of the notes that have it, sorted: where a moved note came from."""
        rows = self._rows(select(NOTES.c.content_hash, NOTES.c.path), NOTES.c.content_hash, hashes)
        found: dict[str, list[str]] = {}
        for row in sorted(rows):
            found.setdefault(row[0], []).append(row[1])
        return found

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, ChunkRow]:
        """Id -> chunk, for those that are there, in the order of ``ids``."""
        wanted = list(dict.fromkeys(ids))
        rows = self._made(chunk_row, self._found(_CHUNKS_OF_ID, wanted))
        found = {chunk.id: chunk for chunk in rows}
        return {chunk_id: found[chunk_id] for chunk_id in wanted if chunk_id in found}

    def chunks_of(self, path: str) -> list[ChunkRow]:
        """The chunks of a note in text order; empty if there is none."""
        rows = self._rows(select(CHUNKS).where(CHUNKS.c.path == path).order_by(CHUNKS.c.ordinal))
        return self._made(chunk_row, rows)

    def chunk_keys(self, paths: Iterable[str] | None = None) -> list[ChunkKey]:
        """The keys of all chunks, or of those of some notes."""
        query = select(*_KEY_COLUMNS).order_by(CHUNKS.c.path, CHUNKS.c.ordinal)
        rows = self._rows(query) if paths is None else self._rows(query, CHUNKS.c.path, paths)
        # Sorted again: a server's collation need not be ours.
        return self._sorted(self._made(chunk_key, rows), key=_PLACE)

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
        )
        found: dict[str, list[tuple[ChunkId, int, int]]] = {}
        for row in self._sorted(self._rows(query, CHUNKS.c.path, paths), key=_BY_PATH):
            # Those of the text come first.
            if row[5] == "text" or row[0] not in found:
                found.setdefault(row[0], []).append((row[2], row[3], row[4]))
        return {path: tuple(lines) for path, lines in found.items()}

    def chunk_ids(self) -> dict[str, tuple[ChunkId, ...]]:
        """Path -> ids of its chunks in order, by path, for all notes that have any."""
        query = select(CHUNKS.c.path, CHUNKS.c.ordinal, CHUNKS.c.id)
        with self._reading() as connection:
            rows = self._fetch_many(connection, query.order_by(CHUNKS.c.path, CHUNKS.c.ordinal))
        # Sorted again: a server's collation need not be ours.
        found: dict[str, list[ChunkId]] = {}
        for path, _, chunk_id in self._sorted(rows):
            found.setdefault(path, []).append(chunk_id)
        return {path: tuple(ids) for path, ids in found.items()}

    def chunk_tokens(
        self, ids: Iterable[ChunkId] | None = None, *, since_generation: int | None = None
    ) -> Iterator[tuple[ChunkId, FieldTokens]]:
        """The tokens of chunks, by id: all, those named, those written after a generation, or both.

        :raises IndexDamaged: while iterating, when stored tokens cannot be read.
        """
        query = select(CHUNKS.c.id, CHUNKS.c.tokens)
        with self._reading() as connection:
            if since_generation is not None:
                # The ids first: sorting by them, SQLite would go through all chunks instead.
                newer = select(CHUNKS.c.id).where(CHUNKS.c.generation > since_generation)
                found = {row[0] for row in self._fetch_many(connection, newer)}
                ids = found if ids is None else found.intersection(ids)
            if ids is None:
                for row in self._pages(connection, query, (CHUNKS.c.id,)):
                    yield row[0], PackedTokens(bytes(row[1]))
                return
            for part in slices(sorted(set(ids)), IN_LIST):
                narrowed = query.where(CHUNKS.c.id.in_(part)).order_by(CHUNKS.c.id)
                for row in self._fetch(connection, narrowed):
                    yield row[0], PackedTokens(bytes(row[1]))

    def vectors(self, name: Vectored, ids: Iterable[str]) -> tuple[list[str], Matrix]:
        """Those of the ids that have a vector, sorted, and a float32 matrix, a row each.

        :returns: of no ids, a matrix of shape (0, 0).
        :raises IndexDamaged: if one is not what was written.
        """
        found: list[tuple[str, bytes]] = []
        with self._reading() as connection:
            for part in slices(sorted(set(ids)), IN_LIST):
                query = _VECTORS.where(VECTORS.c.collection == name, VECTORS.c.id.in_(part))
                found += self._made(vector_row, self._fetch(connection, query))
        return _stacked(sorted(found))

    def all_vectors(self, name: Vectored) -> Iterator[tuple[list[str], Matrix]]:
        """As :meth:`vectors` of all ids, some thousand at a time."""
        query = _VECTORS.where(VECTORS.c.collection == name)
        with self._reading() as connection:
            rows = self._pages(connection, query, (VECTORS.c.id,))
            while some := self._made(vector_row, islice(rows, PAGE)):
                yield _stacked(some)

    def chunk_by_embedded_hash(self, hashes: Iterable[str]) -> dict[str, ChunkId]:
        """Hash of an embedded text -> the first chunk, by id, that has it: its vector fits."""
        rows = self._rows(
            select(CHUNKS.c.embedded_hash, func.min(CHUNKS.c.id)).group_by(CHUNKS.c.embedded_hash),
            CHUNKS.c.embedded_hash,
            hashes,
        )
        return {row[0]: row[1] for row in sorted(rows)}

    def links_from(self, paths: Iterable[str]) -> list[LinkRow]:
        """The links that stand in these notes."""
        return self._links(LINKS.c.path, paths)

    def links_to(self, paths: Iterable[str]) -> list[LinkRow]:
        """The links that lead to these files."""
        return self._links(LINKS.c.target_path, paths)

    def links_named(self, names: Iterable[str]) -> list[LinkRow]:
        """The links whose :func:`~indexing.graph.files.link_name` is one of these."""
        return self._links(LINKS.c.name_key, names)

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
            yield from ((row[0], row[2]) for row in self._rows(query, LINKS.c.path, paths))
            return
        with self._reading() as connection:
            for row in self._pages(connection, query, (LINKS.c.path, LINKS.c.ordinal)):
                yield row[0], row[2]

    def indexed_paths(self) -> list[str]:
        """The paths of the indexed notes, sorted."""
        query = select(NOTES.c.path).where(NOTES.c.status == NoteStatus.INDEXED.value)
        with self._reading() as connection:
            return sorted(row[0] for row in self._fetch_many(connection, query))

    def sentence_ids(self, paths: Iterable[str] | None = None) -> list[str]:
        """The ids of all sentences with a link, or of those in some notes, each once, sorted."""
        query = select(LINKS.c.sentence_id).where(LINKS.c.sentence_id.is_not(None)).distinct()
        rows = self._rows(query) if paths is None else self._rows(query, LINKS.c.path, paths)
        return sorted({row[0] for row in rows})

    def known_chunks(self, ids: Iterable[ChunkId]) -> set[ChunkId]:
        """Those of the ids that a chunk has."""
        return {row[0] for row in self._rows(select(CHUNKS.c.id), CHUNKS.c.id, ids)}

    def known_sentences(self, sentence_ids: Iterable[str]) -> set[str]:
        """Those of the ids that a link still has."""
        query = select(LINKS.c.sentence_id).distinct()
        return {row[0] for row in self._rows(query, LINKS.c.sentence_id, sentence_ids)}

    def changed_paths(self, since_generation: int) -> list[str]:
        """The notes written or removed after a generation, sorted."""
        query = select(CHANGES.c.path).where(CHANGES.c.generation > since_generation)
        return sorted(row[0] for row in self._rows(query))

    def relinked_paths(self, since_generation: int) -> list[str]:
        """The notes written or removed since, or dated anew, or with a link that leads elsewhere,
        sorted."""
        query = select(CHANGES.c.path).where(CHANGES.c.linked > since_generation)
        return sorted(row[0] for row in self._rows(query))

    def _links(self, column: Column[Any], values: Iterable[str]) -> list[LinkRow]:
        found = self._made(link_row, self._found(_LINKS_BY[column], values))
        return sorted(found, key=_PLACE)


def _stacked(found: list[tuple[str, bytes]]) -> tuple[list[str], Matrix]:
    matrix = np.frombuffer(b"".join(stored for _, stored in found), dtype="<f4")
    return [one for one, _ in found], matrix.reshape(len(found), -1 if found else 0)
