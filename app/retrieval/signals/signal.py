"""Owns what all signals over the index share: a ranking first, nodes only where they are wanted.

Touches: index.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import ClassVar

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from notehop.app.retrieval.index_view import Hits, IndexView, ViewSource
from notehop.app.retrieval.nodes import fill, light_hits
from notehop.app.retrieval.trace import view_for
from notehop.indexing.stores.model import ChunkId


class SignalRetriever(BaseRetriever):
    """A retriever of chunks of the index.

    The fusion asks :meth:`rank` of its signals: nodes for 200 candidates, of which it shows a few,
    would take longer than finding them.
    """

    outside: ClassVar[bool] = False
    """Whether it computes outside the interpreter, so that other signals can be asked meanwhile."""

    def __init__(
        self,
        view: ViewSource,
        *,
        with_text: bool = True,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Wire the signal to the index.

        :param with_text: False leaves text and metadata of the nodes empty, for a stage that shows
            a few of many candidates and fills those.
        """
        super().__init__(callback_manager=callback_manager)
        self.with_text = with_text
        self._source = view

    def _rank(self, view: IndexView, query: QueryBundle) -> Hits:
        """Return chunks with their score, best first; scores of 0 or less are left out later."""
        # Not marked abstract: LlamaIndex wraps what fills an abstract method in a span, which costs
        # as much as the ranking.
        raise NotImplementedError

    def _score(self, view: IndexView, query: QueryBundle, ids: frozenset[ChunkId]) -> Hits:
        """Return these chunks with their score, best first."""
        raise NotImplementedError

    def score(self, query: QueryBundle, ids: Iterable[ChunkId]) -> Hits:
        """Return those of these chunks that match with their score, above 0; best first, ties by
        id. Filters were applied to them before."""
        return _matching(self._score(view_for(query, self._source), query, frozenset(ids)))

    def rank(self, query: QueryBundle) -> Hits:
        """Return the chunks that match with their score, above 0; best first, ties by id."""
        return _matching(self._rank(view_for(query, self._source), query))

    def fill(self, hits: Sequence[NodeWithScore], query: QueryBundle) -> list[NodeWithScore]:
        """Return hits of this query with text and metadata."""
        return fill(hits, view_for(query, self._source))

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._nodes(light_hits(self.rank(query_bundle)), query_bundle)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # Nothing here waits but for the processor and the disk: a thread keeps the loop free.
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def _nodes(self, hits: list[NodeWithScore], query: QueryBundle) -> list[NodeWithScore]:
        return self.fill(hits, query) if self.with_text else hits


def checked_top_k(similarity_top_k: int) -> int:
    """Return how many hits are wanted.

    :raises ValueError: if it is less than 1.
    """
    if similarity_top_k < 1:
        raise ValueError(f"similarity_top_k is {similarity_top_k}; it must be at least 1")
    return similarity_top_k


def _matching(hits: Hits) -> Hits:
    return [hit for hit in hits if hit[1] > 0]
