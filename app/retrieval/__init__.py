"""Retrieval: signals, their fusion, recall expansion and connected notes, as LlamaIndex components.

The names below are loaded when they are first asked for: importing LlamaIndex takes a second.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from notehop.app.retrieval.connected_notes import ConnectedNotesPostprocessor
    from notehop.app.retrieval.expansion import PRESETS, Expansion, preset
    from notehop.app.retrieval.freshness import FreshnessPostprocessor
    from notehop.app.retrieval.fusion import Fused, WeightedFusionRetriever, fuse
    from notehop.app.retrieval.graph_retriever import GraphEnhancedRetriever
    from notehop.app.retrieval.index_view import IndexView
    from notehop.app.retrieval.rerank import CrossEncoderScorer, RerankPostprocessor
    from notehop.app.retrieval.retrievers import (
        AliasWidening,
        LexicalRetriever,
        SemanticRetriever,
        TitleRetriever,
    )
    from notehop.app.retrieval.trace import Trace, TracedQuery

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
    "AliasWidening": "notehop.app.retrieval.retrievers",
    "ConnectedNotesPostprocessor": "notehop.app.retrieval.connected_notes",
    "CrossEncoderScorer": "notehop.app.retrieval.rerank",
    "Expansion": "notehop.app.retrieval.expansion",
    "FreshnessPostprocessor": "notehop.app.retrieval.freshness",
    "Fused": "notehop.app.retrieval.fusion",
    "WeightedFusionRetriever": "notehop.app.retrieval.fusion",
    "GraphEnhancedRetriever": "notehop.app.retrieval.graph_retriever",
    "IndexView": "notehop.app.retrieval.index_view",
    "LexicalRetriever": "notehop.app.retrieval.retrievers",
    "RerankPostprocessor": "notehop.app.retrieval.rerank",
    "SemanticRetriever": "notehop.app.retrieval.retrievers",
    "TitleRetriever": "notehop.app.retrieval.retrievers",
    "Trace": "notehop.app.retrieval.trace",
    "TracedQuery": "notehop.app.retrieval.trace",
    "fuse": "notehop.app.retrieval.fusion",
    "preset": "notehop.app.retrieval.expansion",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
