"""Fusion of signals by weighted reciprocal rank: several retrievers vote, one ranking comes out."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import BaseNode, NodeWithScore

from notehop.app.retrieval.intents import DECIDED_BY
from notehop.app.retrieval.nodes import Hits, fill, light_node, noted
from notehop.app.retrieval.retrievers import SignalRetriever
from notehop.app.retrieval.trace import Nodes, TracedQuery, TracedRetriever, view_for
from notehop.config.errors import UsageError
from notehop.indexing.stores.model import ChunkId

Judge = Callable[[Sequence[ChunkId]], Hits]
"""A signal that is asked second: what the retrievers found, fused, best first -> its own ranking."""

Widening = Callable[[TracedQuery, Sequence[ChunkId]], TracedQuery]
"""A query, and the ranking of one signal -> the query for another."""

WIDENED, WIDENED_BY = "lexical", "semantic"  # whose query is widened, and by whose ranking

EXPANSION = "expansion"  # in a hit's record, the vote of notes that are linked with the best ones
DISPATCH = "title"  # the name under which the dispatched notes stand in a hit's record


@dataclass(frozen=True, slots=True)
class Fused:
    """An id with its fused score, and its rank from 1 by the name of each signal that ranked it."""

    id: ChunkId
    score: float
    ranks: Mapping[str, int]


def fuse(
    rankings: Mapping[str, Collection[ChunkId]],
    weights: Mapping[str, float] | None = None,
    k: int = 60,
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
    weights = dict.fromkeys(rankings, 1.0) if weights is None else weights
    ranks: dict[ChunkId, dict[str, int]] = {}
    for name, ids in rankings.items():
        if name not in weights:
            named = ", ".join(sorted(weights)) or "none"
            raise ValueError(f"no weight for the signal {name!r}; weights are given for: {named}")
        if not weights[name] >= 0:
            raise ValueError(f"the weight of {name!r} is {weights[name]}; it must be 0 or more")
        for rank, chunk_id in enumerate(ids if weights[name] else (), start=1):
            if ranks.setdefault(chunk_id, {}).setdefault(name, rank) != rank:
                raise ValueError(f"the ranking of {name!r} repeats an id")
    # Added up exactly: equal votes must tie, whichever signal they come from.
    fused = [
        Fused(one, math.fsum(weights[name] / (k + rank) for name, rank in own.items()), own)
        for one, own in ranks.items()
    ]
    return sorted(fused, key=lambda one: (-one.score, one.id))


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
        callback_manager: CallbackManager | None = None,
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
        :raises ValueError: if a number is out of range, no signal has a weight, or a weight is of a
            signal that is not there.
        """
        names = [*retrievers, *(judges or ())]
        weights = dict.fromkeys(names, 1.0) if weights is None else weights
        if taken := {DISPATCH, EXPANSION}.intersection(names):
            raise ValueError(f"the name {taken.pop()!r} is taken; give the signal another")
        if set(weights) != set(names):
            raise ValueError(
                f"weights are given for {', '.join(weights)}; the signals are: {', '.join(names)}"
            )
        if similarity_top_k < 1:
            raise ValueError(f"similarity_top_k is {similarity_top_k}; it must be at least 1")
        fuse(dict.fromkeys(names, ()), weights, k)
        self._weights = {name: weights[name] for name in names}
        self._signals = {name: one for name, one in retrievers.items() if weights[name] > 0}
        if not self._signals:
            raise ValueError(f"no signal has a weight; there are: {', '.join(names) or 'none'}")
        self._judges = {name: one for name, one in (judges or {}).items() if weights[name] > 0}
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
            callback_manager=callback_manager,
        )

    def find(self, query: TracedQuery) -> Nodes:
        """Return the best hits; raise what the first signal raised, if none answered."""
        rankings, weights, nodes = self._votes(query)
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
            hit = light_node(one.id, **record) if node is None else noted(node, **record)
            hits.append(NodeWithScore(node=hit, score=one.score))
        ours = [one for one in self._signals.values() if isinstance(one, SignalRetriever)]
        whole = next((one for one in ours if one.with_text), None)
        return hits if whole is None else fill(hits, view_for(query, whole.source))

    def _votes(
        self, query: TracedQuery
    ) -> tuple[dict[str, dict[ChunkId, float]], Mapping[str, float], Mapping[ChunkId, BaseNode]]:
        """Signal -> chunk -> score, each ranking best first; signal -> weight; the nodes of retrievers
        that are not ours."""
        trace = query.trace
        scores: dict[str, dict[ChunkId, float]] = {}
        nodes: dict[ChunkId, BaseNode] = {}
        failures: dict[str, Exception] = {}

        def vote(name: str, rank: Callable[[], Hits]) -> None:
            try:
                with trace.timed(name):
                    scores[name] = dict(rank())
            except UsageError:
                raise
            except Exception as exc:  # noqa: BLE001 - any broken signal; told when all were asked
                failures[name] = exc

        def asked(name: str, retriever: BaseRetriever) -> Hits:
            own = query
            if name == WIDENED and self._widening is not None:
                own = self._widening(query, list(scores.get(WIDENED_BY, ())))
            if isinstance(retriever, SignalRetriever):
                return retriever.rank(own)
            found: dict[ChunkId, float] = {}
            for hit in retriever.retrieve(own):
                # A hit without a score matches nothing.
                if hit.score is not None and hit.score == hit.score:
                    found.setdefault(hit.node.node_id, float(hit.score))
                    nodes.setdefault(hit.node.node_id, hit.node)
            return sorted(found.items(), key=lambda one: (-one[1], one[0]))

        def fused() -> list[ChunkId]:
            ranked = {name: scores[name] for name in self._signals if name in scores}
            return [one.id for one in fuse(ranked, self._weights, self._k)]

        # The one whose query is widened waits for what widens it.
        for name in sorted(self._signals, key=lambda one: one == WIDENED and bool(self._widening)):
            vote(name, partial(asked, name, self._signals[name]))
        answered = [name for name in self._signals if name in scores]
        if not answered:
            raise next(failures[name] for name in self._signals if name in failures)
        if self._dispatch is not None:
            vote(DISPATCH, partial(asked, DISPATCH, self._dispatch))
        weights = dict(self._weights)
        if query.expand is not None:
            find, weights[EXPANSION] = query.expand
            scores[EXPANSION] = dict(find(fused()))
            for name, signal in self._signals.items():
                if name in scores and isinstance(signal, SignalRetriever):
                    # Behind all that the signal found: the rank among all others is not looked for.
                    new = [id_ for id_ in scores[EXPANSION] if id_ not in scores[name]]
                    scores[name].update(signal.rank(query, new) if new else ())
        candidates = fused()
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
        return {name: scores[name] for name in weights if scores.get(name)}, weights, nodes
