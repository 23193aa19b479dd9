"""Fusion of signals by weighted reciprocal rank: several retrievers vote, one ranking comes out."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import islice
from typing import Any, overload

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from notehop.app.retrieval.candidate_signals import CandidateSignal, PreparedSignal
from notehop.app.retrieval.intents import DECIDED_BY
from notehop.app.retrieval.nodes import Hits, light_node, noted
from notehop.app.retrieval.retrievers import AliasWidening, SignalRetriever
from notehop.app.retrieval.trace import Trace, TracedQuery, trace_of, traced
from notehop.config.errors import UsageError
from notehop.indexing.beside import Beside
from notehop.indexing.stores.model import ChunkId


@dataclass(frozen=True, slots=True)
class Fused:
    """An id with its fused score; ``ranks`` maps signal name -> rank from 1 where it was ranked."""

    id: ChunkId
    score: float
    ranks: Mapping[str, int]


def fuse(
    rankings: Mapping[str, Sequence[ChunkId]],
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
    return list(islice(fusing(rankings, weights, k), limit))


def fusing(
    rankings: Mapping[str, Sequence[ChunkId]],
    weights: Mapping[str, float] | None = None,
    k: int = 60,
) -> Iterator[Fused]:
    """Fuse at once, as :func:`fuse`, and make each of the results when it is taken: of hundreds a
    few are shown."""
    if k < 1:
        raise ValueError(f"k is {k}; the rank offset must be at least 1")
    votes: list[dict[ChunkId, float]] = []
    ranks: dict[str, dict[ChunkId, int]] = {}
    for signal, ids in rankings.items():
        weight = _weight(signal, weights)
        ranked = dict(zip(ids, range(1, len(ids) + 1), strict=True))
        if len(ranked) != len(ids):
            raise ValueError(f"the ranking of {signal!r} repeats an id; rankings hold distinct ids")
        if weight == 0:
            continue
        ranks[signal] = ranked
        votes.append({chunk_id: weight / (k + rank) for chunk_id, rank in ranked.items()})
    scores = _sums(votes)
    # By id, then by score: the second sort keeps the order of what ties.
    order = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
    return (
        Fused(
            chunk_id,
            scores[chunk_id],
            {signal: ranked[chunk_id] for signal, ranked in ranks.items() if chunk_id in ranked},
        )
        for chunk_id in order
    )


def _sums(votes: Sequence[Mapping[ChunkId, float]]) -> dict[ChunkId, float]:
    """Add up the votes exactly: equal ones must tie, whichever signal they come from."""
    scores: dict[ChunkId, float] = {}
    for vote in votes[:2]:
        for chunk_id, share in vote.items():
            # Two are exact as they are.
            scores[chunk_id] = scores[chunk_id] + share if chunk_id in scores else share
    for chunk_id in {one for vote in votes[2:] for one in vote}:
        scores[chunk_id] = math.fsum(vote[chunk_id] for vote in votes if chunk_id in vote)
    return scores


def _weight(signal: str, weights: Mapping[str, float] | None) -> float:
    if weights is None:
        return 1.0
    if signal not in weights:
        named = ", ".join(sorted(weights)) or "none"
        raise ValueError(f"no weight for the signal {signal!r}; weights are given for: {named}")
    weight = weights[signal]
    if not weight >= 0:
        raise ValueError(f"the weight of {signal!r} is {weight}; it must be 0 or more")
    return weight


@dataclass(slots=True)
class Votes:
    """What the signals said: rankings and scores, and the nodes of retrievers not ours.

    ``expansion`` is the weight of the ranking of notes that are linked with the best ones.
    """

    rankings: dict[str, list[ChunkId]] = field(default_factory=dict)
    scores: dict[str, dict[ChunkId, float]] = field(default_factory=dict)
    nodes: dict[ChunkId, BaseNode] = field(default_factory=dict)
    failures: dict[str, Exception] = field(default_factory=dict)
    expansion: float = 0.0

    def add(self, signal: str, found: Hits) -> None:
        """Add what a signal of ours found."""
        self.scores[signal] = dict(found)
        self.rankings[signal] = list(self.scores[signal])

    def add_nodes(self, signal: str, found: Sequence[NodeWithScore]) -> None:
        """Add what another retriever found, in whatever order; hits without a score match nothing
        and are left out."""
        scores: dict[ChunkId, float] = {}
        for hit in found:
            if hit.score is not None and hit.score == hit.score:
                scores.setdefault(hit.node.node_id, float(hit.score))
                self.nodes.setdefault(hit.node.node_id, hit.node)
        self.rankings[signal] = sorted(scores, key=lambda id_: (-scores[id_], id_))
        self.scores[signal] = scores

    def append(self, signal: str, found: Hits) -> None:
        """Add chunks that a signal was asked about, behind those that it found."""
        self.scores[signal].update(found)
        self.rankings[signal] += [id_ for id_, _ in found]


class Candidates(Sequence[ChunkId]):
    """What was found, fused when a judge first looks at it: not every judge does."""

    def __init__(self, fused: Callable[[], list[ChunkId]]) -> None:
        self._fused = fused

    @cached_property
    def _ids(self) -> list[ChunkId]:
        return self._fused()

    @overload
    def __getitem__(self, at: int) -> ChunkId: ...

    @overload
    def __getitem__(self, at: slice) -> list[ChunkId]: ...

    def __getitem__(self, at: int | slice) -> ChunkId | list[ChunkId]:
        return self._ids[at]

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[ChunkId]:
        return iter(self._ids)


def hit_of(
    fused: Fused, votes: Votes, weights: Mapping[str, float], deciding: Collection[str] = ()
) -> NodeWithScore:
    """A fused hit, without text, with what each signal said of it."""
    signals = {
        name: {"rank": rank, "score": votes.scores[name][fused.id], "weight": weights[name]}
        for name, rank in fused.ranks.items()
    }
    record: dict[str, Any] = {"signals": signals}
    if decided := sorted(name for name in signals if name in deciding):
        record[DECIDED_BY] = decided
    node = votes.nodes.get(fused.id)
    with_record = light_node(fused.id, **record) if node is None else noted(node, **record)
    return NodeWithScore(node=with_record, score=fused.score)


EXPANSION = "expansion"
"""The name under which the vote of notes that are linked with the best ones stands there."""

DISPATCH = "title"
"""The name under which the dispatched notes stand in a hit's record."""


class WeightedFusionRetriever(QueryFusionRetriever):
    """Fuses retrievers by weighted reciprocal rank (see :func:`fuse`).

    Differs from its base class in that weights count, twins in two notes stay two hits, nodes of
    the retrievers are never changed, no language model is asked or resolved, and a retriever that
    fails does not take the others with it: they vote, and the query's trace holds a warning. Each
    hit's ``metadata["signals"]`` maps signal name -> ``{"rank", "score", "weight"}``. Signals of
    notehop are asked for their ranking only; nodes are made, and filled if any of them is to have
    text, for what the fusion returns.

    ``judges`` come second: they are shown what the retrievers found, fused, and vote with them.
    """

    def __init__(
        self,
        retrievers: Mapping[str, BaseRetriever],
        *,
        weights: Mapping[str, float] | None = None,
        judges: Mapping[str, CandidateSignal] | None = None,
        k: int = 60,
        similarity_top_k: int | None = 100,
        dispatch: BaseRetriever | None = None,
        deciding: Collection[str] = (),
        widening: AliasWidening | None = None,
        beside: Beside | None = None,
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
        :param widening: adds to the query of one signal what another found; None leaves it.
        :param beside: threads in which signals are asked while one computes that does it outside
            the interpreter; all are over one fixed generation then. None asks one after the other.
        :raises ValueError: if a number is out of range, no signal has a weight, or a weight or the
            widening names a signal that is not there.
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
        self._beside = beside or Beside(0)
        # The constructor of the base class looks for LangChain, which takes longer than a signal:
        # what it sets is taken over from one that was made before.
        vars(self).update(_of_the_base())
        BaseRetriever.__init__(self, callback_manager=callback_manager)
        self._retrievers = list(self._signals.values())
        total = sum(self._weights[name] for name in self._signals)
        self._retriever_weights = [self._weights[name] / total for name in self._signals]
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
        trace = trace_of(query)
        expand = query.expand if isinstance(query, TracedQuery) else None
        votes = Votes(expansion=0.0 if expand is None else expand.weight)
        first, last = self._waves()
        outside = {name: one for name, one in first.items() if _is_outside(one)}
        others = {name: one for name, one in first.items() if name not in outside}

        def ask_others() -> None:
            self._ask(others, query, trace, votes)
            self._prepare(trace, votes)

        with self._beside.begun(ask_others) as rest:
            self._ask(outside, query, trace, votes)
            rest()
        self._ask(last, query, trace, votes)
        answered = [name for name in self._signals if name in votes.rankings]
        if not answered:
            raise next(iter(self._failures(votes).values()))
        if expand is not None:
            self._expand(votes, query, expand.find(self._candidates(votes)))
        self._judge(votes, query, trace)
        for name, failure in self._failures(votes).items():
            trace.warn(
                f"the {name} signal failed and did not vote ({type(failure).__name__}: {failure}); "
                f"the ranking is that of: {', '.join(answered)}"
            )
        trace.count("fusion", **{name: len(ids) for name, ids in sorted(votes.rankings.items())})
        return votes

    def _reciprocal_rerank_fusion(self, results: Votes) -> list[NodeWithScore]:  # type: ignore[override]
        """Return the best of what was found by weighted reciprocal rank; without text."""
        own = {**self._weights, EXPANSION: results.expansion}
        weights = own | {DISPATCH: self._dispatch_weight(results, sum(own.values()))}
        # In the order of the signals, whichever answered first.
        rankings = {name: results.rankings[name] for name in weights if name in results.rankings}
        fused = islice(fusing(rankings, weights, self._k), self.similarity_top_k)
        return [hit_of(one, results, weights, self._deciding) for one in fused]

    def _ask(
        self,
        retrievers: Mapping[str, BaseRetriever],
        query_bundle: QueryBundle,
        trace: Trace,
        votes: Votes,
    ) -> None:
        """Have retrievers vote, one after the other."""
        for name, retriever in retrievers.items():
            query = self._query_for(name, query_bundle, votes)
            try:
                with trace.timed(name):
                    if isinstance(retriever, SignalRetriever):
                        votes.add(name, retriever.rank(query))
                    else:
                        votes.add_nodes(name, retriever.retrieve(query))
            except UsageError:
                raise
            except Exception as exc:  # noqa: BLE001 - any broken signal; kept, never swallowed
                votes.failures[name] = exc

    def _prepare(self, trace: Trace, votes: Votes) -> None:
        """Have the judges look up what they will need, by what was found until now."""
        candidates = Candidates(lambda: self._candidates(votes))
        for name, judge in self._judges.items():
            if isinstance(judge, PreparedSignal):
                try:
                    with trace.timed(name):
                        judge.prepare(candidates)
                except Exception as exc:  # noqa: BLE001 - as any signal; kept, never swallowed
                    votes.failures[name] = exc

    def _waves(self) -> tuple[dict[str, BaseRetriever], dict[str, BaseRetriever]]:
        """Return the retrievers in the order they must run: a widened one after its source."""
        last = {} if self._widening is None else {self._widening.target}
        first = {name: r for name, r in self._signals.items() if name not in last}
        if self._dispatch is not None:
            first[DISPATCH] = self._dispatch
        return first, {name: r for name, r in self._signals.items() if name in last}

    def _query_for(self, signal: str, query: QueryBundle, votes: Votes) -> QueryBundle:
        widening = self._widening
        if widening is None or signal != widening.target:
            return query
        return widening.widened(query, votes.rankings.get(widening.source, ()))

    def _failures(self, votes: Votes) -> dict[str, Exception]:
        """What failed, in the order of the signals, whichever failed first."""
        names = (*self._signals, *self._judges, DISPATCH)
        return {name: votes.failures[name] for name in names if name in votes.failures}

    def _judge(self, votes: Votes, query: QueryBundle, trace: Trace) -> None:
        """Let the judges vote on what the signals found."""
        if not self._judges:
            return
        candidates = Candidates(lambda: self._candidates(votes))
        for name, judge in self._judges.items():
            if name in votes.failures:
                continue
            try:
                with trace.timed(name):
                    votes.add(name, judge.rank(query, candidates))
            except Exception as exc:  # noqa: BLE001 - as any signal; kept, never swallowed
                votes.failures[name] = exc

    def _expand(self, votes: Votes, query: QueryBundle, found: Hits) -> None:
        """Let what is linked with the best candidates join; the signals score what is new.

        In the ranking of a signal it stands behind all that the signal found, which it may not: the
        rank of a chunk among all others is not looked for.
        """
        votes.add(EXPANSION, found)
        for name, signal in self._signals.items():
            if name in votes.rankings and isinstance(signal, SignalRetriever):
                new = [id_ for id_, _ in found if id_ not in votes.scores[name]]
                votes.append(name, signal.rank(query, new) if new else [])

    def _candidates(self, votes: Votes) -> list[ChunkId]:
        """What the signals have ranked so far, fused, best first."""
        found = {name: votes.rankings[name] for name in self._signals if name in votes.rankings}
        return [one.id for one in fusing(found, self._weights, self._k)]

    def _dispatch_weight(self, votes: Votes, others: float) -> float:
        """Return a weight that lifts the last of the dispatched above the best of the others.

        All others together give at most the sum of their weights / (k + 1).
        """
        dispatched = len(votes.rankings.get(DISPATCH, ()))
        return (others + 1.0) * (self._k + dispatched) / (self._k + 1)


def _is_outside(retriever: BaseRetriever) -> bool:
    return isinstance(retriever, SignalRetriever) and retriever.outside


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
    judges: Mapping[str, CandidateSignal],
    weights: Mapping[str, float] | None,
    widening: AliasWidening | None,
    k: int,
    similarity_top_k: int | None,
) -> None:
    names = ", ".join((*retrievers, *judges)) or "none"
    if DISPATCH in retrievers or DISPATCH in judges:
        raise ValueError(f"the name {DISPATCH!r} is that of the dispatch; give the signal another")
    if EXPANSION in retrievers or EXPANSION in judges:
        raise ValueError(f"the name {EXPANSION!r} is that of expansion; give the signal another")
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
    if widening is not None and not {widening.source, widening.target} <= set(retrievers):
        raise ValueError(
            f"the widening goes from {widening.source!r} to {widening.target!r}; "
            f"the signals are: {names}"
        )
    for name, value in (("k", k), ("similarity_top_k", similarity_top_k)):
        if value is not None and value < 1:
            raise ValueError(f"{name} is {value}; it must be at least 1")
