"""What is made from the catalog for searching: vectors in memory, words in memory and in a file.

The file carries the stamp and generation of its catalog. One that does not fit, or cannot be read, is
made from the catalog; one of an earlier generation is caught up with what changed since.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from notehop.config.errors import IndexDamaged
from notehop.indexing.stores.catalog import Catalog, CatalogSnapshot, dimensions_of
from notehop.indexing.stores.database import damaged
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lexical import DEFAULT_RANKING, LexicalIndex, Ranking
from notehop.indexing.stores.lexical_segments import open_segments
from notehop.indexing.stores.model import (
    LIMITS,
    ChunkId,
    ChunkRow,
    Limits,
    LinkRow,
    Matrix,
    NoteRow,
)
from notehop.indexing.stores.vector_index import VectorIndex

Key = TypeVar("Key")
Value = TypeVar("Value")


def read_vectors(view: CatalogSnapshot, wanted: Collection[ChunkId]) -> VectorIndex:
    """The vectors of the chunks of a generation, whose ids are ``wanted``: 0.2 s for 30,000; IndexDamaged
    if the catalog lacks one."""
    vectors = VectorIndex.empty(dimensions_of(view.fingerprint), len(wanted))
    for ids, matrix in view.all_vectors("chunks"):
        if matrix.shape[1] != vectors.dimensions:
            raise damaged(view.label, f"its vectors have {matrix.shape[1]} numbers")
        # One string for an id, wherever it stands: 300,000 of them take 24 MB.
        known = [*map(sys.intern, ids)]
        vectors = vectors.with_ids([one for one in known if one in wanted], known, matrix)
    return complete_vectors(view, vectors, wanted)


def complete_vectors(
    view: CatalogSnapshot, vectors: VectorIndex, wanted: Collection[ChunkId]
) -> VectorIndex:
    """The vectors with all wanted ones; IndexDamaged if the catalog lacks one."""
    missing = [one for one in wanted if one not in vectors]
    if not missing:
        return vectors
    unknown = vectors.unknown(missing)
    ids, matrix = view.vectors("chunks", unknown)
    if len(ids) < len(unknown):
        raise damaged(view.label, f"{len(unknown) - len(ids)} chunks have no vector")
    return vectors.with_ids(missing, ids, matrix if ids else None)


def read_lexical(
    layout: IndexLayout,
    view: CatalogSnapshot,
    wanted: Collection[ChunkId],
    ranking: Ranking = DEFAULT_RANKING,
    limits: Limits = LIMITS,
) -> LexicalIndex:
    """The lexical index of a generation, whose chunks have the ids ``wanted``."""
    try:
        index, generation, stamp = LexicalIndex.load(layout.postings, ranking, limits)
    except IndexDamaged:
        stamp = ""
    if stamp != view.stamp:
        return LexicalIndex.build(view.chunk_tokens(), ranking, limits)
    if generation != view.generation:
        gone = [one for one in index.ids() if one not in wanted]
        changed = view.chunk_keys(view.changed_paths(generation))
        added = {key.id for key in changed if key.generation > generation}
        added.update(one for one in wanted if one not in index)
        index.update(gone, view.chunk_tokens(added))
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
        most = 0 if thorough else None
        if view.fingerprint is None or not _is_due(layout, view, limits, most, verify=verify):
            return
        wanted = {one for ids in view.chunk_ids().values() for one in ids}
        index = read_lexical(layout, view, wanted, limits=limits)
        if layout.lexical.is_file() or layout.postings.is_dir():
            layout.remove(layout.lexical)
        index.save(layout.postings, view.generation, view.stamp)


def _is_due(
    layout: IndexLayout, view: CatalogSnapshot, limits: Limits, most: int | None, *, verify: bool
) -> bool:
    """Whether the file is damaged or another index's, or more notes than ``most`` changed since."""
    try:
        with open_segments(layout.postings) as (about, arrays):
            for name in arrays if verify else ():
                arrays[name]  # checked as it is read
    except IndexDamaged:
        return True
    if most is None:
        most = max(limits.changed_notes, about["chunks"] // limits.chunks_each)
    return about["stamp"] != view.stamp or len(view.changed_paths(about["generation"])) > most


def forget_withdrawn(layout: IndexLayout, catalog: Catalog) -> None:
    """Let the words of withdrawn notes leave the catalog's own files, while a mark says that they may
    stand there; or OSError.

    While somebody reads an older generation it cannot be: whose transaction ends last tries again,
    and so does the next run.
    """
    if layout.journal_mark.exists() and catalog.database.forget_deleted():
        layout.journal_mark.unlink(missing_ok=True)


class Layered(Mapping[Key, Value]):
    """A mapping whose changed copy shares what stays: to copy 300,000 entries takes 60 ms."""

    def __init__(
        self, base: Mapping[Key, Value], changes: Mapping[Key, Value | None] | None = None
    ) -> None:
        """:param changes: what is other than in ``base``; None for a key that is gone."""
        self._base, self._changes = base, changes or {}
        come = sum(value is not None for value in self._changes.values())
        self._length = len(base) + come - sum(key in base for key in self._changes)

    def changed(self, changes: Mapping[Key, Value | None]) -> Layered[Key, Value]:
        layered = Layered(self._base, {**self._changes, **changes})
        # A sixteenth: so a change costs what changed, and no more by a constant.
        return layered if len(layered._changes) * 16 <= len(self._base) else Layered({**layered})

    def __getitem__(self, key: Key) -> Value:
        value = self._changes[key] if key in self._changes else self._base[key]
        if value is None:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[Key]:
        yield from (key for key in self._base if key not in self._changes)
        yield from (key for key, value in self._changes.items() if value is not None)

    def __len__(self) -> int:
        return self._length


class BoundedCache(Generic[Key, Value]):
    """Values by key, at most so many: the older half goes when there are more. Threads share it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[Key, Value] = {}
        self._turn = threading.Lock()

    def get(
        self, keys: Iterable[Key], read: Callable[[list[Key]], Mapping[Key, Value]]
    ) -> dict[Key, Value]:
        """The values of all keys, in their order, each once; ``read`` gives those not yet kept.

        :param read: called at most once; a key it leaves out is not kept and not returned.
        """
        wanted = dict.fromkeys(keys)
        with self._turn:
            found = {key: self._values[key] for key in wanted if key in self._values}
        if missing := [key for key in wanted if key not in found]:
            new = read(missing)
            found.update(new)
            with self._turn:
                self._values.update(new)
                if len(self._values) > self._most:
                    for key in list(self._values)[: len(self._values) - self._most // 2]:
                        del self._values[key]
        return {key: found[key] for key in wanted if key in found}


class QueryCache:
    """What queries of one generation have read already, kept for the next ones."""

    def __init__(self) -> None:
        # Ten thousand chunks are about 20 MB, as many vectors 15; each filter may name every note of
        # the vault.
        self.chunks: BoundedCache[str, ChunkRow] = BoundedCache(10_000)
        self.notes: BoundedCache[str, NoteRow | None] = BoundedCache(20_000)
        self.links_from: BoundedCache[str, tuple[LinkRow, ...]] = BoundedCache(5_000)
        self.links_to: BoundedCache[str, tuple[LinkRow, ...]] = BoundedCache(5_000)
        self.sentences: BoundedCache[str, Matrix] = BoundedCache(20_000)
        self.filters: BoundedCache[tuple[Any, ...], frozenset[str]] = BoundedCache(16)
        # Of a generation whose vectors a server holds; the last are those that the server lacks.
        self.vectors: BoundedCache[ChunkId, Matrix] = BoundedCache(10_000)
        self.newer: BoundedCache[int, VectorIndex | None] = BoundedCache(2)
