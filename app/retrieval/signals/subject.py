"""Owns the subject signal: the notes whose names the query holds.

Touches: index.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from llama_index.core.schema import QueryBundle

from notehop.app.retrieval.filters.allowed import Allowed, among
from notehop.app.retrieval.index_view import Hits, IndexView
from notehop.app.retrieval.subject import Subject
from notehop.indexing.stores.model import ChunkId


class SubjectSignal:
    """Ranks the notes that a query is about, each by its best candidate, else its first chunk."""

    def __init__(
        self,
        view: IndexView,
        subject: Subject,
        *,
        allowed: Allowed | Collection[ChunkId] | None = None,
    ) -> None:
        """Wire the signal to one generation.

        :param allowed: find these chunks only; None for all.
        """
        self._view = view
        self._subject = subject
        self._allowed = allowed

    def prepare(self, candidates: Sequence[ChunkId]) -> None:  # noqa: ARG002
        """Look up the names that stand in the query."""
        self._subject.look_up()

    def rank(self, query: QueryBundle, candidates: Sequence[ChunkId]) -> Hits:  # noqa: ARG002
        """Return one chunk a note, in the order of the names' lengths; the score is 1."""
        hits: list[tuple[ChunkId, float]] = []
        for path in self._subject.notes(candidates):
            own = self._view.chunk_ids_of(path)
            best = [one for one in candidates if one in own][:1]
            hits += [(one, 1.0) for one in among(best or own, self._allowed)[:1]]
        return hits
