"""The LlamaIndex node of a chunk: light while it is a candidate, whole once it is shown; and where hits
stand in the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath
from posixpath import dirname
from typing import Any, TypeVar

import numpy as np
from llama_index.core.schema import (
    BaseNode,
    MetadataMode,
    NodeRelationship,
    NodeWithScore,
    ObjectType,
    RelatedNodeInfo,
    RelatedNodeType,
    TextNode,
)
from numpy.typing import NDArray

from notehop.indexing.stores.labels import date_label
from notehop.indexing.stores.model import ChunkId, ChunkRow, NoteRow
from notehop.indexing.stores.reader import Snapshot

Node = TypeVar("Node", bound=BaseNode)

Vector = NDArray[np.float32]  # shape (dimensions,), length 1 unless it is all zeros
Hits = Sequence[tuple[ChunkId, float]]  # distinct ids with their score, best first, ties by id

FOR_THE_MODEL = frozenset({"path", "title", "heading", "role", "label", "reason"})
"""The metadata that LlamaIndex's own synthesizers show a model: of a connected note, why it is there."""


def to_node(
    chunk: ChunkRow, note: NoteRow, siblings: Sequence[ChunkId] = (), **more: Any
) -> TextNode:
    """Return the node of a chunk, in the role of a source, with its id; its source node is the note,
    whose id is its path. ``date`` is what ``after:`` looks at.

    :param siblings: the chunks of the note in text order, for the nodes before and after it.
    :param more: metadata beside what says where the chunk stands, shown to no model.
    """
    metadata: dict[str, Any] = {
        "path": chunk.path,
        "file_path": chunk.path,
        "title": note.title,
        "folder": dirname(chunk.path),
        "heading": " > ".join(chunk.heading_path),
        "heading_path": list(chunk.heading_path),
        "first_line": chunk.first_line,
        "last_line": chunk.last_line,
        "ordinal": chunk.ordinal,
        "kind": chunk.kind,
        "role": "source",
        "tags": list(note.tags),
        "type": note.page_type or "",
        "date": date_label(note),
        # A question may call the note by one of them.
        **({"aliases": list(note.aliases)} if note.aliases else {}),
        **more,
    }
    source = RelatedNodeInfo(
        node_id=note.path, node_type=ObjectType.DOCUMENT, hash=note.content_hash
    )
    relationships: dict[NodeRelationship, RelatedNodeType] = {NodeRelationship.SOURCE: source}
    beside = (
        {NodeRelationship.PREVIOUS: -1, NodeRelationship.NEXT: 1} if chunk.id in siblings else {}
    )
    for relationship, step in beside.items():
        at = siblings.index(chunk.id) + step
        if 0 <= at < len(siblings):
            other = RelatedNodeInfo(node_id=siblings[at], node_type=ObjectType.TEXT)
            relationships[relationship] = other
    return TextNode(
        id_=chunk.id,
        text=chunk.text,
        metadata=metadata,
        relationships=relationships,
        **_hidden(metadata),
    )


class _LightNode(TextNode):
    """A node without text; LlamaIndex takes nodes of one hash for one node."""

    @property
    def hash(self) -> str:
        """The id: text and metadata are not there yet."""
        return self.node_id


def light_node(chunk_id: ChunkId, **metadata: Any) -> TextNode:
    """Return a node without text, with metadata shown to no model."""
    return _LightNode(id_=chunk_id, metadata=metadata, **_hidden(metadata))


def light_hits(hits: Hits) -> list[NodeWithScore]:
    """Return a node without text or metadata for each hit with a score above 0."""
    return [
        NodeWithScore(node=_LightNode(id_=chunk_id), score=float(score))
        for chunk_id, score in hits
        if score > 0
    ]


def noted(node: Node, **metadata: Any) -> Node:
    """Return a copy with more metadata, shown to no model. The node itself may be shared."""
    joined = {**node.metadata, **metadata}
    return node.model_copy(update={"metadata": joined, **_hidden(joined)})


def is_light(node: BaseNode) -> bool:
    """Tell whether a node still waits for its text."""
    return "path" not in node.metadata and not node.get_content()


def fill(hits: Sequence[NodeWithScore], view: Snapshot) -> list[NodeWithScore]:
    """Return the hits with text and metadata; a light one whose chunk this generation lacks is dropped."""
    chunks = view.chunks([hit.node.node_id for hit in hits if is_light(hit.node)])
    notes = view.notes_at([chunk.path for chunk in chunks.values()])
    filled: list[NodeWithScore] = []
    for hit in hits:
        chunk = chunks.get(hit.node.node_id)
        if not is_light(hit.node):
            filled.append(hit)
        elif chunk is not None and chunk.path in notes:
            siblings = view.chunk_ids_of(chunk.path)
            node = to_node(chunk, notes[chunk.path], siblings, **hit.node.metadata)
            filled.append(NodeWithScore(node=node, score=hit.score))
    return filled


def below(lowest: float, rank: int, count: int) -> float:
    """Return the score of one of ``count`` hits that stand below the ``lowest``, in its rank from 1."""
    share = 1.0 - rank / (count + 1)
    return lowest - (abs(lowest) or 1.0) * (1.0 - share)


def _hidden(metadata: Mapping[str, Any]) -> dict[str, list[str]]:
    """The fields of a node that hide its metadata from models."""
    return {
        "excluded_embed_metadata_keys": list(metadata),
        "excluded_llm_metadata_keys": [
            key for key, value in metadata.items() if key not in FOR_THE_MODEL or not value
        ],
    }


NONE_KNOWN = (
    "none of the {count} hits is of a note of this index, by chunk id or by the path (or file_path) "
    "in its metadata, so nothing that is linked with them was looked for"
)

_COMPARED = 80  # characters at the beginning of a text by which its chunk is found


@dataclass(frozen=True, slots=True)
class HitPlace:
    """The note of a hit, and its chunk; of a hit of another index, the nearest one."""

    path: str
    chunk_id: ChunkId


def places_of(view: Snapshot, hits: Sequence[NodeWithScore]) -> list[HitPlace | None]:
    """Return where each hit stands; None for one that is of no note of the index.

    A hit whose id is that of no chunk is looked up by its metadata: ``path`` or ``file_path`` ends with
    the path of its note. Its chunk is that of its ``first_line`` and ``last_line``, else of its text,
    else the first.
    """
    ids = [hit.node.node_id for hit in hits]
    paths = view.paths_of(ids)
    foreign = [hit.node for hit, path in zip(hits, paths, strict=True) if path is None]
    tails = {node.node_id: _tails(node.metadata) for node in foreign}
    known = view.notes_at(dict.fromkeys(chain.from_iterable(tails.values())))
    # Of what a file's path may stand for in the vault the longest.
    notes = {id_: next((one for one in some if one in known), "") for id_, some in tails.items()}
    own = {path: view.chunk_ids_of(path) for path in notes.values()}
    chunks = view.chunks(chain.from_iterable(own.values()))
    found: list[HitPlace | None] = []
    for hit, id_, path in zip(hits, ids, paths, strict=True):
        if path is None:
            path = notes[id_]
            there = [chunks[one] for one in own[path] if one in chunks]
            id_ = _nearest(hit.node, there) if there else ""
        found.append(HitPlace(path, id_) if id_ else None)
    return found


def _tails(metadata: Mapping[str, object]) -> list[str]:
    """The ends of the path that a hit's metadata name, the longest first."""
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
