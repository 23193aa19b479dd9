"""Vectors of a generation that no process holds: candidates from a Chroma server, scored from the catalog.

An id names one vector for ever, so what the server says of an older or a newer generation can be
wrong in two ways alone: it names what is gone, which is dropped, or lacks what is new, which is
compared here. Whenever it cannot be asked, every vector is read from the catalog and compared.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from notehop.config.errors import VectorServerError
from notehop.indexing.stores.caches import QueryCache
from notehop.indexing.stores.catalog import CatalogSnapshot, dimensions_of
from notehop.indexing.stores.catalog_read import PAGE, slices
from notehop.indexing.stores.rows import ChunkId, Matrix
from notehop.indexing.stores.vector_index import VectorIndex, best, checked_query

if TYPE_CHECKING:
    from notehop.indexing.stores.served.chroma_server import ChromaServer, ServerCollection

_FEW = 4_096
"""Passages up to which all that filters leave are compared: some 20 ms. The server's own filters
look at every row."""

_MOST_CANDIDATES = 2_500  # candidates above which comparing everything is no slower

_MOST_NEWER = 20_000
"""Passages that the server lacks up to which they are held in memory: 30 MB."""

LEAST_RECALL = 0.95
"""Recall below which candidates are not asked for: a graph finds little of passages that are all much
alike, as some hundred notes of one template."""

ENOUGH = 0.9  # share of the candidates asked for that a whole graph finds at least


@dataclass(frozen=True, slots=True)
class ServedState:
    """What stands on a collection: it holds ``chunks`` passages of ``generation``, 0 for none whole.

    While it is written, ``toward`` is the generation that it will hold. ``recall`` is how many of the
    nearest passages were among its candidates when it was last measured, 0 to 1; None for never.
    """

    generation: int
    toward: int
    chunks: int
    recall: float | None = None

    @classmethod
    def read(cls, collection: ServerCollection) -> ServedState:
        """What stands there; of one that is none of ours, nothing."""
        said = {name: (collection.metadata or {}).get(key) for name, key in _KEYS.items()}
        recall = said.pop("recall")
        numbers = {name: one if isinstance(one, int) else 0 for name, one in said.items()}
        return cls(**numbers, recall=float(recall) if isinstance(recall, int | float) else None)

    def metadata(self) -> dict[str, int | float]:
        said = {key: getattr(self, name) for name, key in _KEYS.items()}
        return {key: value for key, value in said.items() if value is not None}


_KEYS = {one.name: f"notehop_{one.name}" for one in fields(ServedState)}


def collection_name(stamp: str) -> str:
    """The collection of a catalog: another one's, and that of before a rebuild, have another name."""
    return f"notehop-{stamp}"


class ServedVectors:
    """The vectors of the passages of one generation, as :class:`VectorIndex` has them; ``warnings`` grow
    when the server cannot be asked: it is as right then, and slower."""

    def __init__(
        self, server: ChromaServer, view: CatalogSnapshot, paths: Mapping[ChunkId, str], cache: QueryCache
    ) -> None:
        """:param paths: the note of each passage of the generation."""
        self.dimensions = dimensions_of(view.fingerprint)
        self.warnings: list[str] = []
        self._server = server
        self._view = view
        self._paths = paths
        self._cache = cache

    @property
    def ids(self) -> list[str]:
        """The ids that are there, in no meaningful order."""
        return list(self._paths)

    def rows(self, ids: Iterable[str]) -> tuple[list[str], Matrix]:
        """As :meth:`VectorIndex.rows`; IndexDamaged if a vector is not what was written."""

        def read(missing: list[ChunkId]) -> Mapping[ChunkId, Matrix]:
            found, matrix = self._view.vectors("chunks", missing)
            # Copies: one row that is kept would keep all that were read with it.
            return {one: row.copy() for one, row in zip(found, matrix, strict=True)}

        vectors = self._cache.vectors.get([one for one in ids if one in self._paths], read)
        if not vectors:
            return [], np.empty((0, self.dimensions), dtype=np.float32)
        return [*vectors], np.stack([*vectors.values()])

    def top(
        self, query: NDArray[np.float32], k: int, allowed: Collection[str] | None = None
    ) -> list[tuple[str, float]]:
        """As :meth:`VectorIndex.top`; IndexDamaged if a vector is not what was written."""
        vector = checked_query(query, self.dimensions)
        among = None if allowed is None else {one for one in allowed if one in self._paths}
        k = min(k, len(self._paths if among is None else among))
        if k < 1:
            return []
        if among is not None and len(among) <= _FEW:
            return self._compared(vector, k, self._pages(among))
        found = None
        try:
            found = self._candidates(vector, k, among)
        except VectorServerError as exc:
            warning = f"{exc}. Every vector was compared here instead, which takes longer"
            if warning not in self.warnings:
                self.warnings.append(warning)
        if found is not None:
            return best(*self.rows(found), vector, k)
        every = self._view.all_vectors("chunks") if among is None else self._pages(among)
        return self._compared(vector, k, every)

    def _candidates(self, vector: Matrix, k: int, among: Collection[str] | None) -> list[ChunkId] | None:
        """What the server names, and the nearest of what it lacks; None where that is not enough;
        VectorServerError if that is the server's fault."""
        allowed = self._paths if among is None else among
        spread = len(self._paths) / len(allowed)
        count = min(math.ceil(k * self._server.settings.oversampling * spread), len(self._paths))
        if count > _MOST_CANDIDATES:
            return None
        # Before the question: what the server takes in meanwhile is compared twice at worst.
        collection = self._server.known_collection(collection_name(self._view.stamp))
        state = ServedState.read(collection)
        if state.toward > self._view.generation:
            # It lacks by now what this generation still has.
            return None
        recall = state.recall or 0.0
        if state.generation and recall < LEAST_RECALL:
            raise VectorServerError(
                f"the Chroma server finds {100 * recall:.0f} % of the nearest passages, which is too little"
            )
        newer = self._newer(state.generation)
        if newer is None:
            raise VectorServerError(
                f"the Chroma server holds generation {state.generation} of "
                f"{self._view.generation}; it is brought up by: notehop index"
            )
        named = self._server.candidates(collection, vector, count)
        if len(named) < ENOUGH * min(count, state.chunks):
            raise VectorServerError(
                f"the Chroma server found {len(named)} passages where it was asked for {count}; it "
                "is filled anew by: notehop index"
            )
        found = [one for one in named if one in allowed]
        if among is not None and len(found) < k:
            # Nearer ones may stand behind those that filters took away.
            return None
        return list(dict.fromkeys([*found, *(one for one, _ in newer.top(vector, k, among))]))

    def _newer(self, generation: int) -> VectorIndex | None:
        """The vectors that a server of a generation lacks; None if they are too many."""

        def read(_: object) -> dict[int, VectorIndex | None]:
            changed = self._view.changed_paths(generation) if generation else ()
            ids = [key.id for key in self._view.chunk_keys(changed)]
            if not generation or len(ids) > _MOST_NEWER:
                return {generation: None}
            found, matrix = self._view.vectors("chunks", ids)
            empty = VectorIndex.empty(self.dimensions)
            return {generation: empty.changed((), found, matrix)}

        return self._cache.newer.get([generation], read)[generation]

    def _pages(self, ids: Collection[ChunkId]) -> Iterator[tuple[list[str], Matrix]]:
        for some in slices(sorted(ids), PAGE):
            yield self._view.vectors("chunks", some)

    def _compared(
        self, vector: Matrix, k: int, pages: Iterable[tuple[list[str], Matrix]]
    ) -> list[tuple[str, float]]:
        """The k best of pages of vectors, of which one at a time is in memory."""
        found: list[tuple[str, float]] = []
        for ids, matrix in pages:
            if ids:
                hits = best(ids, matrix, vector, k)
                found += [hit for hit in hits if hit[0] in self._paths]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:k]


ChunkVectors: TypeAlias = VectorIndex | ServedVectors
"""The vectors of the passages of a generation, searched."""
