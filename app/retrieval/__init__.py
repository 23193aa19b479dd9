"""Retrieval: signals, their fusion, recall expansion and connected notes, as LlamaIndex components.

The names below are loaded when they are first asked for: importing LlamaIndex takes a second.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from notehop.app.retrieval.connected import ConnectedNotesPostprocessor
    from notehop.app.retrieval.cross_encoder import CrossEncoderScorer
    from notehop.app.retrieval.expansion import PRESETS, Expansion, preset
    from notehop.app.retrieval.freshness import FreshnessPostprocessor
    from notehop.app.retrieval.fusion import WeightedFusionRetriever
    from notehop.app.retrieval.graph_retriever import GraphEnhancedRetriever
    from notehop.app.retrieval.index_view import IndexView
    from notehop.app.retrieval.reciprocal_rank import Fused, fuse
    from notehop.app.retrieval.rerank import RerankPostprocessor
    from notehop.app.retrieval.signals.lexical import LexicalRetriever
    from notehop.app.retrieval.signals.semantic import SemanticRetriever
    from notehop.app.retrieval.signals.title import TitleRetriever
    from notehop.app.retrieval.trace import Trace, TracedQuery
    from notehop.app.retrieval.widening import AliasWidening

__all__ = [
    "PRESETS",
    "AliasWidening",
    "ConnectedNotesPostprocessor",
    "CrossEncoderScorer",
    "Expansion",
    "FreshnessPostprocessor",
    "Fused",
    "GraphEnhancedRetriever",
    "IndexView",
    "LexicalRetriever",
    "RerankPostprocessor",
    "SemanticRetriever",
    "TitleRetriever",
    "Trace",
    "TracedQuery",
    "WeightedFusionRetriever",
    "fuse",
    "preset",
]

_HOMES = {
    "PRESETS": "notehop.app.retrieval.expansion",
    "AliasWidening": "notehop.app.retrieval.widening",
    "ConnectedNotesPostprocessor": "notehop.app.retrieval.connected",
    "CrossEncoderScorer": "notehop.app.retrieval.cross_encoder",
    "Expansion": "notehop.app.retrieval.expansion",
    "FreshnessPostprocessor": "notehop.app.retrieval.freshness",
    "Fused": "notehop.app.retrieval.reciprocal_rank",
    "WeightedFusionRetriever": "notehop.app.retrieval.fusion",
    "GraphEnhancedRetriever": "notehop.app.retrieval.graph_retriever",
    "IndexView": "notehop.app.retrieval.index_view",
    "LexicalRetriever": "notehop.app.retrieval.signals.lexical",
    "RerankPostprocessor": "notehop.app.retrieval.rerank",
    "SemanticRetriever": "notehop.app.retrieval.signals.semantic",
    "TitleRetriever": "notehop.app.retrieval.signals.title",
    "Trace": "notehop.app.retrieval.trace",
    "TracedQuery": "notehop.app.retrieval.trace",
    "fuse": "notehop.app.retrieval.reciprocal_rank",
    "preset": "notehop.app.retrieval.expansion",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
