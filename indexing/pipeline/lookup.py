"""Vectors of chunks that the index holds, for notes whose text it has seen.

Touches: index (reads).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np
from llama_index.core.schema import BaseNode

from notehop.indexing.pipeline.vectorise import Matrix
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.table_lookup import find_rows
from notehop.indexing.stores.vectors import Vectors

Held = Callable[[Collection[str]], Mapping[str, Matrix]]
"""Ids of chunks -> the vectors of those that the index holds, by id."""


class HeldVectors:
    """Looks in the tables, and in the vector store for what these lack: to open it takes long."""

    def __init__(
        self, layout: IndexLayout, stamp: str, dimensions: int, vectors: Callable[[], Vectors]
    ) -> None:
        """Touch nothing yet.

        :param stamp: of the catalog.
        :param vectors: opens the vector store.
        """
        self._layout = layout
        self._stamp = stamp
        self._dimensions = dimensions
        self._vectors = vectors

    def __call__(self, ids: Collection[str]) -> Mapping[str, Matrix]:
        """The vectors of those that are held, by id."""
        found = find_rows(self._layout.vectors, "chunks", self._stamp, self._dimensions, ids)
        held = dict(zip(*found, strict=True))
        missing = sorted(set(ids) - held.keys())
        if missing:
            held |= zip(*self._vectors().get("chunks", missing), strict=True)
        return held


class Lookup:
    """Known vectors of nodes; ``kept`` are the nodes that have their own in the index."""

    def __init__(self, catalog: Catalog, held: Held) -> None:
        self._catalog = catalog
        self._held = held
        self.kept: set[str] = set()

    def __call__(self, nodes: Sequence[BaseNode]) -> Mapping[str, list[float]]:
        """Vectors by node id: of the same chunk, else of any chunk that says the same."""
        wanted = {node.node_id: node.metadata["embedded_hash"] for node in nodes}
        same_text = self._catalog.chunk_by_embedded_hash(set(wanted.values()))
        if not same_text:
            return {}
        own = self._catalog.known_chunks(wanted)
        source = {
            node_id: node_id if node_id in own else same_text[digest]
            for node_id, digest in wanted.items()
            if node_id in own or digest in same_text
        }
        found = self._held(frozenset(source.values()))
        self.kept = {node_id for node_id, at in source.items() if at == node_id and at in found}
        return {
            node_id: np.asarray(found[at]).tolist() for node_id, at in source.items() if at in found
        }
