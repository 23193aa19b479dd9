"""What is made from the catalog for searching: vectors in memory, words in memory and in a file.

The file carries the stamp and generation of its catalog. One that does not fit, or cannot be read, is
made from the catalog; one of an earlier generation is caught up with what changed since.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Generic, TypeVar

from notehop.config.errors import IndexDamaged
from notehop.indexing.stores.catalog import Catalog, CatalogSnapshot, dimensions_of
from notehop.indexing.stores.database import damaged
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lexical import DEFAULT_RANKING, LexicalIndex, Ranking
from notehop.indexing.stores.lexical_segments import open_segments, read_segments
from notehop.indexing.stores.rows import LIMITS, ChunkId, ChunkRow, Limits, Matrix, NoteRow
from notehop.indexing.stores.vector_index import VectorIndex

Key = TypeVar("Key")
Value = TypeVar("Value")


def read_vectors(view: CatalogSnapshot, wanted: Collection[ChunkId]) -> VectorIndex:
    """The vectors of the chunks of a generation, whose ids are ``wanted``: 0.2 s for 30,000; IndexDamaged
    if the catalog lacks one."""
    vectors = VectorIndex.empty(dimensions_of(view.fingerprint), len(wanted))
    for ids, matrix in view.all_vectors("chunks"):
        known = [at for at, one in enumerate(ids) if one in wanted]
        # One string for an id, wherever it stands: 300,000 of them take 24 MB.
        names = [sys.intern(ids[at]) for at in known]
        vectors = vectors.changed((), names, _checked(view, vectors, matrix)[known])
    return follow_vectors(view, vectors, (), wanted)


def follow_vectors(
    view: CatalogSnapshot, vectors: VectorIndex, gone: Iterable[ChunkId], wanted: Iterable[ChunkId]
) -> VectorIndex:
    """The vectors without some and with all wanted ones; IndexDamaged if the catalog lacks one."""
    missing = [one for one in wanted if one not in vectors]
    ids, matrix = view.vectors("chunks", missing)
    if len(ids) < len(missing):
        raise damaged(view.label, f"{len(missing) - len(ids)} chunks have no vector")
    return vectors.changed(gone, ids, _checked(view, vectors, matrix))


def _checked(view: CatalogSnapshot, vectors: VectorIndex, matrix: Matrix) -> Matrix:
    if len(matrix) and matrix.shape[1] != vectors.dimensions:
        raise damaged(view.label, f"its vectors have {matrix.shape[1]} numbers")
    return matrix


def read_lexical(
    layout: IndexLayout,
    view: CatalogSnapshot,
    wanted: Collection[ChunkId],
    ranking: Ranking = DEFAULT_RANKING,
    limits: Limits = LIMITS,
) -> LexicalIndex:
    """The lexical index of a generation, whose chunks have the ids ``wanted``."""
    try:
        segments, generation, stamp = read_segments(layout.postings)
    except IndexDamaged:
        stamp = ""
    if stamp != view.stamp:
        return LexicalIndex.build(view.chunk_tokens(), ranking, limits)
    index = LexicalIndex(ranking, limits, segments)
    if generation != view.generation:
        gone = [one for one in index.ids() if one not in wanted]
        added = {key.id for key in view.chunk_keys(view.changed_paths(generation))}
        added.update(one for one in wanted if one not in index)
        index = index.updated(gone, view.chunk_tokens(added))
    return index


def bring_up_to_date(
    layout: IndexLayout,
    catalog: Catalog,
    *,
    thorough: bool = False,
    verify: bool = False,
    limits: Limits = LIMITS,
) -> None:
    """Write the words of the newest generation, where that is due.

    It may take seconds on a large vault; readers go on meanwhile. The file is written whole, once
    for a fixed share of it that changed, so that the work grows with the changes; what is less
    than that, readers take in from the catalog.

    :param thorough: write whatever changed, so that nothing of a chunk that left stays in the file.
    :param verify: read the file, and write it where it is damaged.
    :raises IndexUnwritable: if the disk is full or read-only; what was there stays.
    """
    with catalog.snapshot() as view:
        if view.fingerprint is None:
            return
        try:
            with open_segments(layout.postings) as (about, arrays):
                for name in arrays if verify else ():
                    arrays[name]  # checked as it is read
        except IndexDamaged:
            pass  # made anew
        else:
            share = about["chunks"] // limits.chunks_each
            most = 0 if thorough else max(limits.changed_notes, share)
            changed = len(view.changed_paths(about["generation"]))
            if about["stamp"] == view.stamp and changed <= most:
                return
        wanted = {key.id for key in view.chunk_keys()}
        index = read_lexical(layout, view, wanted, limits=limits)
        index.save(layout.postings, view.generation, view.stamp)


def forget_withdrawn(layout: IndexLayout, catalog: Catalog) -> None:
    """Let the words of withdrawn notes leave the catalog's own files, while a mark says that they may
    stand there; or OSError.

    While somebody reads an older generation it cannot be: the next run tries again, and a follower
    as soon as the vault is quiet.
    """
    if layout.journal_mark.exists() and catalog.database.forget_deleted():
        layout.journal_mark.unlink(missing_ok=True)


class BoundedCache(Generic[Key, Value]):
    """Values by key, all forgotten when there would be more than ``most``. Threads share it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[Key, Value] = {}

    def get(self, keys: Iterable[Key], read: Callable[[list[Key]], Mapping[Key, Value]]) -> dict[Key, Value]:
        """The values of all keys, in their order, each once; ``read`` gives those not yet kept.

        :param read: called at most once; a key it leaves out is not kept and not returned.
        """
        # Without a lock: values are only ever added, and forgotten by another dictionary.
        wanted, values = dict.fromkeys(keys), self._values
        found = {key: values[key] for key in wanted if key in values}
        if missing := [key for key in wanted if key not in found]:
            new = read(missing)
            if len(values) + len(new) > self._most:
                self._values = values = {}
            values.update([*new.items()][-self._most :])
            found.update(new)
        return {key: found[key] for key in wanted if key in found}


class QueryCache:
    """What queries of one generation have read already, kept for the next ones."""

    def __init__(self) -> None:
        # Ten thousand chunks are about 20 MB, as many vectors 15; each filter may name every note of
        # the vault.
        self.chunks: BoundedCache[str, ChunkRow] = BoundedCache(10_000)
        self.notes: BoundedCache[str, NoteRow] = BoundedCache(20_000)
        self.filters: BoundedCache[tuple[Any, ...], frozenset[str]] = BoundedCache(16)
        self.ranks: BoundedCache[int, Mapping[str, float]] = BoundedCache(1)
        # Of a generation whose vectors a server holds; the last are those that the server lacks.
        self.vectors: BoundedCache[ChunkId, Matrix] = BoundedCache(10_000)
        self.newer: BoundedCache[int, VectorIndex | None] = BoundedCache(2)
