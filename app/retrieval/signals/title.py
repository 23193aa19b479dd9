"""Owns the exact-name signal: notes whose title or alias is the query.

Touches: index.
"""

from __future__ import annotations

from collections.abc import Collection

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.schema import QueryBundle

from notehop.app.retrieval.filters.allowed import Allowed, among
from notehop.app.retrieval.index_view import Hits, IndexView, ViewSource
from notehop.app.retrieval.signals.signal import SignalRetriever
from notehop.indexing.stores.model import ChunkId


class TitleRetriever(SignalRetriever):
    """Finds the notes named exactly as the query; each by its first chunk, score 1, by path."""

    def __init__(
        self,
        view: ViewSource,
        *,
        allowed: Allowed | Collection[ChunkId] | None = None,
        with_text: bool = True,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Wire the signal to the index.

        :param allowed: find these chunks only, the first such of each note; None for all.
        """
        super().__init__(view, with_text=with_text, callback_manager=callback_manager)
        self._allowed = allowed

    def _rank(self, view: IndexView, query: QueryBundle) -> Hits:
        paths = view.notes_named(query.query_str)
        found = (among(view.chunk_ids_of(path), self._allowed) for path in paths)
        return [(ids[0], 1.0) for ids in found if ids]

    def _score(self, view: IndexView, query: QueryBundle, ids: frozenset[ChunkId]) -> Hits:
        return [hit for hit in self._rank(view, query) if hit[0] in ids]
