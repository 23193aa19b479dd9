"""Wires the rerank: the cross-encoder that the settings name, and the stage that asks it.

Touches: nothing by itself; what it makes touches index and model.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from llama_index.core.schema import NodeWithScore

from notehop.app.retrieval.cross_encoder import CrossEncoderScorer, Scorer
from notehop.app.retrieval.index_view import IndexView
from notehop.app.retrieval.rerank import RerankPostprocessor
from notehop.app.retrieval.trace import TracedQuery
from notehop.config import Settings


def scorer_of(settings: Settings) -> Scorer | None:
    """The cross-encoder that the settings name, not loaded yet; None if they name none."""
    return CrossEncoderScorer(settings.rerank) if settings.rerank.model else None


def reranked(
    hits: Iterator[NodeWithScore],
    query: TracedQuery,
    view: IndexView,
    scorer: Scorer | None,
    settings: Settings,
    depth: int,
) -> Iterator[NodeWithScore]:
    """The hits in the order of the cross-encoder; as they are without one, or if it is too slow.

    :param depth: how many are ranked at most, where there is one.
    """
    if scorer is None:
        return hits
    wanted = settings.rerank
    stage = RerankPostprocessor(
        view=view, scorer=scorer, candidates=wanted.candidates, budget_ms=wanted.budget_ms
    )
    return iter(stage.postprocess_nodes(list(islice(hits, depth)), query_bundle=query))
