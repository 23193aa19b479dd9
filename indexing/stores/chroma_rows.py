"""Chunks as rows of Chroma, as LlamaIndex's ``ChromaVectorStore`` adds nodes, for its readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from posixpath import dirname
from typing import TYPE_CHECKING, Any

from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.labels import date_label
from notehop.indexing.stores.model import Matrix

if TYPE_CHECKING:
    from llama_index.core.schema import TextNode


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a collection, column by column; ``vectors`` has shape (len(ids), dimensions).

    ``notes`` are the paths of the notes that they are of.
    """

    ids: Sequence[str]
    vectors: Matrix
    texts: Sequence[str]
    metadatas: Sequence[Mapping[str, Any]]
    notes: Sequence[str]


def read_rows(view: CatalogSnapshot, ids: Sequence[str]) -> Rows:
    """The rows of those chunks that have a vector."""
    from llama_index.core.vector_stores.utils import node_to_metadata_dict

    found, matrix = view.vectors("chunks", ids)
    nodes = list(_nodes(view, found))
    return Rows(
        found,
        matrix,
        [node.text for node in nodes],
        [node_to_metadata_dict(node, remove_text=True, flat_metadata=True) for node in nodes],
        [node.metadata["path"] for node in nodes],
    )


def _nodes(view: CatalogSnapshot, ids: Sequence[str]) -> Iterator[TextNode]:
    from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

    chunks = view.chunks(ids)
    notes = view.notes_at({chunk.path for chunk in chunks.values()})
    for one, chunk in chunks.items():
        note = notes[chunk.path]
        yield TextNode(
            id_=one,
            text=chunk.text,
            metadata={
                "path": chunk.path,
                "title": note.title,
                "folder": dirname(chunk.path),
                "heading": " > ".join(chunk.heading_path),
                "first_line": chunk.first_line,
                "last_line": chunk.last_line,
                "kind": chunk.kind,
                "tags": ", ".join(note.tags),
                "type": note.page_type or "",
                "date": date_label(note),
            },
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=chunk.path)},
        )
