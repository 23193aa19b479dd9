"""Retrieval: signals, their fusion, recall expansion and connected notes, as LlamaIndex components.

The names below are loaded when they are first asked for: importing LlamaIndex takes a second.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from notehop.app.retrieval.connected_notes import ConnectedNotesPostprocessor
    from notehop.app.retrieval.freshness import FreshnessPostprocessor
    from notehop.app.retrieval.fusion import Fused, WeightedFusionRetriever, fuse
    from notehop.app.retrieval.graph_retriever import (
        PRESETS,
        Expansion,
        GraphEnhancedRetriever,
        preset,
    )
    from notehop.app.retrieval.rerank import CrossEncoderScorer, RerankPostprocessor
    from notehop.app.retrieval.retrievers import (
        AliasWidening,
        LexicalRetriever,
        SemanticRetriever,
        TitleRetriever,
    )
    from notehop.app.retrieval.templates import TemplatePostprocessor
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
    "LexicalRetriever",
    "RerankPostprocessor",
    "SemanticRetriever",
    "TemplatePostprocessor",
    "TitleRetriever",
    "Trace",
    "TracedQuery",
    "WeightedFusionRetriever",
    "fuse",
    "preset",
]

_HOMES = {
    "connected_notes": ("ConnectedNotesPostprocessor",),
    "freshness": ("FreshnessPostprocessor",),
    "fusion": ("Fused", "WeightedFusionRetriever", "fuse"),
    "graph_retriever": ("PRESETS", "Expansion", "GraphEnhancedRetriever", "preset"),
    "rerank": ("CrossEncoderScorer", "RerankPostprocessor"),
    "retrievers": ("AliasWidening", "LexicalRetriever", "SemanticRetriever", "TitleRetriever"),
    "templates": ("TemplatePostprocessor",),
    "trace": ("Trace", "TracedQuery"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
