"""Steps of the ingestion pipeline: keep the vectors that are known, embed the rest.

Touches: index (reads vectors), model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent
from numpy.typing import NDArray
from pydantic import ConfigDict

Matrix = NDArray[np.float32]

Lookup = Callable[[Sequence[BaseNode]], Mapping[str, list[float]]]
"""Nodes -> vectors by node id, for those whose embedded text the index has seen."""

Embed = Callable[[Sequence[str]], Matrix]
"""Distinct texts (n > 0) -> L2-normalised float32 (n, dimensions), in the order given."""


class KeepKnownVectors(TransformComponent):
    """Give each node the vector that the index already holds for the same embedded text."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    lookup: Lookup

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Set ``embedding`` on known nodes; order and number of the nodes stay."""
        known = self.lookup(nodes)
        for node in nodes:
            node.embedding = known.get(node.node_id)
        return nodes


class EmbedMissing(TransformComponent):
    """Embed the nodes that have no vector yet, each distinct text once."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    embed: Embed

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Set ``embedding`` on every node; order and number of the nodes stay."""
        missing = [(n, n.get_content(MetadataMode.EMBED)) for n in nodes if n.embedding is None]
        texts = list(dict.fromkeys(text for _, text in missing))
        if texts:
            vectors = dict(zip(texts, self.embed(texts), strict=True))
            for node, text in missing:
                node.embedding = vectors[text].tolist()
        return nodes
