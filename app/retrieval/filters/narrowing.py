"""What the filters of a query leave of one generation of the index, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from notehop.app.models import Filters
from notehop.app.retrieval.filters import hints
from notehop.app.retrieval.filters.apply import (
    EVERY_NOTE,
    Allowed,
    Notes,
    among,
    chunks_left,
    notes_left,
)
from notehop.app.retrieval.filters.parse import plan
from notehop.app.retrieval.nodes import light_node
from notehop.indexing.stores.labels import property_label
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens import Tokenizer

NEWEST = "newest"
"""The name under which the place of a listed note stands in its record."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A query without its filters, and what they leave.

    ``allowed`` is None where there are no filters; ``nothing`` tells that they leave nothing.
    ``lists`` tells that there is no word to search for. ``said`` are the filters as they are
    written in a query.
    """

    text: str
    notes: Notes
    allowed: Allowed | None
    nothing: bool
    lists: bool
    said: tuple[str, ...]
    warnings: tuple[str, ...]


def narrow(
    query: str,
    filters: Filters,
    view: Snapshot,
    tokenizer: Tokenizer,
    stands: hints.Stands,
    *,
    literal: bool = False,
) -> Narrowed:
    """Read the filters of a query, in its text and apart, and find the chunks they leave.

    :param stands: whether any of some notes is there still: no other is named in a remark.
    :param literal: whether the text holds no filters, whatever it looks like.
    :raises QueryError: if there is neither text nor filter, or a date is none.
    """
    labels = view.labels
    today = date.today()
    asked = plan(
        query, filters, lambda key: labels.has(property_label(key)), today, literal=literal
    )
    conditions = asked.conditions
    warnings = hints.of_plan(asked, labels, stands)
    notes, allowed = EVERY_NOTE, None
    if conditions:
        notes = notes_left(conditions, labels, today)
        allowed = chunks_left(notes, conditions, view, labels, tokenizer)
        warnings += hints.of_conditions(conditions, labels, today, stands)
    nothing = bool(conditions) and allowed is None
    if nothing:
        warnings += hints.of_nothing(
            conditions,
            labels,
            today,
            lambda one: chunks_left(EVERY_NOTE, [one], view, labels, tokenizer) is not None,
        )
    return Narrowed(
        text=asked.text,
        notes=notes,
        allowed=allowed,
        nothing=nothing,
        lists=asked.lists,
        said=tuple(map(str, conditions)),
        warnings=tuple(warnings),
    )


class NewestRetriever(BaseRetriever):
    """Lists the newest notes that filters leave, each by its first chunk that they leave, templates
    last: what a query without words finds. Notes that say nothing are passed over."""

    def __init__(
        self, view: Snapshot, narrowed: Narrowed, count: int, is_template: Callable[[str], bool]
    ) -> None:
        super().__init__()
        self._view = view
        self._narrowed = narrowed
        self._count = count
        self._is_template = is_template

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:  # noqa: ARG002
        view, narrowed = self._view, self._narrowed
        found: list[ChunkId] = []
        templates: list[ChunkId] = []
        for path in view.labels.newest_first(narrowed.notes, narrowed.notes.only):
            ids = among(view.chunk_ids_of(path), narrowed.allowed)[:1]
            if any(chunk.text.strip() for chunk in view.chunks(ids).values()):
                (templates if self._is_template(path) else found).extend(ids)
            if len(found) == self._count:
                break
        hits: list[NodeWithScore] = []
        for rank, chunk_id in enumerate([*found, *templates][: self._count], start=1):
            record = {NEWEST: {"rank": rank, "score": None, "weight": None}}
            node = light_node(chunk_id, signals=record)
            hits.append(NodeWithScore(node=node, score=1 / rank))
        return hits
