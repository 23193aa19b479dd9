"""Holds templates back among the hits of a query, and what is no more than one.

Touches: vault-read, index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from llama_index.core.schema import NodeWithScore

from notehop.app.retrieval.boilerplate import (
    SKELETON,
    TEMPLATE,
    asks_for_templates,
    held_back,
    is_skeleton,
)
from notehop.app.retrieval.index_view import IndexView
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.templates import Templates, read_templates

_AT_ONCE = 8
"""Hits whose texts are read together: as many as a reply has places."""


def templates_last(
    hits: Iterator[NodeWithScore], query: str, view: IndexView, vault: Path, share: float
) -> Iterator[NodeWithScore]:
    """Return the hits with templates held back, unless the query is about templates.

    :param share: what their score keeps; 1 changes nothing.
    """
    if share == 1 or asks_for_templates(query):
        return hits
    return held_back(_with_reasons(hits, view, read_templates(vault)), share)


def _with_reasons(
    hits: Iterator[NodeWithScore], view: IndexView, templates: Templates
) -> Iterator[tuple[NodeWithScore, str | None]]:
    while some := list(islice(hits, _AT_ONCE)):
        why = _reasons([hit.node.node_id for hit in some], view, templates)
        for hit in some:
            yield hit, why.get(hit.node.node_id)


def _reasons(ids: Sequence[ChunkId], view: IndexView, templates: Templates) -> dict[ChunkId, str]:
    """Chunk -> the reason to hold it back, for those that have one."""
    why = {one: TEMPLATE for one in ids if templates.holds(view.path_of(one) or "")}
    if templates.lines:
        chunks = view.chunks(one for one in ids if one not in why)
        notes = view.notes_at({one.path for one in chunks.values()})
        why |= {
            one: SKELETON
            for one, chunk in chunks.items()
            if is_skeleton(
                chunk.text,
                notes[chunk.path].title if chunk.path in notes else "",
                templates.lines,
            )
        }
    return why


def templates_of(vault: Path, query: str) -> Callable[[str], bool]:
    """What tells of a path whether it is a template; of none for a query about templates."""
    if asks_for_templates(query):
        return lambda _: False
    return lambda path: read_templates(vault).holds(path)
