"""The retrievers over the index: by meaning, by words, by exact name."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from notehop.app.retrieval.filters.apply import Allowed, among, ranked
from notehop.app.retrieval.index_view import Hits, IndexView, Vector, VectorRows, ViewSource
from notehop.app.retrieval.nodes import fill, light_hits, light_node
from notehop.app.retrieval.trace import TracedQuery, trace_of, view_for
from notehop.config.errors import QueryError
from notehop.indexing.beside import Beside
from notehop.indexing.embed.onnx_embedding import QueryEmbedder
from notehop.indexing.graph.files import fold
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.tokens import Tokenizer


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


class TitleRetriever(SignalRetriever):
    """Finds the notes named exactly as the query; each by its first chunk, score 1, by path."""

    def __init__(
        self,
        view: ViewSource,
        *,
        allowed: Allowed | Collection[ChunkId] | None = None,
        with_text: bool = True,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Wire the signal to the index.

        :param allowed: find these chunks only, the first such of each note; None for all.
        """
        super().__init__(view, with_text=with_text, callback_manager=callback_manager)
        self._allowed = allowed

    def _rank(self, view: IndexView, query: QueryBundle) -> Hits:
        paths = view.notes_named(query.query_str)
        found = (among(view.chunk_ids_of(path), self._allowed) for path in paths)
        return [(ids[0], 1.0) for ids in found if ids]

    def _score(self, view: IndexView, query: QueryBundle, ids: frozenset[ChunkId]) -> Hits:
        return [hit for hit in self._rank(view, query) if hit[0] in ids]


@dataclass(frozen=True, slots=True)
class AliasWidening:
    """Adds the aliases of the best notes of the signal ``source`` to the query of ``target``.

    ``notes`` is how many notes give their aliases.
    """

    view: ViewSource
    notes: int = 5
    source: str = "semantic"
    target: str = "lexical"

    def __post_init__(self) -> None:
        if self.notes < 1:
            raise ValueError(f"notes is {self.notes}; widening needs at least 1")

    def widened(self, query: QueryBundle, ranking: Sequence[ChunkId]) -> QueryBundle:
        """Return the query for the target: the one given, or a copy with aliases after it.

        :param ranking: chunks, best first; their notes' aliases are added note by note, each once
            and none that stands in the query already.
        """
        view = view_for(query, self.view)
        paths = dict.fromkeys(path for one in ranking if (path := view.path_of(one)) is not None)
        notes = view.notes_at(list(paths)[: self.notes]).values()
        aliases = {_key_of_name(alias): alias for note in notes for alias in note.aliases}
        there = f" {_key_of_name(query.query_str)} "
        new = [alias for key, alias in aliases.items() if f" {key} " not in there]
        return replace(query, query_str=" ".join([query.query_str, *new])) if new else query


def _key_of_name(text: str) -> str:
    return " ".join(fold(text).split())
