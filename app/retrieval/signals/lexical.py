"""Owns the lexical signal: the chunks whose words are those of the query.

Touches: index.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from notehop.app.retrieval.filters.allowed import Allowed, ranked
from notehop.app.retrieval.index_view import Hits, IndexView, ViewSource
from notehop.app.retrieval.nodes import light_node
from notehop.app.retrieval.signals.signal import SignalRetriever, checked_top_k
from notehop.app.retrieval.trace import view_for
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.tokens import Tokenizer


class _OneGeneration:
    """The lexical index as one generation knows it: chunks that came later are left out."""

    def __init__(
        self,
        view: IndexView,
        tokenizer: Tokenizer,
        allowed: Allowed | Collection[ChunkId] | None,
    ) -> None:
        self._view = view
        self._tokenizer = tokenizer
        self._allowed = allowed

    def top(
        self, tokens: Sequence[str], k: int, allowed: Collection[ChunkId] | None = None
    ) -> list[tuple[ChunkId, float]]:
        left = self._allowed if allowed is None else allowed
        lexical = self._view.lexical
        weights = self._tokenizer.weights(tokens, lexical)
        hits = ranked(partial(lexical.top, weights), k, left)
        paths = self._view.paths_of(one for one, _ in hits)
        return [hit for hit, path in zip(hits, paths, strict=True) if path is not None]


class LexicalRetriever(SignalRetriever):
    """Ranks chunks by BM25 over their fields; as a retriever, through LlamaIndex's own.

    Finds nothing where no word matches; the score is that of BM25.
    """

    def __init__(
        self,
        view: ViewSource,
        tokenizer: Tokenizer,
        *,
        similarity_top_k: int = 100,
        allowed: Allowed | Collection[ChunkId] | None = None,
        with_text: bool = True,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Wire the signal to the index.

        :param tokenizer: the one that made the index's tokens.
        :param similarity_top_k: how many hits at most.
        :param allowed: rank these chunks only; None for all.
        :raises ValueError: if ``similarity_top_k`` < 1.
        """
        super().__init__(view, with_text=with_text, callback_manager=callback_manager)
        self._tokenizer = tokenizer
        self._top_k = checked_top_k(similarity_top_k)
        self._allowed = allowed

    def _rank(self, view: IndexView, query: QueryBundle) -> Hits:
        tokens = self._tokenizer.query(query.query_str)
        return _OneGeneration(view, self._tokenizer, self._allowed).top(tokens, self._top_k)

    def _score(self, view: IndexView, query: QueryBundle, ids: frozenset[ChunkId]) -> Hits:
        return view.lexical.top(self._tokenizer.query(query.query_str), len(ids), ids)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # Its package takes a seventh of a second to import, and a search asks for ranks alone.
        from notehop.indexing.stores.bm25 import bm25_retriever

        ranking = _OneGeneration(
            view_for(query_bundle, self._source), self._tokenizer, self._allowed
        )
        bm25 = bm25_retriever(ranking, self._tokenizer, _light, self._top_k)
        return self._nodes(bm25.retrieve(query_bundle), query_bundle)


def _light(chunk_id: ChunkId) -> TextNode:
    return light_node(chunk_id)
