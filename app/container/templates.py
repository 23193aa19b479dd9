"""Holds templates back among the hits of a query, and what is no more than one.

Touches: vault-read, index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from llama_index.core.schema import NodeWithScore

from app.retrieval.boilerplate import (
    SKELETON,
    TEMPLATE,
    asks_for_templates,
    held_back,
    is_skeleton,
)
from app.retrieval.index_view import IndexView
from indexing.stores.model import ChunkId
from indexing.templates import read_templates


def templates_last(
    hits: Sequence[NodeWithScore], query: str, view: IndexView, vault: Path, share: float
) -> list[NodeWithScore]:
    """Return the hits with templates held back, unless the query is about templates.

    :param share: what their score keeps; 1 changes nothing.
    """
    if share == 1 or not hits or asks_for_templates(query):
        return list(hits)
    templates = read_templates(vault)
    ids = [hit.node.node_id for hit in hits]
    why: dict[ChunkId, str] = {
        one: TEMPLATE for one in ids if templates.holds(view.path_of(one) or "")
    }
    if templates.lines:
        chunks = view.chunks(one for one in ids if one not in why)
        titles = {
            path: note.title
            for path, note in view.notes_at({one.path for one in chunks.values()}).items()
        }
        why |= {
            one: SKELETON
            for one, chunk in chunks.items()
            if is_skeleton(chunk.text, titles.get(chunk.path, ""), templates.lines)
        }
    return held_back(hits, why, share) if why else list(hits)


def templates_of(vault: Path, query: str) -> Callable[[str], bool]:
    """What tells of a path whether it is a template; of none for a query about templates."""
    if asks_for_templates(query):
        return lambda _: False
    return lambda path: read_templates(vault).holds(path)
