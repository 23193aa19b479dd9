"""Outlines and chunks of the notes that links lead to: of this run first, else of the catalog.

Touches: index (reads).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from notehop.indexing.graph.fragments import Outline
from notehop.indexing.graph.model import FragmentSpan, ResolvedLink
from notehop.indexing.pipeline.records import ChunkLines, chunk_of_span
from notehop.indexing.stores.catalog_read import CatalogReads
from notehop.indexing.stores.model import ChunkId, NoteStatus


class Targets:
    """What is known of link targets during a run; each note is asked of the catalog once."""

    def __init__(self, catalog: CatalogReads) -> None:
        self._catalog = catalog
        self._outlines: dict[str, Outline | None] = {}
        self._chunks: dict[str, ChunkLines] = {}

    def put(self, path: str, outline: Outline | None, chunks: ChunkLines) -> None:
        """Say what a note holds from now on; None and no chunks for one that is not indexed."""
        self._outlines[path] = outline
        self._chunks[path] = chunks

    def outline(self, path: str) -> Outline | None:
        """The outline of an indexed note; None for anything else."""
        if path not in self._outlines:
            note = self._catalog.note(path)
            indexed = note is not None and note.status is NoteStatus.INDEXED
            self._outlines[path] = (
                Outline(note.outline, note.blocks, note.line_count) if note and indexed else None
            )
        return self._outlines[path]

    def load_chunks(self, paths: Iterable[str]) -> None:
        """Read the chunks of these notes in one go, so that :meth:`chunk_of` need not ask."""
        missing = sorted(set(paths) - self._chunks.keys())
        found: Mapping[str, ChunkLines] = self._catalog.chunk_lines(missing)
        self._chunks.update((path, found.get(path, ())) for path in missing)

    def chunk_of(self, resolved: ResolvedLink) -> ChunkId | None:
        """The chunk a link shows; None unless it leads to an indexed note."""
        path = resolved.resolution.path
        if path is None:
            return None
        if path not in self._chunks:
            self.load_chunks([path])
        span: FragmentSpan | None = resolved.span
        return chunk_of_span(self._chunks[path], span)
