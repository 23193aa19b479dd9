"""Retrieval: signals, their fusion, recall expansion and connected notes, as LlamaIndex components.

The names below are loaded when they are first asked for: importing LlamaIndex takes a second.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "PRESETS": "graph_retriever",
    "ConnectedNotesPostprocessor": "connected_notes",
    "CrossEncoderScorer": "rerank",
    "Expansion": "graph_retriever",
    "FreshnessPostprocessor": "freshness",
    "Fused": "retrievers",
    "GraphEnhancedRetriever": "graph_retriever",
    "LexicalRetriever": "retrievers",
    "RerankPostprocessor": "rerank",
    "SemanticRetriever": "retrievers",
    "TemplatePostprocessor": "relevance",
    "TitleRetriever": "retrievers",
    "Trace": "components",
    "TracedQuery": "components",
    "WeightedFusionRetriever": "retrievers",
    "fuse": "retrievers",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
