"""Vectors of chunks that the index holds, for notes whose text it has seen.

Touches: index (reads).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llama_index.core.schema import BaseNode

from notehop.indexing.stores.catalog import Catalog


class Lookup:
    """Known vectors of nodes; ``kept`` are the nodes that have their own in the index."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
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
        found = dict(zip(*self._catalog.vectors("chunks", source.values()), strict=True))
        self.kept = {node_id for node_id, at in source.items() if at == node_id and at in found}
        return {node_id: found[at].tolist() for node_id, at in source.items() if at in found}
