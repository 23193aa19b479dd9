"""The retrievers over the index: by meaning, by words, by exact name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.schema import NodeWithScore
from llama_index.retrievers.bm25 import BM25Retriever

from notehop.app.retrieval.filters import AllowedChunks, Narrowed
from notehop.app.retrieval.filters import among as allowed_among
from notehop.app.retrieval.nodes import Hits, Vector, fill, light_hits, light_node
from notehop.app.retrieval.trace import Nodes, TracedQuery, TracedRetriever, ViewSource, view_for
from notehop.config.errors import QueryError
from notehop.indexing.embed.onnx_embedding import QueryEmbedder
from notehop.indexing.graph.files import fold
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.served.chroma_vectors import ChunkVectors
from notehop.indexing.tokens.tokenizer import Tokenizer


def query_vector(query: TracedQuery, embed_model: BaseEmbedding, rows: ChunkVectors) -> Vector:
    """Return the vector of the query, length 1; embeds it unless it brings one that fits the rows.

    :raises QueryError: if the query has no text and no vector.
    """
    if (known := known_vector(query, rows)) is not None:
        return known
    # Not ``embedding_strs``, which is empty where a query brings a vector.
    texts = [text for text in query.custom_embedding_strs or [query.query_str] if text.strip()]
    if not texts:
        raise QueryError("the query is empty; write what you look for")
    if len(texts) == 1 and isinstance(embed_model, QueryEmbedder):
        # LlamaIndex's events around it take a tenth of the time that the embedding does.
        query.vector = of_length_1(embed_model.embed_query(texts[0]))
    else:
        query.vector = of_length_1(embed_model.get_agg_embedding_from_queries(texts))
    return query.vector


def known_vector(query: TracedQuery, rows: ChunkVectors) -> Vector | None:
    """Return the vector of the query, length 1, if it has one that fits the rows, else warn."""
    if query.vector is None and query.embedding is not None:
        if len(query.embedding) == rows.dimensions:
            query.vector = of_length_1(query.embedding)
        else:
            query.trace.warn(
                f"the query brought a vector of {len(query.embedding)} numbers, which is of another "
                f"model than the {rows.dimensions} of the index: it was embedded anew"
            )
    return query.vector


def of_length_1(embedding: Sequence[float] | Vector) -> Vector:
    """The vector in its direction; all zeros have none and stay."""
    vector = np.asarray(embedding, dtype=np.float32)
    return vector / np.float32(float(np.linalg.norm(vector)) or 1.0)


class SignalRetriever(TracedRetriever):
    """A retriever of chunks of the index: :meth:`rank` gives a fusion ids with scores, for to make nodes
    of all would take longer than finding them."""

    def __init__(
        self,
        view: ViewSource,
        *,
        allowed: AllowedChunks = None,
        with_text: bool = True,
        callback_manager: CallbackManager | None = None,
        **more: Any,
    ) -> None:
        """:param allowed: find these chunks only; None for all.
        :param with_text: False leaves text and metadata of the nodes empty, for a later stage to fill.
        """
        super().__init__(callback_manager=callback_manager, **more)
        self.with_text = with_text
        self.source = view
        self._allowed = allowed

    def rank(self, query: TracedQuery, among: Collection[ChunkId] | None = None) -> Hits:
        """Return the chunks that match with their score, above 0; best first, ties by id. ``among`` are
        ranked alone, and all that match; None ranks what is allowed."""
        raise NotImplementedError

    def find(self, query: TracedQuery) -> Nodes:
        hits = light_hits(self.rank(query))
        return fill(hits, view_for(query, self.source)) if self.with_text else hits


def _at_least_1(similarity_top_k: int) -> int:
    if similarity_top_k < 1:
        raise ValueError(f"similarity_top_k is {similarity_top_k}; it must be at least 1")
    return similarity_top_k


class SemanticRetriever(SignalRetriever):
    """Ranks chunks by the cosine of their vector to the query's: every vector is compared."""

    def __init__(
        self,
        view: ViewSource,
        embed_model: BaseEmbedding,
        *,
        similarity_top_k: int = 100,
        **more: Any,
    ) -> None:
        """:param embed_model: the model that embedded the chunks.
        :raises ValueError: if ``similarity_top_k``, the most hits, is below 1.
        """
        super().__init__(view, **more)
        self._embed_model = embed_model
        self._top_k = _at_least_1(similarity_top_k)

    def rank(self, query: TracedQuery, among: Collection[ChunkId] | None = None) -> Hits:
        """Return the chunks whose cosine is above 0, as :meth:`SignalRetriever.rank`."""
        view = view_for(query, self.source)
        rows = view.chunk_vectors
        k, allowed = (self._top_k, self._allowed) if among is None else (len(among), among)
        hits = rows.top(query_vector(query, self._embed_model, rows), k, allowed)
        # A server of vectors is missed when it is asked.
        for warning in view.warnings:
            query.trace.warn(warning)
        return [hit for hit in hits if hit[1] > 0]


class FieldBM25:
    """What a :class:`LexicalRetriever` has in the place of ``bm25s.BM25``: the lexical index of the
    generation that it is asked about."""

    corpus = None
    # Without the number of documents, to which ``BM25Retriever`` would lower its top k for good.
    scores: Mapping[str, int] = MappingProxyType({})

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def retrieve(self, query: str, k: int, view: Snapshot, allowed: AllowedChunks) -> Hits:
        """At most ``k`` of the chunks that hold a word of the query, with their score, above 0."""
        weights = self._tokenizer.weights(self._tokenizer.query(query), view.lexical)
        return view.lexical.top(weights, k, allowed)


class LexicalRetriever(SignalRetriever, BM25Retriever):  # type: ignore[misc]
    """LlamaIndex's ``BM25Retriever`` over the fields of chunks, with the words of our tokenizer. The stock
    one pads with nodes that match nothing, cannot be empty, and reads every query as English."""

    def __init__(
        self, view: ViewSource, tokenizer: Tokenizer, *, similarity_top_k: int = 100, **more: Any
    ) -> None:
        """:param tokenizer: the one that made the index's tokens.
        :raises ValueError: if ``similarity_top_k``, the most hits, is below 1.
        """
        top_k = _at_least_1(similarity_top_k)
        bm25 = FieldBM25(tokenizer)
        super().__init__(view, existing_bm25=bm25, similarity_top_k=top_k, **more)

    def rank(self, query: TracedQuery, among: Collection[ChunkId] | None = None) -> Hits:
        """Return the chunks that hold a word of the query, as :meth:`SignalRetriever.rank`."""
        top_k, view = self.similarity_top_k, view_for(query, self.source)
        k, allowed = (top_k, self._allowed) if among is None else (len(among), among)
        return self.bm25.retrieve(query.query_str, k, view, allowed)  # type: ignore[no-any-return]


class TitleRetriever(SignalRetriever):
    """Finds the notes named exactly as the query; each by its first allowed chunk, score 1, by
    path."""

    def rank(self, query: TracedQuery, among: Collection[ChunkId] | None = None) -> Hits:
        """Return a chunk of each note of that name, as :meth:`SignalRetriever.rank`."""
        view = view_for(query, self.source)
        paths = view.notes_named(query.query_str)
        found = (allowed_among(view.chunk_ids_of(path), self._allowed) for path in paths)
        return [(ids[0], 1.0) for ids in found if ids and (among is None or ids[0] in among)]


def newest_notes(
    view: Snapshot, narrowed: Narrowed, count: int, is_template: Callable[[str], bool]
) -> list[NodeWithScore]:
    """What a query without words finds: the newest notes that filters leave and that say something, each
    by its first chunk that they leave, templates last."""
    notes = narrowed.notes
    found: list[ChunkId] = []
    templates: list[ChunkId] = []
    for path in filter(notes, view.labels.newest_first()):
        ids = allowed_among(view.chunk_ids_of(path), narrowed.allowed)[:1]
        if any(chunk.text.strip() for chunk in view.chunks(ids).values()):
            (templates if is_template(path) else found).extend(ids)
        if len(found) == count:
            break
    hits: list[NodeWithScore] = []
    for rank, chunk_id in enumerate([*found, *templates][:count], start=1):
        record = {"newest": {"rank": rank, "score": None, "weight": None}}
        hits.append(NodeWithScore(node=light_node(chunk_id, signals=record), score=1 / rank))
    return hits


def with_aliases(
    view: Snapshot, query: TracedQuery, ranking: Sequence[ChunkId], notes: int = 5
) -> TracedQuery:
    """Return the query, or a copy with the aliases of the best notes of a ranking after it, each once and
    none that stands in the query already."""

    def key(text: str) -> str:
        return " ".join(fold(text).split())

    paths = dict.fromkeys(path for one in ranking if (path := view.path_of(one)) is not None)
    rows = view.notes_at(list(paths)[:notes]).values()
    aliases = {key(alias): alias for note in rows for alias in note.aliases}
    there = f" {key(query.query_str)} "
    new = [alias for own, alias in aliases.items() if f" {own} " not in there]
    return replace(query, query_str=" ".join([query.query_str, *new])) if new else query
