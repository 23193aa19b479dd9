"""Wires the retrieval of one query to one generation of the index.

Touches: nothing by itself; what it makes touches index and model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore

from app.models import ConnectedOptions
from app.retrieval.connected import ConnectedNotesPostprocessor
from app.retrieval.expansion import preset
from app.retrieval.fusion import FusionRetriever
from app.retrieval.graph_retriever import GraphEnhancedRetriever
from app.retrieval.nodes import noted
from app.retrieval.signals.lexical import LexicalRetriever
from app.retrieval.signals.semantic import SemanticRetriever
from app.retrieval.signals.title import TitleRetriever
from app.retrieval.trace import TracedQuery
from app.retrieval.widening import AliasWidening
from config import Settings
from indexing.stores.reader import Snapshot
from indexing.tokens import Tokenizer

SPARE = 4
"""Hits for each place of a reply: chunks of notes that are connected already are passed over. Each
hit is a node, and a hundred of them take longer than the ranking."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one query asks of retrieval; None means the setting in force.

    ``fill`` gives places that no connected note takes to further sources.
    """

    top_k: int | None = None
    connected: ConnectedOptions = field(default_factory=ConnectedOptions)
    results: Literal["chunks", "notes"] = "chunks"
    fill: bool = True


@dataclass(frozen=True, slots=True)
class Parts:
    """What outlives a generation: settings, and the two readers of queries."""

    settings: Settings
    embed_model: BaseEmbedding
    tokenizer: Tokenizer


def retrieve(
    query: TracedQuery, view: Snapshot, parts: Parts, wanted: Wanted
) -> list[NodeWithScore]:
    """Return the sources of a query, best first, then its connected notes."""
    for warning in view.warnings:
        query.trace.warn(warning)
    hits = ranking(view, parts, _depth(parts.settings, wanted)).retrieve(query)
    if wanted.results == "notes":
        hits = _best_of_each_note(hits, view)
    found = context(view, parts, wanted).postprocess_nodes(hits, query_bundle=query)
    return [_with_aliases(hit, view) for hit in found]


def _depth(settings: Settings, wanted: Wanted) -> int:
    """How many fused hits a reply can need: those of notes are merged, those of chunks skip few."""
    candidates = settings.retrieval.candidates
    if wanted.results == "notes":
        return candidates
    top_k = wanted.top_k if wanted.top_k is not None else settings.retrieval.top_k
    return min(candidates, SPARE * max(top_k, settings.connected.context_chunks))


def ranking(view: Snapshot, parts: Parts, depth: int) -> GraphEnhancedRetriever:
    """The fused ranking of the signals, widened by the graph as the settings say.

    :param depth: how many hits are returned; the signals rank as many as the settings say.
    """
    settings = parts.settings.retrieval
    signals = {
        "semantic": SemanticRetriever(
            view,
            parts.embed_model,
            similarity_top_k=settings.candidates,
            with_text=False,
        ),
        "lexical": LexicalRetriever(
            view,
            parts.tokenizer,
            similarity_top_k=settings.candidates,
            with_text=False,
        ),
    }
    fusion = FusionRetriever(
        signals,
        weights=settings.weights.model_dump(),
        k=settings.rrf_k,
        similarity_top_k=depth,
        dispatch=TitleRetriever(view, with_text=False),
        widening=AliasWidening(view) if settings.alias_expansion else None,
    )
    return GraphEnhancedRetriever(
        fusion, view, expansion=preset(settings.expansion), with_text=False
    )


def context(view: Snapshot, parts: Parts, wanted: Wanted) -> ConnectedNotesPostprocessor:
    """What settles the sources and adds their connected notes."""
    settings = parts.settings.connected
    asked = wanted.connected
    top_k = wanted.top_k if wanted.top_k is not None else parts.settings.retrieval.top_k
    return ConnectedNotesPostprocessor(
        view=view,
        embed_model=parts.embed_model,
        top_k=top_k,
        context_chunks=settings.context_chunks,
        max_connected=asked.max if asked.max is not None else settings.max,
        order=asked.order or settings.order,
        direction=asked.direction or settings.direction,
        scope=settings.scope,
        gate=settings.gate,
        rrf_k=settings.rrf_k,
        fill=wanted.fill,
    )


def _with_aliases(hit: NodeWithScore, view: Snapshot) -> NodeWithScore:
    """A hit that tells the other names of its note: a question may use one of them."""
    note = view.note(str(hit.node.metadata["path"]))
    if note is None or not note.aliases:
        return hit
    return NodeWithScore(node=noted(hit.node, aliases=list(note.aliases)), score=hit.score)


def _best_of_each_note(hits: list[NodeWithScore], view: Snapshot) -> list[NodeWithScore]:
    """The first hit of each note; a hit of no note that is there is dropped."""
    best: dict[str, NodeWithScore] = {}
    for hit in hits:
        path = view.path_of(hit.node.node_id)
        if path is not None:
            best.setdefault(path, hit)
    return list(best.values())
