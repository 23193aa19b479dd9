"""Fusion of signals by weighted reciprocal rank: several retrievers vote, one ranking comes out."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from notehop.app.retrieval.intents import DECIDED_BY
from notehop.app.retrieval.nodes import Hits, light_node, noted
from notehop.app.retrieval.retrievers import SignalRetriever
from notehop.app.retrieval.trace import Trace, TracedQuery, trace_of, traced
from notehop.config.errors import UsageError
from notehop.indexing.stores.model import ChunkId

Judge = Callable[[Sequence[ChunkId]], Hits]
"""A signal that is asked second: what the retrievers found, fused, best first -> its own ranking."""

Widening = Callable[[QueryBundle, Sequence[ChunkId]], QueryBundle]
"""A query, and the ranking of one signal -> the query for another."""

WIDENED, WIDENED_BY = "lexical", "semantic"
"""The signal whose query is widened, and the one by whose ranking."""

EXPANSION = "expansion"
"""The name under which the vote of notes that are linked with the best ones stands in a record."""

DISPATCH = "title"
"""The name under which the dispatched notes stand in a hit's record."""


@dataclass(frozen=True, slots=True)
class Fused:
    """An id with its fused score; ``ranks`` maps signal name -> rank from 1 where it was ranked."""

    id: ChunkId
    score: float
    ranks: Mapping[str, int]


def fuse(
    rankings: Mapping[str, Collection[ChunkId]],
    weights: Mapping[str, float] | None = None,
    k: int = 60,
    limit: int | None = None,
) -> list[Fused]:
    """Fuse ranked lists by weighted reciprocal rank (Cormack et al., SIGIR 2009).

    :param rankings: signal name -> distinct ids, best first; a list may be empty.
    :param weights: signal name -> weight, not negative; None weighs every signal 1. A weight of 0
        takes the signal out. A weight for a signal that ranked nothing is no error.
    :param k: rank offset, in ranks; 60 is the value of the paper.
    :param limit: how many are returned at most; None for all.
    :returns: best first, ties by id; score = sum of weight / (k + rank), rank from 1.
    :raises ValueError: if ``k`` < 1, a ranking repeats an id or has no weight, or a weight is
        negative.
    """
    return _Fusion.of(rankings, weights, k).best(limit)


@dataclass(frozen=True, slots=True)
class _Fusion:
    """Ranked lists, fused: ``order`` has the ids, best first. What each vote was is looked up for
    those alone that are asked for."""

    order: Sequence[ChunkId]
    scores: Mapping[ChunkId, float]
    ranks: Mapping[str, Mapping[ChunkId, int]]

    @classmethod
    def of(
        cls,
        rankings: Mapping[str, Collection[ChunkId]],
        weights: Mapping[str, float] | None,
        k: int,
    ) -> _Fusion:
        """As :func:`fuse`."""
        if k < 1:
            raise ValueError(f"k is {k}; the rank offset must be at least 1")
        weights = dict.fromkeys(rankings, 1.0) if weights is None else weights
        votes: dict[ChunkId, list[float]] = {}
        ranks: dict[str, dict[ChunkId, int]] = {}
        for name, ids in rankings.items():
            if name not in weights:
                named = ", ".join(sorted(weights)) or "none"
                raise ValueError(
                    f"no weight for the signal {name!r}; weights are given for: {named}"
                )
            weight = weights[name]
            if not weight >= 0:
                raise ValueError(f"the weight of {name!r} is {weight}; it must be 0 or more")
            own = dict(zip(ids, range(1, len(ids) + 1), strict=True))
            if len(own) != len(ids):
                raise ValueError(
                    f"the ranking of {name!r} repeats an id; rankings hold distinct ids"
                )
            if weight:
                ranks[name] = own
                for chunk_id, rank in own.items():
                    votes.setdefault(chunk_id, []).append(weight / (k + rank))
        # Added up exactly: equal votes must tie, whichever signal they come from.
        scores = {chunk_id: math.fsum(some) for chunk_id, some in votes.items()}
        # By id, then by score: the second sort keeps the order of what ties.
        order = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
        return cls(order, scores, ranks)

    def best(self, limit: int | None) -> list[Fused]:
        """The first of them, so many at most."""
        return [
            Fused(
                one, self.scores[one], {n: own[one] for n, own in self.ranks.items() if one in own}
            )
            for one in self.order[:limit]
        ]


@dataclass(slots=True)
class Votes:
    """What the signals said: signal -> chunk -> score, each ranking best first.

    ``nodes`` are those of retrievers not ours, ``expansion`` is the weight of the ranking of notes
    that are linked with the best ones. ``fused`` is what the signals alone say.
    """

    scores: dict[str, dict[ChunkId, float]] = field(default_factory=dict)
    nodes: dict[ChunkId, BaseNode] = field(default_factory=dict)
    failures: dict[str, Exception] = field(default_factory=dict)
    expansion: float = 0.0
    fused: _Fusion | None = None

    def add_nodes(self, signal: str, found: Sequence[NodeWithScore]) -> None:
        """Add what another retriever found, in whatever order; hits without a score match nothing
        and are left out."""
        scores: dict[ChunkId, float] = {}
        for hit in found:
            if hit.score is not None and hit.score == hit.score:
                scores.setdefault(hit.node.node_id, float(hit.score))
                self.nodes.setdefault(hit.node.node_id, hit.node)
        self.scores[signal] = dict(sorted(scores.items(), key=lambda one: (-one[1], one[0])))


class WeightedFusionRetriever(QueryFusionRetriever):
    """Fuses retrievers by weighted reciprocal rank (see :func:`fuse`).

    Differs from its base class in that weights count, twins in two notes stay two hits, nodes of
    the retrievers are never changed, no language model is asked or resolved, and a retriever that
    fails does not take the others with it: they vote, and the query's trace holds a warning. Each
    hit's ``metadata["signals"]`` maps signal name -> ``{"rank", "score", "weight"}``. Signals of
    notehop are asked for their ranking only; nodes are made, and filled if any of them is to have
    text, for what the fusion returns.
    """

    def __init__(
        self,
        retrievers: Mapping[str, BaseRetriever],
        *,
        weights: Mapping[str, float] | None = None,
        judges: Mapping[str, Judge] | None = None,
        k: int = 60,
        similarity_top_k: int | None = 100,
        dispatch: BaseRetriever | None = None,
        deciding: Collection[str] = (),
        widening: Widening | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Wire the signals.

        :param retrievers: signal name -> retriever.
        :param weights: signal name -> weight, 0 or more; None weighs each 1. A signal of weight 0
            is not run.
        :param judges: signal name -> what ranks, or adds to, what the retrievers found.
        :param k: rank offset of the fusion, in ranks.
        :param similarity_top_k: how many fused hits at most; None for all.
        :param dispatch: finds what the query names exactly; its hits stand before all others.
        :param deciding: signals whose hits no rerank moves: they have ``metadata["decided_by"]``.
        :param widening: adds to the query of the signal ``lexical`` what ``semantic`` found.
        :raises ValueError: if a number is out of range, no signal has a weight, or a weight or the
            widening is of a signal that is not there.
        """
        judges = judges or {}
        _check(retrievers, judges, weights, widening, k, similarity_top_k)
        names = (*retrievers, *judges)
        self._weights = {name: 1.0 if weights is None else weights[name] for name in names}
        self._signals = {name: r for name, r in retrievers.items() if self._weights[name] > 0}
        self._judges = {name: one for name, one in judges.items() if self._weights[name] > 0}
        self._k = k
        self._dispatch = dispatch
        self._deciding = frozenset(deciding)
        self._widening = widening
        # The constructor of the base class looks for LangChain, which takes longer than a signal:
        # what it sets is taken over from one that was made before.
        vars(self).update(_of_the_base())
        BaseRetriever.__init__(self, callback_manager=callback_manager)
        self._retrievers = list(self._signals.values())
        # None returns all of the ranking.
        self.similarity_top_k = similarity_top_k or sys.maxsize

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = traced(query_bundle, kept=False)
        found = super()._retrieve(query)
        ours = [one for one in self._signals.values() if isinstance(one, SignalRetriever)]
        whole = next((one for one in ours if one.with_text), None)
        return found if whole is None else whole.fill(found, query)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def _run_sync_queries(self, queries: list[QueryBundle]) -> Votes:  # type: ignore[override]
        """Ask the signals, and the judges about what they found.

        :raises Exception: what the first of the signals raised, if none of them answered.
        """
        [query] = queries
        trace, votes = trace_of(query), Votes()
        # The one whose query is widened waits for what widens it.
        for name in sorted(self._signals, key=lambda one: one == WIDENED and bool(self._widening)):
            self._ask(name, self._signals[name], query, trace, votes)
        if self._dispatch is not None:
            self._ask(DISPATCH, self._dispatch, query, trace, votes)
        answered = [name for name in self._signals if name in votes.scores]
        if not answered:
            raise next(votes.failures[name] for name in self._signals if name in votes.failures)
        if isinstance(query, TracedQuery) and query.expand is not None:
            votes.expansion = query.expand.weight
            self._expand(votes, query, query.expand.find(self._fused(votes).order))
        votes.fused = self._fused(votes)
        for name, judge in self._judges.items():
            with _kept_failure(name, trace, votes):
                votes.scores[name] = dict(judge(votes.fused.order))
        for name in (*self._signals, *self._judges, DISPATCH):
            if (failure := votes.failures.get(name)) is not None:
                trace.warn(
                    f"the {name} signal failed and did not vote ({type(failure).__name__}: "
                    f"{failure}); the ranking is that of: {', '.join(answered)}"
                )
        trace.count("fusion", **{name: len(ids) for name, ids in sorted(votes.scores.items())})
        return votes

    def _reciprocal_rerank_fusion(self, results: Votes) -> list[NodeWithScore]:  # type: ignore[override]
        """Return the best of what was found by weighted reciprocal rank; without text."""
        weights = {**self._weights, EXPANSION: results.expansion}
        # All others together give at most the sum of their weights / (k + 1): the last of the
        # dispatched stands above the best of them.
        dispatched = len(results.scores.get(DISPATCH, ()))
        lifted = (sum(weights.values()) + 1.0) * (self._k + dispatched) / (self._k + 1)
        weights[DISPATCH] = lifted
        # In the order of the signals, whichever answered first.
        rankings = {name: results.scores[name] for name in weights if results.scores.get(name)}
        fused = results.fused
        if fused is None or not rankings.keys() <= self._signals.keys():
            fused = _Fusion.of(rankings, weights, self._k)
        hits: list[NodeWithScore] = []
        for one in fused.best(self.similarity_top_k):
            record: dict[str, Any] = {
                "signals": {
                    name: {"rank": rank, "score": rankings[name][one.id], "weight": weights[name]}
                    for name, rank in one.ranks.items()
                }
            }
            if decided := sorted(self._deciding.intersection(one.ranks)):
                record[DECIDED_BY] = decided
            node = results.nodes.get(one.id)
            hit = light_node(one.id, **record) if node is None else noted(node, **record)
            hits.append(NodeWithScore(node=hit, score=one.score))
        return hits

    def _ask(
        self, name: str, retriever: BaseRetriever, query: QueryBundle, trace: Trace, votes: Votes
    ) -> None:
        """Have a retriever vote."""
        if name == WIDENED and self._widening is not None:
            query = self._widening(query, list(votes.scores.get(WIDENED_BY, ())))
        with _kept_failure(name, trace, votes):
            if isinstance(retriever, SignalRetriever):
                votes.scores[name] = dict(retriever.rank(query))
            else:
                votes.add_nodes(name, retriever.retrieve(query))

    def _expand(self, votes: Votes, query: QueryBundle, found: Hits) -> None:
        """Let what is linked with the best candidates join; the signals score what is new.

        In the ranking of a signal it stands behind all that the signal found, which it may not: the
        rank of a chunk among all others is not looked for.
        """
        votes.scores[EXPANSION] = dict(found)
        for name, signal in self._signals.items():
            if name in votes.scores and isinstance(signal, SignalRetriever):
                new = [id_ for id_, _ in found if id_ not in votes.scores[name]]
                votes.scores[name].update(signal.rank(query, new) if new else ())

    def _fused(self, votes: Votes) -> _Fusion:
        """What the signals have ranked so far."""
        found = {name: votes.scores[name] for name in self._signals if name in votes.scores}
        return _Fusion.of(found, self._weights, self._k)


@contextmanager
def _kept_failure(signal: str, trace: Trace, votes: Votes) -> Iterator[None]:
    """Time a signal; what it raises is kept, and told when all were asked."""
    try:
        with trace.timed(signal):
            yield
    except UsageError:
        raise
    except Exception as exc:  # noqa: BLE001 - any broken signal; kept, never swallowed
        votes.failures[signal] = exc


@cache
def _of_the_base() -> Mapping[str, Any]:
    """What the constructor of the base class sets, for one query and no language model."""
    base = QueryFusionRetriever(
        [],
        llm=MockLLM(),
        mode=FUSION_MODES.RECIPROCAL_RANK,
        num_queries=1,
        use_async=False,
        retriever_weights=[1.0],
    )
    return vars(base)


def _check(
    retrievers: Mapping[str, BaseRetriever],
    judges: Mapping[str, Judge],
    weights: Mapping[str, float] | None,
    widening: Widening | None,
    k: int,
    similarity_top_k: int | None,
) -> None:
    names = ", ".join((*retrievers, *judges)) or "none"
    for reserved in (DISPATCH, EXPANSION):
        if reserved in retrievers or reserved in judges:
            raise ValueError(f"the name {reserved!r} is taken; give the signal another")
    if not retrievers.keys().isdisjoint(judges):
        raise ValueError(f"a signal and a judge have one name; the signals are: {names}")
    if weights is not None and set(weights) != {*retrievers, *judges}:
        raise ValueError(
            f"weights are given for {', '.join(weights) or 'none'}; the signals are: {names}"
        )
    if weights is not None and not all(weight >= 0 for weight in weights.values()):
        raise ValueError(f"the weights are {dict(weights)}; each must be 0 or more")
    if not retrievers or (weights is not None and not any(weights[name] for name in retrievers)):
        raise ValueError(f"no signal has a weight; the signals are: {names}")
    if widening is not None and not {WIDENED, WIDENED_BY} <= set(retrievers):
        raise ValueError(
            f"the widening goes from {WIDENED_BY!r} to {WIDENED!r}; the signals are: {names}"
        )
    for name, value in (("k", k), ("similarity_top_k", similarity_top_k)):
        if value is not None and value < 1:
            raise ValueError(f"{name} is {value}; it must be at least 1")
