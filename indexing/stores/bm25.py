"""Owns the lexical index as a LlamaIndex retriever: `BM25Retriever` around our index and tokenizer.

The stock retriever pads with notes that match nothing, lowers ``similarity_top_k`` for good on a
small corpus, cannot be empty, and reads every query as English. Here it does none of that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn, Protocol

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle
from llama_index.retrievers.bm25 import BM25Retriever

from notehop.indexing.stores.model import ChunkId
from notehop.indexing.tokens import Tokenizer

NodeOf = Callable[[ChunkId], BaseNode | None]
"""Id of a chunk -> its node; None if it is gone, and the hit is dropped."""


class Ranking(Protocol):
    """What ranks chunks: :class:`notehop.indexing.stores.lexical.LexicalIndex`, or a view of one."""

    def top(
        self, tokens: Sequence[str], k: int, allowed: Collection[ChunkId] | None = None
    ) -> list[tuple[ChunkId, float]]:
        """At most ``k`` of (id, score above 0), best first, ties by id."""


class Bm25Shape:
    """The part of ``bm25s.BM25`` that `BM25Retriever` uses, answered by a :class:`Ranking`."""

    def __init__(self, index: Ranking, corpus: NodeOf, allowed: Collection[ChunkId] | None) -> None:
        self.corpus = corpus
        # The stock constructor lowers similarity_top_k to a ``num_docs`` found in here.
        self.scores: dict[str, Any] = {}
        self._index = index
        self._allowed = allowed

    def retrieve(
        self, query_tokens: Sequence[Sequence[str]], k: int
    ) -> tuple[list[list[ChunkId]], list[list[float]]]:
        """Rank the chunks for each query: their ids and their scores, at most ``k`` each."""
        ranked = [self._index.top(tokens, k, self._allowed) for tokens in query_tokens]
        ids = [[id_ for id_, _ in hits] for hits in ranked]
        return ids, [[score for _, score in hits] for hits in ranked]


class FieldBM25Retriever(BM25Retriever):  # type: ignore[misc]
    """A `BM25Retriever` that returns matching nodes only; see :func:`bm25_retriever`."""

    def __init__(
        self,
        index: Ranking,
        tokenizer: Tokenizer,
        corpus: NodeOf,
        similarity_top_k: int,
        allowed: Collection[ChunkId] | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        if similarity_top_k < 1:
            raise ValueError(f"similarity_top_k is {similarity_top_k}; it must be at least 1")
        super().__init__(
            existing_bm25=Bm25Shape(index, corpus, allowed),
            similarity_top_k=similarity_top_k,
            callback_manager=callback_manager,
        )
        self._tokenizer = tokenizer

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        tokens = self._tokenizer.query(query_bundle.query_str)
        [ids], [scores] = self.bm25.retrieve([tokens], k=self.similarity_top_k)
        found = ((self.corpus(id_), score) for id_, score in zip(ids, scores, strict=True))
        return [NodeWithScore(node=node, score=score) for node, score in found if node is not None]

    def persist(self, path: str, encoding: str = "utf-8", **kwargs: Any) -> NoReturn:
        """Not here: nodes live in the catalog, and `LexicalIndex.save` writes the index."""
        raise NotImplementedError("the index is saved by LexicalIndex.save, its nodes by Catalog")

    @classmethod
    def from_persist_dir(cls, path: str, encoding: str = "utf-8", **kwargs: Any) -> NoReturn:
        """Not here: load the index by `LexicalIndex.load`."""
        raise NotImplementedError("load the index by LexicalIndex.load, then call bm25_retriever")


def bm25_retriever(
    index: Ranking,
    tokenizer: Tokenizer,
    corpus: NodeOf,
    similarity_top_k: int = 5,
    allowed: Collection[ChunkId] | None = None,
    callback_manager: CallbackManager | None = None,
) -> FieldBM25Retriever:
    """Make a LlamaIndex retriever of a lexical index.

    :param tokenizer: the one that made the index's tokens.
    :param corpus: called for the hits alone, best first.
    :param similarity_top_k: how many nodes at most, whatever the size of the index.
    :param allowed: ids of the only chunks it may return; None for all.
    :returns: it finds no nodes for a query that no chunk matches, and in an empty index.
    :raises ValueError: if ``similarity_top_k`` < 1.
    """
    return FieldBM25Retriever(index, tokenizer, corpus, similarity_top_k, allowed, callback_manager)
