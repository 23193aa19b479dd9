"""Owns the vector of a query: computed once for all stages that are handed the same traced query.

Touches: model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import QueryBundle

from notehop.app.retrieval.index_view import Vector, VectorRows
from notehop.app.retrieval.trace import TracedQuery, trace_of
from notehop.config.errors import QueryError
from notehop.indexing.embed.onnx_embedding import QueryEmbedder


def query_vector(query: QueryBundle, embed_model: BaseEmbedding, rows: VectorRows) -> Vector:
    """Return the vector of the query, length 1; embeds it unless it brings one that fits the rows.

    :raises QueryError: if the query has no text and no vector.
    """
    known = known_vector(query, rows)
    if known is not None:
        return known
    texts = _texts(query)
    if len(texts) == 1 and isinstance(embed_model, QueryEmbedder):
        # LlamaIndex's events around it take a tenth of the time that the embedding does.
        return _kept(query, embed_model.embed_query(texts[0]).tolist())
    return _kept(query, embed_model.get_agg_embedding_from_queries(texts))


def known_vector(query: QueryBundle, rows: VectorRows) -> Vector | None:
    """Return the vector of the query, length 1, if it has one; None if it is to be made.

    One that a query brings with it, and that is not as long as those of the rows, is of another
    model: it is left alone, and the query's trace says so, once.
    """
    if isinstance(query, TracedQuery) and query.vector is not None:
        return query.vector
    if query.embedding is None:
        return None
    if len(query.embedding) == rows.dimensions:
        return _kept(query, query.embedding)
    trace = trace_of(query)
    told = (
        f"the query brought a vector of {len(query.embedding)} numbers, which is of another model "
        f"than the {rows.dimensions} of the index: it was embedded anew"
    )
    if told not in trace.warnings:
        trace.warn(told)
    return None


def _kept(query: QueryBundle, embedding: list[float]) -> Vector:
    vector = unit(embedding)
    if isinstance(query, TracedQuery):
        query.vector = vector
    return vector


def _texts(query: QueryBundle) -> list[str]:
    # Not ``embedding_strs``, which is empty where a query brings a vector.
    texts = [text for text in query.custom_embedding_strs or [query.query_str] if text.strip()]
    if not texts:
        raise QueryError("the query is empty; write what you look for")
    return texts


def unit(values: Sequence[float]) -> Vector:
    """Return the vector scaled to length 1; one of all zeros stays as it is."""
    vector = np.asarray(values, dtype=np.float32)
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length > 0 else vector
