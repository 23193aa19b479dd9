"""Owns the vector of a query: computed once, kept on the LlamaIndex query bundle.

Touches: model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import QueryBundle

from notehop.app.retrieval.index_view import Vector
from notehop.app.retrieval.trace import TracedQuery
from notehop.config.errors import QueryError
from notehop.indexing.embed.query import QueryEmbedder


def query_vector(query: QueryBundle, embed_model: BaseEmbedding) -> Vector:
    """Return the vector of the query, length 1; embeds it unless the bundle holds it already.

    :raises QueryError: if the query has no text and no vector.
    """
    known = known_vector(query)
    if known is not None:
        return known
    texts = _texts(query)
    if len(texts) == 1 and isinstance(embed_model, QueryEmbedder):
        # LlamaIndex's events around it take a tenth of the time that the embedding does.
        return _kept(query, embed_model.embed_query(texts[0]).tolist())
    return _kept(query, embed_model.get_agg_embedding_from_queries(texts))


async def aquery_vector(query: QueryBundle, embed_model: BaseEmbedding) -> Vector:
    """Do as :func:`query_vector`, through the asynchronous door of the model."""
    known = known_vector(query)
    if known is not None:
        return known
    return _kept(query, await embed_model.aget_agg_embedding_from_queries(_texts(query)))


def known_vector(query: QueryBundle) -> Vector | None:
    """Return the vector of the query, length 1, if it holds it; None if it is to be made."""
    if isinstance(query, TracedQuery) and query.vector is not None:
        return query.vector
    return None if query.embedding is None else _kept(query, query.embedding)


def _kept(query: QueryBundle, embedding: list[float]) -> Vector:
    vector = unit(embedding)
    query.embedding = embedding
    if isinstance(query, TracedQuery):
        query.vector = vector
    return vector


def _texts(query: QueryBundle) -> list[str]:
    texts = [text for text in query.embedding_strs if text.strip()]
    if not texts:
        raise QueryError("the query is empty; write what you look for")
    return texts


def unit(values: Sequence[float]) -> Vector:
    """Return the vector scaled to length 1; one of all zeros stays as it is."""
    vector = np.asarray(values, dtype=np.float32)
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length > 0 else vector
