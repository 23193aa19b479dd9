"""The retrievers over the index, by meaning, by words and by exact name, and their fusion."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.retrievers.bm25 import BM25Retriever

from notehop.app.retrieval.candidate_signals import best_by_note
from notehop.app.retrieval.components import (
    Hits,
    Nodes,
    TracedQuery,
    TracedRetriever,
    Vector,
    ViewSource,
    fill_stubs,
    stub_hits,
    stub_node,
    view_for,
    with_metadata,
)
from notehop.app.retrieval.filters import EMPTY_QUERY_MESSAGE, AllowedChunks, keep_allowed
from notehop.app.retrieval.intents import DECIDED_BY
from notehop.config.errors import QueryError, UsageError
from notehop.indexing.graph.files import fold
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.rows import ChunkId
from notehop.indexing.stores.served.chroma_vectors import ChunkVectors
from notehop.indexing.stores.vector_index import cosines
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
        raise QueryError(EMPTY_QUERY_MESSAGE)
    query.vector = normalize_vector(embed_model.get_agg_embedding_from_queries(texts))
    return query.vector


def known_vector(query: TracedQuery, rows: ChunkVectors) -> Vector | None:
    """Return the vector of the query, length 1, if it has one that fits the rows, else warn."""
    if query.vector is None and query.embedding is not None:
        if len(query.embedding) == rows.dimensions:
            query.vector = normalize_vector(query.embedding)
        else:
            query.trace.warn(
                f"the query brought a vector of {len(query.embedding)} numbers, which is of another "
                f"model than the {rows.dimensions} of the index: it was embedded anew"
            )
    return query.vector


def normalize_vector(embedding: Sequence[float] | Vector) -> Vector:
    """Return the vector at length 1; all zeros stay."""
    vector = np.asarray(embedding, dtype=np.float32)
    return vector / np.float32(float(np.linalg.norm(vector)) or 1.0)


def known_similarities(table: ChunkVectors, query: Vector, ids: Sequence[str]) -> dict[str, float]:
    """Return the cosine to the query, to 6 decimals, of each id that has a vector."""
    found, rows = table.rows(dict.fromkeys(ids))
    return dict(zip(found, cosines(rows, query).tolist(), strict=True))


class SignalRetriever(TracedRetriever):
    """A retriever of chunks of the index: :meth:`rank` gives a fusion ids with scores, for to make nodes
    of all would take longer than finding them."""

    def __init__(
        self,
        view: ViewSource,
        *,
        allowed: AllowedChunks = None,
        with_text: bool = True,
        similarity_top_k: int = 100,
        **more: Any,
    ) -> None:
        """:param allowed: find these chunks only; None for all.
        :param with_text: False leaves text and metadata of the nodes empty, for a later stage to fill.
        :param similarity_top_k: hits at most.
        """
        super().__init__(**more)
        self.with_text = with_text
        self.source = view
        self.similarity_top_k = similarity_top_k
        self._allowed = allowed

    def rank(self, query: TracedQuery, among: Collection[ChunkId] | None = None) -> Hits:
        """Return the chunks that match with their score, above 0; best first, ties by id. ``among`` are
        ranked alone, and all that match; None ranks what is allowed."""
        view = view_for(query, self.source)
        if among is not None:
            return self._top_hits(query, view, len(among), among)
        return self._top_hits(query, view, self.similarity_top_k, self._allowed)

    def _top_hits(self, query: TracedQuery, view: Snapshot, count: int, allowed: AllowedChunks) -> Hits:
        raise NotImplementedError

    def find(self, query: TracedQuery) -> Nodes:
        hits = stub_hits(self.rank(query))
        return fill_stubs(hits, view_for(query, self.source)) if self.with_text else hits


class SemanticRetriever(SignalRetriever):
    """Ranks chunks by the cosine of their vector to the query's, if above 0: every vector is compared."""

    def __init__(self, view: ViewSource, embed_model: BaseEmbedding, **more: Any) -> None:
        """:param embed_model: the model that embedded the chunks."""
        super().__init__(view, **more)
        self._embed_model = embed_model

    def _top_hits(self, query: TracedQuery, view: Snapshot, count: int, allowed: AllowedChunks) -> Hits:
        rows = view.chunk_vectors
        hits = rows.top(query_vector(query, self._embed_model, rows), count, allowed)
        # A server of vectors is missed when it is asked.
        for warning in view.warnings:
            query.trace.warn(warning)
        return [hit for hit in hits if hit[1] > 0]


class LexicalRetriever(SignalRetriever, BM25Retriever):  # type: ignore[misc]
    """LlamaIndex's ``BM25Retriever`` over the fields of chunks, with the words of our tokenizer. The stock
    one pads with nodes that match nothing, cannot be empty, and reads every query as English."""

    def __init__(self, view: ViewSource, tokenizer: Tokenizer, **more: Any) -> None:
        """:param tokenizer: the one that made the index's tokens."""
        # The lexical index is that of the generation that a query sees. No number of documents: to
        # that ``BM25Retriever`` would lower its top k for good.
        super().__init__(view, existing_bm25=SimpleNamespace(corpus=None, scores={}), **more)
        self._tokenizer = tokenizer

    def _top_hits(self, query: TracedQuery, view: Snapshot, count: int, allowed: AllowedChunks) -> Hits:
        weights = self._tokenizer.weights(self._tokenizer.query(query.query_str), view.lexical)
        return view.lexical.top(weights, count, allowed)


class TitleRetriever(SignalRetriever):
    """Finds the notes named exactly as the query; each by its first allowed chunk, score 1, by path."""

    def _top_hits(self, query: TracedQuery, view: Snapshot, count: int, allowed: AllowedChunks) -> Hits:
        paths = view.notes_named(query.query_str)
        found = (keep_allowed(view.chunk_ids_of(path), self._allowed) for path in paths)
        first = keep_allowed([ids[0] for ids in found if ids], allowed)
        return [(one, 1.0) for one in first[:count]]


def add_aliases(
    view: Snapshot, query: TracedQuery, ranking: Sequence[ChunkId], notes: int = 5
) -> TracedQuery:
    """Return the query, or a copy with the aliases of the best notes of a ranking after it, each once and
    none that stands in the query already."""

    def key(text: str) -> str:
        return " ".join(fold(text).split())

    rows = view.notes_at(best_by_note(view, ranking, notes)).values()
    aliases = {key(alias): alias for note in rows for alias in note.aliases}
    there = f" {key(query.query_str)} "
    new = [alias for own, alias in aliases.items() if f" {own} " not in there]
    return replace(query, query_str=" ".join([query.query_str, *new])) if new else query


Judge = Callable[[Sequence[ChunkId]], Hits]
"""A signal that is asked second: what the retrievers found, fused, best first -> its own ranking."""

Widening = Callable[[TracedQuery, Sequence[ChunkId]], TracedQuery]
"""A query, and the ranking of one signal -> the query for another."""

WIDENED, WIDENED_BY = "lexical", "semantic"  # whose query is widened, and by whose ranking

EXPANSION = "expansion"  # in a hit's record, the vote of notes that are linked with the best ones
DISPATCH = "title"  # the name under which the dispatched notes stand in a hit's record


class Fused(NamedTuple):
    """An id with its fused score, and its rank from 1 by the name of each signal that ranked it."""

    id: ChunkId
    score: float
    ranks: Mapping[str, int]


def fuse(
    rankings: Mapping[str, Collection[ChunkId]], weights: Mapping[str, float] | None = None, k: int = 60
) -> list[Fused]:
    """Fuse ranked lists by weighted reciprocal rank (Cormack et al., SIGIR 2009).

    :param rankings: signal name -> distinct ids, best first; a list may be empty.
    :param weights: signal name -> weight, not negative; None weighs every signal 1, 0 takes one out.
    :param k: rank offset, in ranks; 60 is the value of the paper.
    :returns: best first, ties by id; score = sum of weight / (k + rank), rank from 1.
    :raises ValueError: if ``k`` < 1, a ranking repeats an id or has no weight, or a weight is
        negative.
    """
    if k < 1:
        raise ValueError(f"k is {k}; the rank offset must be at least 1")
    each = dict.fromkeys(rankings, 1.0) if weights is None else weights
    ranks = defaultdict[ChunkId, dict[str, int]](dict)
    for name, ids in rankings.items():
        weight = each.get(name, math.nan)
        if not weight >= 0:
            raise ValueError(f"the weight of {name!r} is {weight}; it must be 0 or more")
        if len(set(ids)) < len(ids):
            raise ValueError(f"the ranking of {name!r} repeats an id")
        for rank, chunk_id in enumerate(ids if weight else (), start=1):
            ranks[chunk_id][name] = rank
    # Added up exactly: equal votes must tie, whichever signal they come from.
    fused = [
        Fused(one, math.fsum([each[name] / (k + rank) for name, rank in own.items()]), own)
        for one, own in sorted(ranks.items())
    ]
    return sorted(fused, key=attrgetter("score"), reverse=True)


class WeightedFusionRetriever(TracedRetriever, QueryFusionRetriever):
    """Fuses retrievers by weighted reciprocal rank (see :func:`fuse`).

    Unlike in its base class weights count, twins in two notes stay two hits, nodes of the retrievers
    are never changed, no language model is asked, and where a retriever fails the others vote, with a
    warning. Each hit's ``metadata["signals"]`` maps signal name -> ``{"rank", "score", "weight"}``.
    Signals of notehop are asked for their ranking only; nodes are made, and filled if any of them is to
    have text, for what the fusion returns.
    """

    def __init__(
        self,
        retrievers: Mapping[str, BaseRetriever],
        *,
        weights: Mapping[str, float] | None = None,
        judges: Mapping[str, Judge] | None = None,
        k: int = 60,
        similarity_top_k: int = 100,
        dispatch: BaseRetriever | None = None,
        deciding: Collection[str] = (),
        widening: Widening | None = None,
    ) -> None:
        """:param retrievers: signal name -> retriever.
        :param weights: signal name -> weight, 0 or more; None weighs each 1. A signal of weight 0
            is not run.
        :param judges: signal name -> what ranks, or adds to, what the retrievers found.
        :param k: rank offset of the fusion, in ranks.
        :param similarity_top_k: how many fused hits at most.
        :param dispatch: finds what the query names exactly; its hits stand before all others.
        :param deciding: signals whose hits no rerank moves: they have ``metadata["decided_by"]``.
        :param widening: adds to the query of the signal ``lexical`` what ``semantic`` found.
        :raises ValueError: if ``k`` is below 1, no signal has a weight, one has none, or a weight is
            negative or of a signal that is not there.
        """
        names = [*retrievers, *(judges or ())]
        self._weights = dict.fromkeys(names, 1.0) if weights is None else dict(weights)
        if set(self._weights) != set(names):
            raise ValueError(
                f"weights are given for {', '.join(self._weights)}; the signals are: {', '.join(names)}"
            )
        fuse(dict.fromkeys(names, ()), self._weights, k)
        self._signals = {name: one for name, one in retrievers.items() if self._weights[name]}
        if not self._signals:
            raise ValueError(f"no signal has a weight; there are: {', '.join(names) or 'none'}")
        self._judges = {name: one for name, one in (judges or {}).items() if self._weights[name]}
        self._k = k
        self._dispatch = dispatch
        self._deciding = frozenset(deciding)
        self._widening = widening
        super().__init__(
            list(self._signals.values()),
            llm=MockLLM(),
            mode=FUSION_MODES.RECIPROCAL_RANK,
            num_queries=1,
            use_async=False,
            similarity_top_k=similarity_top_k,
        )

    def find(self, query: TracedQuery) -> Nodes:
        """Return the best hits; raise what the first signal raised, if none answered."""
        trace = query.trace
        nodes: dict[ChunkId, BaseNode] = {}  # of retrievers that are not ours
        scores: dict[str, dict[ChunkId, float]] = {}
        failures: dict[str, Exception] = {}

        def vote(name: str, rank: Callable[[], Hits]) -> None:
            try:
                with trace.timed(name):
                    scores[name] = dict(rank())
            except UsageError:
                raise
            except Exception as exc:  # noqa: BLE001 - any broken signal; told when all were asked
                failures[name] = exc

        def fused() -> list[Fused]:
            ranked = {name: scores[name] for name in self._signals if name in scores}
            return fuse(ranked, self._weights, self._k)

        # The one whose query is widened waits for what widens it.
        for name in sorted(self._signals, key=lambda one: one == WIDENED and bool(self._widening)):
            own, signal = query, self._signals[name]
            if name == WIDENED and self._widening is not None:
                own = self._widening(query, list(scores.get(WIDENED_BY, ())))
            vote(name, partial(_run_signal, signal, own, nodes))
        answered = [name for name in self._signals if name in scores]
        if not answered:
            raise next(failures[name] for name in self._signals if name in failures)
        if self._dispatch is not None:
            vote(DISPATCH, partial(_run_signal, self._dispatch, query, nodes))
        weights = dict(self._weights)
        found = fused()
        if query.expand is not None:
            find, weights[EXPANSION] = query.expand
            scores[EXPANSION] = dict(find([one.id for one in found]))
            for name, signal in self._signals.items():
                if name in scores and isinstance(signal, SignalRetriever):
                    # Behind all that the signal found: the rank among all others is not looked for.
                    new = [id_ for id_ in scores[EXPANSION] if id_ not in scores[name]]
                    scores[name].update(signal.rank(query, new) if new else ())
            found = fused()
        candidates = [one.id for one in found]
        for name, judge in self._judges.items():
            vote(name, partial(judge, candidates))
        for name, failure in failures.items():
            trace.warn(
                f"the {name} signal failed and did not vote ({type(failure).__name__}: "
                f"{failure}); the ranking is that of: {', '.join(answered)}"
            )
        trace.count("fusion", **{name: len(ids) for name, ids in sorted(scores.items())})
        # All others together give at most the sum of their weights / (k + 1): the last of the
        # dispatched stands above the best of them.
        dispatched = len(scores.get(DISPATCH, ()))
        weights[DISPATCH] = (sum(weights.values()) + 1.0) * (self._k + dispatched) / (self._k + 1)
        # In the order of the signals, whichever answered first.
        rankings = {name: scores[name] for name in weights if scores.get(name)}
        hits: Nodes = []
        for one in fuse(rankings, weights, self._k)[: self.similarity_top_k]:
            record: dict[str, Any] = {
                "signals": {
                    name: {"rank": rank, "score": rankings[name][one.id], "weight": weights[name]}
                    for name, rank in one.ranks.items()
                }
            }
            if decided := sorted(self._deciding.intersection(one.ranks)):
                record[DECIDED_BY] = decided
            node = nodes.get(one.id)
            hit = stub_node(one.id, **record) if node is None else with_metadata(node, **record)
            hits.append(NodeWithScore(node=hit, score=one.score))
        ours = [one for one in self._signals.values() if isinstance(one, SignalRetriever)]
        whole = next((one for one in ours if one.with_text), None)
        return hits if whole is None else fill_stubs(hits, view_for(query, whole.source))


def _run_signal(retriever: BaseRetriever, query: TracedQuery, nodes: dict[ChunkId, BaseNode]) -> Hits:
    """The ranking of a retriever; ``nodes`` get those of one that is not ours."""
    if isinstance(retriever, SignalRetriever):
        return retriever.rank(query)
    found: dict[ChunkId, float] = {}
    for hit in retriever.retrieve(query):
        # A hit without a score matches nothing.
        if hit.score is not None and hit.score == hit.score:
            found.setdefault(hit.node.node_id, float(hit.score))
            nodes.setdefault(hit.node.node_id, hit.node)
    return sorted(found.items(), key=lambda one: (-one[1], one[0]))
