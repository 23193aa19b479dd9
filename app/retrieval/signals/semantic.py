"""Owns the semantic signal: the chunks whose vectors are nearest to that of the query.

Touches: index, model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.schema import QueryBundle

from app.retrieval.index_view import Hits, IndexView, Vector, ViewSource
from app.retrieval.query_vector import aquery_vector, query_vector
from app.retrieval.signals.signal import SignalRetriever, checked_top_k
from indexing.stores.model import ChunkId

Nearest = Callable[[Vector, int], Hits]
"""(query vector, k) -> the approximately nearest chunks with their cosine."""


class SemanticRetriever(SignalRetriever):
    """Ranks chunks by the cosine of their vector to the query's; the score is the cosine."""

    def __init__(
        self,
        view: ViewSource,
        embed_model: BaseEmbedding,
        *,
        similarity_top_k: int = 100,
        allowed: Collection[ChunkId] | None = None,
        exact_rows: int = 100_000,
        nearest: Nearest | None = None,
        with_text: bool = True,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Wire the signal to the index.

        :param embed_model: the model that embedded the chunks.
        :param similarity_top_k: how many hits at most.
        :param allowed: rank these chunks only; None for all. They are always scored exactly.
        :param exact_rows: up to so many vectors every one is compared; above, ``nearest`` is asked,
            and every one is compared still where there is none.
        :raises ValueError: if ``similarity_top_k`` < 1.
        """
        super().__init__(view, with_text=with_text, callback_manager=callback_manager)
        self._embed_model = embed_model
        self._top_k = checked_top_k(similarity_top_k)
        self._allowed = allowed
        self._exact_rows = exact_rows
        self._nearest = nearest

    def _rank(self, view: IndexView, query: QueryBundle) -> Hits:
        return self._near(view, query_vector(query, self._embed_model))

    async def _arank(self, view: IndexView, query: QueryBundle) -> Hits:
        return self._near(view, await aquery_vector(query, self._embed_model))

    def _near(self, view: IndexView, vector: Vector) -> Hits:
        table = view.chunk_vectors
        exact = self._allowed is not None or len(table) <= self._exact_rows
        if exact or self._nearest is None:
            return table.top(vector, self._top_k, self._allowed)
        found = self._nearest(vector, self._top_k)
        # The vector store may be a generation ahead or hold orphans of an interrupted run.
        return [hit for hit in found if view.path_of(hit[0]) is not None]
