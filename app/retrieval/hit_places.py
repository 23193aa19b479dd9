"""Where in the index the hits of any retriever stand: by chunk id, else by note and lines.

Touches: index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore

from notehop.app.retrieval.index_view import IndexView
from notehop.indexing.stores.model import ChunkId, ChunkRow

NONE_KNOWN = (
    "none of the {count} hits is of a note of this index, by chunk id or by the path (or file_path) "
    "in its metadata, so nothing that is linked with them was looked for"
)

_COMPARED = 80
"""Characters at the beginning of a text by which its chunk is found."""


@dataclass(frozen=True, slots=True)
class HitPlace:
    """The note of a hit, and its chunk: the hit's own, or of a foreign one that which is nearest."""

    path: str
    chunk_id: ChunkId


def places_of(view: IndexView, hits: Sequence[NodeWithScore]) -> list[HitPlace | None]:
    """Return where each hit stands; None for one that is of no note of the index.

    A hit whose id is that of no chunk is looked up by its metadata: ``path`` or ``file_path`` is the
    path of its note in the vault, or ends with it. Its chunk is that of its ``first_line`` and
    ``last_line``, else of its text, else the first.
    """
    paths = view.paths_of(hit.node.node_id for hit in hits)
    foreign = [hit.node for hit, path in zip(hits, paths, strict=True) if path is None]
    told = {node.node_id: _tails(node.metadata) for node in foreign}
    known = view.notes_at(dict.fromkeys(tail for tails in told.values() for tail in tails))
    notes = {id_: next((one for one in tails if one in known), None) for id_, tails in told.items()}
    ids = {path: view.chunk_ids_of(path) for path in notes.values() if path is not None}
    chunks = view.chunks([one for some in ids.values() for one in some])
    found: list[HitPlace | None] = []
    for hit, path in zip(hits, paths, strict=True):
        id_ = hit.node.node_id
        if path is not None:
            found.append(HitPlace(path, id_))
            continue
        note = notes[id_]
        own = [] if note is None else [chunks[one] for one in ids[note] if one in chunks]
        found.append(HitPlace(own[0].path, _nearest(hit.node, own)) if own else None)
    return found


def _tails(metadata: Mapping[str, object]) -> list[str]:
    """The paths in a vault that a file's path may stand for, the longest first."""
    for key in ("path", "file_path"):
        told = metadata.get(key)
        if isinstance(told, str) and told.strip():
            parts = [part for part in PurePosixPath(told.replace("\\", "/")).parts if part != "/"]
            return ["/".join(parts[at:]) for at in range(len(parts))]
    return []


def _nearest(node: BaseNode, chunks: Sequence[ChunkRow]) -> ChunkId:
    first, last = node.metadata.get("first_line"), node.metadata.get("last_line")
    if isinstance(first, int) and isinstance(last, int):
        return max(chunks, key=lambda one: min(last, one.last_line) - max(first, one.first_line)).id
    text = " ".join(node.get_content(MetadataMode.NONE).split())
    for one in chunks:
        words = " ".join(one.text.split())
        if words and (text[:_COMPARED] in words or words[:_COMPARED] in text):
            return one.id
    return chunks[0].id
