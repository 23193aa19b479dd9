"""Owns recall expansion on the index: neighbours of the best hits join the candidates.

Touches: index.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, islice

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from notehop.app.retrieval.connected_links import Source
from notehop.app.retrieval.expansion import PRESETS, VOTE, Expansion
from notehop.app.retrieval.filters.allowed import Allowed, among
from notehop.app.retrieval.fusion import EXPANSION, WeightedFusionRetriever
from notehop.app.retrieval.hit_places import NONE_KNOWN, places_of
from notehop.app.retrieval.index_view import Hits, IndexView, ViewSource
from notehop.app.retrieval.neighbours import Neighbour, neighbours_of
from notehop.app.retrieval.nodes import below, fill, light_node, noted
from notehop.app.retrieval.query_vector import known_vector
from notehop.app.retrieval.trace import trace_of, traced, view_for
from notehop.indexing.stores.model import ChunkId

SIGNAL = EXPANSION
"""The name of this stage in a query's trace, and of its vote in a hit's record."""

EXPANDED = "expanded_from"
"""What the metadata of a hit hold that no signal found by itself."""

TOP = 10
"""Hits among which expanded ones are counted."""

_log = logging.getLogger(__name__)


class GraphEnhancedRetriever(BaseRetriever):
    """Wraps a retriever of chunks and adds neighbours of its best notes to its candidates.

    A link to a heading or block brings the chunk it names, a link without one the target's chunk
    nearest to the query, a backlink the chunk that holds it. Around a :class:`WeightedFusionRetriever` the
    neighbours are scored by its signals like all candidates, and their own ranking has a vote of
    ``weight``: they stand where the votes put them. Around any other retriever they stand below its
    hits. Hits that only a link brought carry ``metadata["expanded_from"]``; the query's trace
    counts seeds, neighbours, those that were candidates already, those added, and after
    :func:`count_expanded` those among the first ten.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        view: ViewSource,
        *,
        expansion: Expansion = PRESETS["off"],
        weight: float = VOTE,
        allowed: Allowed | Collection[ChunkId] | None = None,
        with_text: bool = True,
        clock: Callable[[], float] = time.time,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Wire the retriever to the index.

        :param weight: of the neighbours' ranking among the signals; with 0 they stand where the
            other signals put them.
        :param allowed: add these chunks only; None for all.
        :param with_text: False leaves the nodes of expanded hits without text and metadata.
        :param clock: seconds since the epoch, for the recency of neighbours.
        :raises ValueError: if ``weight`` is negative.
        """
        super().__init__(callback_manager=callback_manager)
        if not weight >= 0:
            raise ValueError(f"weight is {weight}; it must be 0 or more")
        self._retriever = retriever
        self._view = view
        self._expansion = expansion
        self._weight = weight
        self._allowed = allowed
        self._with_text = with_text
        self._clock = clock

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = traced(query_bundle, kept=False)
        inner = self._retriever
        if self._expansion.notes and isinstance(inner, WeightedFusionRetriever):
            joining = _Joining(self, query)
            return joining.marked(inner.expanded(query, joining.hits, self._weight))
        return self._below(inner.retrieve(query), query)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def joining(
        self, query: QueryBundle, candidates: Sequence[ChunkId]
    ) -> tuple[list[Neighbour], set[ChunkId]]:
        """Return the neighbours that join, best first, and the chunks of them that are new.

        :param candidates: best first; the seeds are their first notes.
        """
        view = view_for(query, self._view)
        trace = trace_of(query)
        with trace.timed(SIGNAL):
            seeds = _seeds(view, candidates, self._expansion.seeds)
            vector = known_vector(query, view.chunk_vectors)
            near = neighbours_of(view, seeds, vector, self._expansion, self._clock())
            left = set(among([one.chunk_id for one in near], self._allowed))
            fit = [one for one in near if one.chunk_id in left]
            joining = fit[: self._expansion.notes]
            new = {one.chunk_id for one in joining} - set(candidates)
            trace.count(
                SIGNAL,
                seeds=len(seeds),
                neighbours=len(near),
                filtered_out=len(near) - len(fit),
                over_limit=len(fit) - len(joining),
                hits_already=len(joining) - len(new),
                added=len(new),
            )
        return joining, new

    def _below(self, hits: list[NodeWithScore], query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self._expansion.notes == 0:
            return hits
        view = view_for(query_bundle, self._view)
        places = places_of(view, hits)
        if hits and not any(places):
            trace_of(query_bundle).warn(NONE_KNOWN.format(count=len(hits)))
        joining, new = self.joining(query_bundle, [one.chunk_id for one in places if one])
        foreign = {
            place.path
            for hit, place in zip(hits, places, strict=True)
            if place is not None and place.chunk_id != hit.node.node_id
        }
        added = [one for one in joining if one.chunk_id in new and one.path not in foreign]
        lowest = min((hit.score or 0.0 for hit in hits), default=0.0)
        more = [
            NodeWithScore(
                node=light_node(
                    one.chunk_id,
                    signals={SIGNAL: {"rank": rank, "score": one.score, "weight": None}},
                    **{EXPANDED: one.record()},
                ),
                score=below(lowest, 1.0 - rank / (len(added) + 1)),
            )
            for rank, one in enumerate(added, start=1)
        ]
        return hits + (fill(more, view) if self._with_text else more)


class _Joining:
    """The neighbours that join the candidates of one query."""

    def __init__(self, retriever: GraphEnhancedRetriever, query: QueryBundle) -> None:
        self._retriever = retriever
        self._query = query
        self._new: dict[ChunkId, Neighbour] = {}

    def hits(self, candidates: Sequence[ChunkId]) -> Hits:
        """Return the neighbours as a ranking, for the fusion to count."""
        joining, new = self._retriever.joining(self._query, candidates)
        self._new = {one.chunk_id: one for one in joining if one.chunk_id in new}
        return [(one.chunk_id, one.score) for one in joining]

    def marked(self, hits: list[NodeWithScore]) -> list[NodeWithScore]:
        """Return the hits; those that only a link brought say which."""
        return [
            NodeWithScore(node=noted(hit.node, **{EXPANDED: new.record()}), score=hit.score)
            if (new := self._new.get(hit.node.node_id))
            else hit
            for hit in hits
        ]


def count_expanded(hits: Iterator[NodeWithScore], query: QueryBundle) -> Iterator[NodeWithScore]:
    """Count in the query's trace, and log, how many of the first ten hits only a link brought.

    :param hits: best first, after every stage that may still move them.
    :returns: the same hits.
    """
    trace = trace_of(query)
    if SIGNAL not in trace.counts:
        return hits
    first = list(islice(hits, TOP))
    reached = sum(EXPANDED in hit.node.metadata for hit in first)
    trace.count(SIGNAL, **{f"in_top_{TOP}": reached})
    _log.debug("%s: %s", SIGNAL, trace.counts[SIGNAL])
    return chain(first, hits)


def _seeds(view: IndexView, candidates: Sequence[ChunkId], most: int) -> list[Source]:
    """Return the first notes of a ranking, each by its best chunk."""
    best: dict[str, ChunkId] = {}
    for chunk_id in candidates:
        path = view.path_of(chunk_id)
        if path is not None and path not in best:
            best[path] = chunk_id
            if len(best) == most:
                break
    return [Source(rank, path, id_) for rank, (path, id_) in enumerate(best.items(), start=1)]
