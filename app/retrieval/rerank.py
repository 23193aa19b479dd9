"""Owns the rerank: the best passages read together with the query, within a budget of time.

Touches: index (texts of the candidates), model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import NodeWithScore, QueryBundle

from notehop.app.retrieval.fusion import DISPATCH
from notehop.app.retrieval.index_view import IndexView
from notehop.app.retrieval.nodes import below, is_light, noted
from notehop.app.retrieval.postprocessor import VaultPostprocessor
from notehop.app.retrieval.trace import Trace, trace_of, view_for
from notehop.app.retrieval.weights import DECIDED_BY
from notehop.config.errors import ModelError
from notehop.indexing.nodes.chunker import embedded_prefix

STAGE = "rerank"
"""The name of this stage in a query's trace, and of its record in a hit's metadata."""

LOADING = "rerank model"
"""The stage in which the model is loaded, once; it does not count against the budget."""

AT_ONCE = 4
"""Pairs of a pass. The clock is looked at between two passes, so that a query is late by one at
most; more pairs at once are hardly faster on a processor."""


class RerankPostprocessor(VaultPostprocessor):
    """Orders the best hits by a cross-encoder, which reads query and passage together.

    Hits beyond ``candidates`` keep their order below them. What the query names exactly (the
    dispatched notes) stays first, and so do hits that signals decided on (``decided_by``). A hit that
    was scored has ``metadata["rerank"]``: ``score``, and ``rank_before`` and ``score_before`` of
    the order that it came in. If the time is over before all candidates are scored, or the model
    cannot be used, the hits stay as they came and the query's trace holds a warning: half a rerank
    would depend on the machine's mood.
    """

    view: Any = Field(exclude=True, description="A ViewSource: the index.")
    scorer: Any = Field(exclude=True, description="A Scorer: the cross-encoder.")
    candidates: int = Field(default=20, ge=1, description="Hits that are scored.")
    budget_ms: float = Field(default=1500.0, gt=0, description="Time for scoring them.")
    clock: Callable[[], float] = Field(
        default=time.perf_counter, exclude=True, description="Seconds, for the budget."
    )

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise ValueError("a rerank needs the query; hand it in as query_bundle")
        query = query_bundle
        trace = trace_of(query)
        head = nodes[: self.candidates]
        texts = _texts(view_for(query, self.view), head)
        if len(texts) < 2 or not query.query_str.strip():
            return nodes
        try:
            with trace.timed(LOADING):
                self.scorer.load()
            with trace.timed(STAGE):
                scores = self._scored(query.query_str, texts, trace)
        except ModelError as exc:
            trace.warn(f"not reranked, the fused order stands: {exc}")
            return nodes
        return nodes if scores is None else _ordered(nodes, scores)

    def _scored(
        self, query: str, texts: Mapping[str, str], trace: Trace
    ) -> dict[str, float] | None:
        """Return the score of each candidate by id; None, with a warning, if the time ran out."""
        started = self.clock()
        ids = list(texts)
        scores: dict[str, float] = {}
        if self.scorer.take(self.budget_ms / 1000):
            try:
                while len(scores) < len(ids) and self._left(started) > 0:
                    some = ids[len(scores) : len(scores) + AT_ONCE]
                    found = self.scorer.scores(query, [texts[one] for one in some])
                    scores.update(zip(some, found, strict=True))
            finally:
                self.scorer.give()
        trace.count(STAGE, candidates=len(ids), scored=len(scores))
        if len(scores) == len(ids):
            return scores
        trace.warn(
            f"not reranked, the fused order stands: {self.scorer.name} had scored {len(scores)} of "
            f"{len(ids)} passages when the {self.budget_ms:,.0f} ms of rerank.budget_ms were over; "
            "raise that, or lower rerank.candidates"
        )
        return None

    def _left(self, started: float) -> float:
        """Seconds of the budget that are left."""
        return self.budget_ms / 1000 - (self.clock() - started)


def _texts(view: IndexView, hits: Sequence[NodeWithScore]) -> dict[str, str]:
    """Return what is scored of each hit, by id: its text under its title and headings.

    A chunk that this generation of the index lacks has none.
    """
    light = [hit.node.node_id for hit in hits if is_light(hit.node)]
    chunks = view.chunks(light)
    notes = view.notes_at([chunk.path for chunk in chunks.values()])
    found: dict[str, str] = {}
    for hit in hits:
        id_ = hit.node.node_id
        if not is_light(hit.node):
            told = hit.node.metadata
            found[id_] = _framed(
                str(told.get("title", "")),
                tuple(told.get("heading_path") or ()),
                hit.node.get_content(),
            )
        elif id_ in chunks and chunks[id_].path in notes:
            chunk = chunks[id_]
            found[id_] = _framed(notes[chunk.path].title, tuple(chunk.heading_path), chunk.text)
    return found


def _framed(title: str, headings: tuple[str, ...], text: str) -> str:
    return f"{embedded_prefix(title, headings)}\n{text}" if title else text


def _is_decided(hit: NodeWithScore) -> bool:
    """Whether the place of a hit does not depend on its text."""
    told = hit.node.metadata
    return DISPATCH in told.get("signals", {}) or bool(told.get(DECIDED_BY))


def _ordered(nodes: Sequence[NodeWithScore], scores: Mapping[str, float]) -> list[NodeWithScore]:
    """Return the hits by rerank score, ties as they came; those without one below, as they came.

    Decided hits stay first, with a score that no other one exceeds.
    """
    places = range(len(nodes))
    named = [at for at in places if _is_decided(nodes[at])]
    scored = [at for at in places if nodes[at].node.node_id in scores and at not in named]
    scored.sort(key=lambda at: (-scores[nodes[at].node.node_id], at))
    rest = [at for at in places if at not in named and nodes[at].node.node_id not in scores]
    best, lowest = max(scores.values()), min(scores.values())
    found = [_reranked(nodes[at], at, scores, best) for at in named]
    found += [_reranked(nodes[at], at, scores) for at in scored]
    found += [
        NodeWithScore(node=nodes[at].node, score=below(lowest, 1.0 - number / (len(rest) + 1)))
        for number, at in enumerate(rest, start=1)
    ]
    return found


def _reranked(
    hit: NodeWithScore, at: int, scores: Mapping[str, float], shown: float | None = None
) -> NodeWithScore:
    """Return a copy of a hit with its new score; the node may be shared."""
    score = scores.get(hit.node.node_id)
    if score is None:
        return NodeWithScore(node=hit.node, score=shown)
    record = {"score": score, "rank_before": at + 1, "score_before": hit.score}
    return NodeWithScore(
        node=noted(hit.node, **{STAGE: record}), score=score if shown is None else shown
    )
