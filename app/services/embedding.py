"""Texts as vectors, by the model that embedded the index.

Touches: model.
"""

from __future__ import annotations

import numpy as np

from notehop.app.models import Embedded, EmbedQuery
from notehop.indexing.embed.query import QueryEmbedder


def embed(embedder: QueryEmbedder, query: EmbedQuery) -> Embedded:
    """Return a vector a text, with the prompt that the model has for its kind.

    What of a text is longer than the model's window is not read.

    :raises ModelError: if the model fails.
    """
    if query.kind == "query":
        rows = np.stack([embedder.embed_query(text) for text in query.texts])
    else:
        rows = embedder.embed(query.texts)
    return Embedded(
        model=embedder.model_name, dimensions=embedder.dimensions, vectors=rows.tolist()
    )
