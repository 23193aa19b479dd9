"""Owns the exact-name signal: notes whose title or alias is the query.

Touches: index.
"""

from __future__ import annotations

from llama_index.core.schema import QueryBundle

from app.retrieval.index_view import Hits, IndexView
from app.retrieval.signals.signal import SignalRetriever


class TitleRetriever(SignalRetriever):
    """Finds the notes named exactly as the query; each by its first chunk, score 1, by path."""

    def _rank(self, view: IndexView, query: QueryBundle) -> Hits:
        paths = view.notes_named(query.query_str)
        return [(ids[0], 1.0) for path in paths if (ids := view.chunk_ids_of(path))]
