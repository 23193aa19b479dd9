"""A second look: what was found is asked with again, for the next hop where no link leads."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle

from notehop.app.retrieval.fusion import fuse
from notehop.app.retrieval.linked_notes import words_of
from notehop.app.retrieval.nodes import fill, noted
from notehop.app.retrieval.trace import TracedQuery, ViewSource, trace_of, traced, view_for
from notehop.config.errors import UsageError

STAGE = "second_look"
"""The name of this stage in a query's trace, and of what it says in a hit's metadata."""

SEEDS = 2
"""Hits that are asked with. The first alone brings nearly as much, a third no more
(docs/evaluation.md)."""

RRF_K = 10
"""Rank offset of the fusion over the seeds: what both lead to is wanted, and there are tens."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_])|\n+")
_BEGINNING = 400
"""Characters of a seed that are asked with, at most: its first two sentences say what it is about."""

_NAMED = 5
"""Words that a hit shares with its seed and that are told."""


def second_query(query: str, title: str, text: str) -> str:
    """The question with the title of a hit and its first two sentences."""
    beginning = " ".join(_SENTENCE_END.split(text.strip())[:2])
    return f"{query} {title}. {beginning[:_BEGINNING]}".strip()


class SecondLookRetriever(BaseRetriever):
    """Finds what a query names only by way of what is found first.

    The first hits of ``retriever`` are seeds: ``again`` is asked the query with each seed's title
    and beginning, and what it finds is fused by reciprocal rank over the seeds. The best of that
    stand behind the first ``keep`` hits, whose order and scores are untouched, and before the
    others; each has ``metadata["second_look"]``: ``path`` and ``title`` of the seed that led to it
    and the ``words`` that it shares with that seed and not with the query. Both may be any
    LlamaIndex retrievers. Where the second search fails, a warning of the query says so, and the
    hits are those of the first.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        again: BaseRetriever,
        *,
        view: ViewSource | None = None,
        keep: int = 5,
        most: int = 4,
        seeds: int = SEEDS,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Wire the two searches.

        :param view: the index, for retrievers whose hits come without text; None where all have it.
        :param keep: hits of the first search that nothing is put before.
        :param most: hits of the second search at most.
        :param seeds: hits of the first search that are asked with.
        :raises ValueError: if a number is below 1.
        """
        for name, number in (("keep", keep), ("most", most), ("seeds", seeds)):
            if number < 1:
                raise ValueError(f"{name} is {number}; it must be at least 1")
        super().__init__(callback_manager=callback_manager)
        self._retriever = retriever
        self._again = again
        self._view = view
        self._keep, self._most, self._seeds = keep, most, seeds

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = traced(query_bundle, kept=False)
        found = self._retriever.retrieve(query)
        if not found:
            return found
        trace = trace_of(query)
        with trace.timed(STAGE):
            try:
                new = self._look(query, found)
            except UsageError:
                raise
            except Exception as exc:  # noqa: BLE001 - any broken retriever; said, never swallowed
                trace.warn(f"the second look failed ({type(exc).__name__}: {exc})")
                return found
        trace.count(STAGE, hits=len(new))
        there = {hit.node.node_id for hit in new}
        rest = [hit for hit in found[self._keep :] if hit.node.node_id not in there]
        return [*found[: self._keep], *new, *rest]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def _look(self, query: TracedQuery, found: Sequence[NodeWithScore]) -> list[NodeWithScore]:
        """What the second search adds, best first, each hit with the seed that led to it."""
        first = found[: self._keep]
        seeds = self._with_text(query, first[: self._seeds])
        rankings: dict[str, list[str]] = {}
        hits: dict[str, NodeWithScore] = {hit.node.node_id: hit for hit in found}
        known = {hit.node.node_id for hit in first}
        for seed in seeds:
            title = str(seed.node.metadata.get("title", ""))
            text = second_query(query.query_str, title, seed.node.get_content())
            ranked = self._again.retrieve(TracedQuery(text, trace=query.trace, view=query.view))
            rankings[seed.node.node_id] = [hit.node.node_id for hit in ranked]
            for hit in ranked:
                hits.setdefault(hit.node.node_id, hit)
        fused = [one for one in fuse(rankings, k=RRF_K) if one.id not in known][: self._most]
        led_by = {seed.node.node_id: seed.node for seed in seeds}
        # A score for their place: below the hits that stand before them, above the others.
        score = first[-1].score or 0.0
        added = self._with_text(query, [hits[one.id] for one in fused])
        ranks = {one.id: one.ranks for one in fused}
        return [
            NodeWithScore(
                node=noted(
                    hits[hit.node.node_id].node,
                    second_look=_told(query.query_str, led_by, ranks[hit.node.node_id], hit.node),
                ),
                score=score,
            )
            for hit in added
        ]

    def _with_text(
        self, query: TracedQuery, hits: Sequence[NodeWithScore]
    ) -> Sequence[NodeWithScore]:
        return hits if self._view is None else fill(hits, view_for(query, self._view))


def _told(query: str, led_by: dict[str, BaseNode], ranks: Any, node: BaseNode) -> dict[str, object]:
    """Which seed led to a hit, the one under which it ranked best, and by which words."""
    seed = led_by[min(ranks, key=lambda one: (ranks[one], one))]
    shared = (words_of(seed.get_content()) & words_of(node.get_content())) - words_of(query)
    long = sorted(shared, key=lambda word: (-len(word), word))[:_NAMED]
    metadata = seed.metadata
    path = str(metadata.get("path") or metadata.get("file_path") or "")
    return {"path": path, "title": str(metadata.get("title", "")), "words": long}
