"""Keeps what is not in the vault any more out of what any retriever found.

Touches: vault-read, index.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from notehop.app.retrieval.current import CurrentFiles
from notehop.app.retrieval.current_view import CurrentView
from notehop.app.retrieval.hit_places import places_of
from notehop.app.retrieval.index_view import IndexView
from notehop.app.retrieval.nodes import is_light, noted, to_node
from notehop.app.retrieval.postprocessor import VaultPostprocessor
from notehop.app.retrieval.trace import trace_of, view_for
from notehop.indexing.shown import without_marks
from notehop.indexing.vault.model import CommentLinks

STAGE = "current"
"""The name of this stage in a query's trace."""

BEHIND = "run: notehop index"


class FreshnessPostprocessor(VaultPostprocessor):
    """Drops the hits whose text does not stand in the vault's files any more, and says so.

    A note that was deleted or made private a second ago may still be in the index. Each note among
    the hits takes one look at its file. A passage of a note that changed stays if it still stands
    there, with the lines, headings and title it has now. A connected note stays if its link does as
    well. Hits of other indexes are held against the file of their note, where their metadata name
    one (see :func:`notehop.app.retrieval.hit_places.places_of`).

    Put it behind the retriever, and hand it to :class:`ConnectedNotesPostprocessor` as ``fresh``.
    """

    view: Any = Field(exclude=True, description="A ViewSource: the index.")
    vault: Path = Field(description="The folder of the notes.")
    max_note_bytes: int = Field(default=2_000_000, ge=1, description="Larger files are no notes.")
    comment_links: CommentLinks = Field(default="inline", description="As the index was made.")
    remedy: Callable[[], str] = Field(
        default=lambda: BEHIND, exclude=True, description="What is done about notes that changed."
    )

    def held(self, view: IndexView) -> CurrentView:
        """Return a view as far as it stands in the files now; make one for each query."""
        files = CurrentFiles(
            self.vault, max_note_bytes=self.max_note_bytes, comment_links=self.comment_links
        )
        return CurrentView(view, files)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        trace = trace_of(query_bundle)
        with trace.timed(STAGE):
            view = view_for(query_bundle, self.view)
            now = self.held(view)
            places = places_of(view, nodes)
            there = now.chunks(
                place.chunk_id
                for hit, place in zip(nodes, places, strict=True)
                if place is not None and place.chunk_id == hit.node.node_id
            )
            before = view.chunks(there)
            found: list[NodeWithScore] = []
            for hit, place in zip(nodes, places, strict=True):
                id_ = hit.node.node_id
                if place is None:
                    stays: NodeWithScore | None = hit
                elif place.chunk_id != id_:
                    text = hit.node.get_content(MetadataMode.NONE)
                    stays = hit if now.says(place.path, id_, text) else None
                elif id_ not in there or not _is_linked(hit, now):
                    stays = None
                else:
                    moved = there[id_] != before[id_]
                    stays = _placed(hit, now, id_) if moved else hit
                if stays is not None:
                    found.append(stays)
            if warning := now.warning(self.remedy):
                trace.warn(warning)
            if len(found) < len(nodes):
                trace.count(STAGE, left_out=len(nodes) - len(found))
        return found


def _is_linked(hit: NodeWithScore, now: CurrentView) -> bool:
    """Whether the link that brought a connected note stands where it stood; True for a source."""
    link = hit.node.metadata.get("linked_from")
    if not isinstance(link, dict):
        return True
    return any(
        without_marks(one.sentence) == link.get("sentence")
        for one in now.links_from([str(link.get("path"))])
    )


def _placed(hit: NodeWithScore, now: CurrentView, chunk_id: str) -> NodeWithScore | None:
    """A hit with the lines, headings and title that its passage has now."""
    if is_light(hit.node):
        return hit
    chunk = now.chunks([chunk_id])[chunk_id]
    note = now.notes_at([chunk.path]).get(chunk.path)
    if note is None:
        return None
    fresh = to_node(chunk, note).metadata
    fresh.pop("role")
    return NodeWithScore(node=noted(hit.node, **fresh), score=hit.score)
