"""Retrieval: signals, their fusion, recall expansion and connected notes, as LlamaIndex components.

The names below are loaded when they are first asked for: importing LlamaIndex takes a second.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.retrieval.connected import ConnectedNotesPostprocessor
    from app.retrieval.cross_encoder import CrossEncoderScorer
    from app.retrieval.expansion import PRESETS, Expansion, preset
    from app.retrieval.fusion import FusionRetriever
    from app.retrieval.graph_retriever import GraphEnhancedRetriever
    from app.retrieval.index_view import IndexView
    from app.retrieval.reciprocal_rank import Fused, fuse
    from app.retrieval.rerank import RerankPostprocessor
    from app.retrieval.signals.lexical import LexicalRetriever
    from app.retrieval.signals.semantic import SemanticRetriever
    from app.retrieval.signals.title import TitleRetriever
    from app.retrieval.trace import Trace, TracedQuery
    from app.retrieval.widening import AliasWidening

__all__ = [
    "PRESETS",
    "AliasWidening",
    "ConnectedNotesPostprocessor",
    "CrossEncoderScorer",
    "Expansion",
    "Fused",
    "FusionRetriever",
    "GraphEnhancedRetriever",
    "IndexView",
    "LexicalRetriever",
    "RerankPostprocessor",
    "SemanticRetriever",
    "TitleRetriever",
    "Trace",
    "TracedQuery",
    "fuse",
    "preset",
]

_HOMES = {
    "PRESETS": "app.retrieval.expansion",
    "AliasWidening": "app.retrieval.widening",
    "ConnectedNotesPostprocessor": "app.retrieval.connected",
    "CrossEncoderScorer": "app.retrieval.cross_encoder",
    "Expansion": "app.retrieval.expansion",
    "Fused": "app.retrieval.reciprocal_rank",
    "FusionRetriever": "app.retrieval.fusion",
    "GraphEnhancedRetriever": "app.retrieval.graph_retriever",
    "IndexView": "app.retrieval.index_view",
    "LexicalRetriever": "app.retrieval.signals.lexical",
    "RerankPostprocessor": "app.retrieval.rerank",
    "SemanticRetriever": "app.retrieval.signals.semantic",
    "TitleRetriever": "app.retrieval.signals.title",
    "Trace": "app.retrieval.trace",
    "TracedQuery": "app.retrieval.trace",
    "fuse": "app.retrieval.reciprocal_rank",
    "preset": "app.retrieval.expansion",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
