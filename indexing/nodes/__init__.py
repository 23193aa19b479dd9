"""From a parsed note to the chunks that are embedded, as values and as LlamaIndex nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from notehop.indexing.nodes.chunks import CHUNKER, ChunkDraft, chunk_id, embedded_text
from notehop.indexing.nodes.split import split_note

if TYPE_CHECKING:
    from notehop.indexing.nodes.parser import NoteDocument, SectionNodeParser

__all__ = [
    "CHUNKER",
    "ChunkDraft",
    "NoteDocument",
    "SectionNodeParser",
    "chunk_id",
    "embedded_text",
    "split_note",
]


def __getattr__(name: str) -> Any:
    """Load the LlamaIndex components on first use: importing LlamaIndex takes a second."""
    if name in ("NoteDocument", "SectionNodeParser"):
        from notehop.indexing.nodes import parser

        return getattr(parser, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
