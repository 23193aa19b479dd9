"""Reading an index for searching: the newest generation, opened once and followed by difference."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from notehop.config.errors import IndexFailure, IndexMissing
from notehop.indexing.graph.pagerank import pagerank
from notehop.indexing.stores.caches import QueryCache, follow_vectors, read_lexical, read_vectors
from notehop.indexing.stores.catalog import Catalog, CatalogSnapshot, check_fingerprint
from notehop.indexing.stores.filter_labels import NoteLabels
from notehop.indexing.stores.layout import CatalogAddress, IndexLayout
from notehop.indexing.stores.lexical import DEFAULT_RANKING, LexicalIndex, Ranking
from notehop.indexing.stores.rows import (
    LIMITS,
    ChunkId,
    ChunkKey,
    ChunkRow,
    Limits,
    Matrix,
    NoteRow,
    NoteStatus,
)
from notehop.indexing.stores.served.chroma_vectors import ChunkVectors, ServedVectors
from notehop.indexing.stores.vector_index import VectorIndex, cosines

if TYPE_CHECKING:
    from notehop.indexing.stores.served.chroma_server import ChromaServer


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Generation:
    """One generation in memory; ``chunk_vectors`` is None where a server holds them, which queries then
    ask."""

    number: int
    stamp: str
    ids_by_path: Mapping[str, tuple[ChunkId, ...]]
    path_by_id: Mapping[ChunkId, str]
    chunk_vectors: VectorIndex | None
    lexical: LexicalIndex
    cache: QueryCache

    def followed(self, view: CatalogSnapshot) -> Generation:
        """The generation of a view of the same catalog: what changed since is read, no more."""
        changed = view.changed_paths(self.number)
        added, ids_of_changed = _of_chunks(view.chunk_keys(changed))
        ids_by_path, path_by_id = dict(self.ids_by_path), {**self.path_by_id, **added}
        before = (one for path in changed for one in ids_by_path.pop(path, ()))
        gone = [one for one in before if one not in added]
        for one in gone:
            del path_by_id[one]
        ids_by_path.update(ids_of_changed)
        vectors = self.chunk_vectors
        if vectors is not None:
            vectors = follow_vectors(view, vectors, gone, added)
        return replace(
            self,
            number=view.generation,
            ids_by_path=ids_by_path,
            path_by_id=path_by_id,
            chunk_vectors=vectors,
            lexical=self.lexical.updated(gone, view.chunk_tokens(added)),
            cache=QueryCache(),
        )


class Snapshot(AbstractContextManager["Snapshot"]):
    """One generation, which stays as it is while writers go on. Threads may share it.

    Take one a query. It holds a read transaction until ``close``, the end of a ``with`` block, or
    until nothing refers to it; held for days, it would keep the catalog's journal from being folded
    back. Paths are those of indexed notes; ids are those of chunks.

    :ivar catalog: what the catalog holds of this generation, those files too that are no indexed
        notes.
    :ivar shared: what all snapshots of this generation share: what is worked out once is kept by it.
    :ivar chunk_vectors: the vector of each chunk, by id.
    :ivar lexical: the lexical index.
    :ivar labels: the notes by what they can be filtered by.
    """

    def __init__(
        self, generation: Generation, view: CatalogSnapshot, server: ChromaServer | None = None
    ) -> None:
        """:param server: holds the vectors of a generation that has none in memory."""
        self.catalog = view
        self.shared = generation
        self.generation = generation.number
        self.chunk_count = len(generation.path_by_id)
        self.lexical = generation.lexical
        self.labels = NoteLabels(view, generation.ids_by_path, generation.cache.filters)
        self.notes_named, self.named_any = view.notes_named, view.named_any
        self.links_from, self.links_to = view.links_from, view.links_to
        self.close = weakref.finalize(self, view.close)
        """Let go of the generation; a second time is nothing."""
        self._cache = generation.cache
        self.chunk_vectors: ChunkVectors
        if generation.chunk_vectors is not None:
            self.chunk_vectors = generation.chunk_vectors
        else:
            assert server is not None
            self.chunk_vectors = ServedVectors(server, view, generation.path_by_id, self._cache)

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What cannot be searched as it should be, why, and what to do; usually empty. A server of
        vectors may be missed only when it is asked."""
        vectors = self.chunk_vectors
        return tuple(vectors.warnings) if isinstance(vectors, ServedVectors) else ()

    def path_of(self, chunk_id: ChunkId) -> str | None:
        """The note that holds the chunk; None for an id that this generation lacks."""
        return self.shared.path_by_id.get(chunk_id)

    def paths_of(self, chunk_ids: Iterable[ChunkId]) -> list[str | None]:
        """The note that holds each chunk, in their order; None for an id that is not there."""
        return [*map(self.shared.path_by_id.get, chunk_ids)]

    def chunk_ids_of(self, path: str) -> tuple[ChunkId, ...]:
        """The chunks of a note in text order; empty for an unknown note."""
        return self.shared.ids_by_path.get(path, ())

    def paths(self) -> list[str]:
        return sorted(self.shared.ids_by_path)

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, ChunkRow]:
        """Id -> chunk, for those that are there, in the order of ``ids``."""
        known = [one for one in ids if one in self.shared.path_by_id]
        return self._cache.chunks.get(known, self.catalog.chunks)

    def chunks_of(self, path: str) -> list[ChunkRow]:
        """The chunks of a note in text order; empty for an unknown note."""
        return list(self.chunks(self.chunk_ids_of(path)).values())

    def sentence_similarities(self, query: Matrix, ids: Iterable[str]) -> dict[str, float]:
        """Id -> cosine to the query, to 6 decimals, of each sentence with a link that has a vector;
        ``query`` has the shape (dimensions,) and length 1. IndexDamaged if one is not as written."""

        found, rows = self.catalog.vectors("links", ids)
        return dict(zip(found, cosines(rows, query).tolist(), strict=True)) if found else {}

    def note(self, path: str) -> NoteRow | None:
        """The note; None if there is none, or it is not indexed."""
        return self.notes_at([path]).get(path)

    def notes_at(self, paths: Iterable[str]) -> dict[str, NoteRow]:
        """Path -> note, for those that are there and indexed, in the order of ``paths``."""
        found = self._cache.notes.get(paths, self.catalog.notes_at)
        return {path: note for path, note in found.items() if note.status is NoteStatus.INDEXED}

    def notes(self) -> list[NoteRow]:
        """All indexed notes, by path; read each time."""
        return self.catalog.notes(NoteStatus.INDEXED)

    @property
    def pagerank(self) -> Mapping[str, float]:
        """PageRank of each indexed note, by path; the values add up to 1."""
        view = self.catalog
        links = view.leading_links
        return self._cache.ranks.get([0], lambda _: {0: pagerank(view.indexed_paths(), links())})[0]


class Reader(AbstractContextManager["Reader"]):
    """An index opened for searching. Threads may share it."""

    def __init__(
        self,
        layout: IndexLayout,
        expected: Mapping[str, Any] | None = None,
        *,
        ranking: Ranking = DEFAULT_RANKING,
        limits: Limits = LIMITS,
        read_only: bool = False,
        server: ChromaServer | None = None,
    ) -> None:
        """Open the newest generation.

        :param expected: the fingerprint that the settings ask for; keys that are absent or None may
            be anything. None checks nothing.
        :param ranking: of the lexical index.
        :param read_only: leave the rights of the folder as they are.
        :param server: is asked for vectors, and closed with the reader; None to hold them in memory.
        :raises IndexMissing: if nothing was indexed yet.
        :raises IndexMismatch: if the index was built with other settings, or in another format.
        :raises IndexDamaged: if it cannot be read.
        """
        self.layout = layout
        self._read_only = read_only
        self._server = server
        self._expected = expected
        self._ranking = ranking
        self._limits = limits
        self._turn = threading.Lock()
        self._address, self._catalog, self._generation = self._opened()

    def snapshot(self) -> Snapshot:
        """The newest generation, to be held for one query.

        :raises IndexMissing: while the index is made anew.
        :raises IndexMismatch: if it was made anew with other settings.
        :raises IndexDamaged: if it cannot be read.
        """
        while True:
            with self._turn:
                if self._is_replaced():
                    old = self._catalog
                    self._address, self._catalog, self._generation = self._opened()
                    old.close()
                catalog, known = self._catalog, self._generation
            # Outside: of those that wait for a server that is away, none waits for another.
            try:
                view = catalog.snapshot()
            except IndexFailure:
                if self._catalog is catalog and not self._is_replaced():
                    raise
                continue
            try:
                with self._turn:
                    if self._generation is known:
                        if view.stamp != known.stamp or view.generation < known.number:
                            self._generation = self._load(view)
                        elif view.generation > known.number:
                            self._generation = known.followed(view)
                    held = self._generation
                    if (held.stamp, held.number) == (view.stamp, view.generation):
                        return Snapshot(held, view, self._server)
                # Another thread went on meanwhile, and knows a later one.
                view.close()
            except BaseException:
                view.close()
                raise

    def close(self) -> None:
        """Let go of the index. Snapshots that are still held stay readable."""
        self._catalog.close()
        if self._server is not None:
            self._server.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def generation(self) -> int:
        return self._generation.number

    @property
    def lexical(self) -> LexicalIndex:
        return self._generation.lexical

    @property
    def catalog(self) -> Catalog:
        """The catalog, read-only; it may be a generation ahead."""
        return self._catalog

    def _is_replaced(self) -> bool:
        """Whether a rebuild, or another index, stands where this one was opened."""
        return self._address != self.layout.catalog or self._catalog.database.replaced

    def _opened(self) -> tuple[CatalogAddress, Catalog, Generation]:
        if not self._read_only:
            self.layout.close_to_others()
        address = self.layout.catalog
        catalog = Catalog.of(self.layout)
        try:
            with catalog.snapshot() as view:
                return address, catalog, self._load(view)
        except BaseException:
            catalog.close()
            raise

    def _load(self, view: CatalogSnapshot) -> Generation:
        """Read what is on disk, and what that lacks from the catalog."""
        if view.fingerprint is None:
            raise IndexMissing(f"{self.layout.root}: nothing is indexed yet; run: notehop index")
        if self._expected is not None:
            check_fingerprint(view.fingerprint, self._expected)
        path_by_id, ids_by_path = _of_chunks(view.chunk_keys())
        vectors = read_vectors(view, path_by_id) if self._server is None else None
        lexical = read_lexical(self.layout, view, path_by_id, self._ranking, self._limits)
        return Generation(
            view.generation, view.stamp, ids_by_path, path_by_id, vectors, lexical, QueryCache()
        )


def _of_chunks(keys: Iterable[ChunkKey]) -> tuple[dict[ChunkId, str], dict[str, tuple[ChunkId, ...]]]:
    """The note of each chunk, and the chunks of each note, in order."""
    path_by_id: dict[ChunkId, str] = {}
    ids_by_path: dict[str, tuple[ChunkId, ...]] = {}
    for path, some in groupby(keys, attrgetter("path")):
        # One string for an id, wherever it stands: 300,000 of them take 24 MB.
        ids_by_path[path] = ids = tuple(sys.intern(key.id) for key in some)
        path_by_id |= dict.fromkeys(ids, path)
    return path_by_id, ids_by_path
