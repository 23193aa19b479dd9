"""Owns the semantic signal: the chunks whose vectors are nearest to that of the query.

Touches: index, model.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.schema import QueryBundle

from notehop.app.retrieval.filters.allowed import Allowed, ranked
from notehop.app.retrieval.index_view import Hits, IndexView, Vector, ViewSource
from notehop.app.retrieval.query_vector import query_vector
from notehop.app.retrieval.signals.signal import SignalRetriever, checked_top_k
from notehop.indexing.beside import Beside
from notehop.indexing.stores.model import ChunkId


class SemanticRetriever(SignalRetriever):
    """Ranks chunks by the cosine of their vector to the query's; the score is the cosine.

    Every vector is compared, so that the same index gives the same ranking.
    """

    outside = True

    def __init__(
        self,
        view: ViewSource,
        embed_model: BaseEmbedding,
        *,
        similarity_top_k: int = 100,
        allowed: Allowed | Collection[ChunkId] | None = None,
        with_text: bool = True,
        beside: Beside | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Wire the signal to the index.

        :param embed_model: the model that embedded the chunks.
        :param similarity_top_k: how many hits at most.
        :param allowed: rank these chunks only; None for all.
        :param beside: threads that share the comparing, where they are free.
        :raises ValueError: if ``similarity_top_k`` < 1.
        """
        super().__init__(view, with_text=with_text, callback_manager=callback_manager)
        self._embed_model = embed_model
        self._top_k = checked_top_k(similarity_top_k)
        self._allowed = allowed
        self._beside = beside

    def _rank(self, view: IndexView, query: QueryBundle) -> Hits:
        return self._near(view, query_vector(query, self._embed_model, view.chunk_vectors))

    def _score(self, view: IndexView, query: QueryBundle, ids: frozenset[ChunkId]) -> Hits:
        rows = view.chunk_vectors
        return rows.top(query_vector(query, self._embed_model, rows), len(ids), ids)

    def _near(self, view: IndexView, vector: Vector) -> Hits:
        top = partial(view.chunk_vectors.top, vector, beside=self._beside)
        return ranked(top, self._top_k, self._allowed)
