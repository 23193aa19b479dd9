"""Owns what signals share that look at the candidates of the others.

They come second: they rank what was found, or bring more of what it is about.

Touches: index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from llama_index.core.schema import QueryBundle

from notehop.app.retrieval.index_view import Hits, IndexView
from notehop.indexing.stores.model import ChunkId


class CandidateSignal(Protocol):
    """A signal that is asked when others have found something."""

    def rank(self, query: QueryBundle, candidates: Sequence[ChunkId]) -> Hits:
        """Return chunks with their score, above 0; distinct, in the order of the ranking.

        :param candidates: the chunks that the others found, fused, best first.
        """


@runtime_checkable
class PreparedSignal(CandidateSignal, Protocol):
    """One with work that can be done before all candidates are there."""

    def prepare(self, candidates: Sequence[ChunkId]) -> None:
        """Look up what :meth:`rank` will need, which looks up what is missing.

        :param candidates: those that are there by now, best first: it may be none of the last ones.
        """


def best_by_note(view: IndexView, candidates: Iterable[ChunkId], most: int) -> dict[str, ChunkId]:
    """Path -> the best chunk of each note, in the order of the candidates.

    A note votes by one chunk, so that a long one does not take all the first ranks.

    :param most: notes at most.
    """
    found: dict[str, ChunkId] = {}
    for chunk_id in candidates:
        path = view.path_of(chunk_id)
        if path is not None and path not in found:
            found[path] = chunk_id
            if len(found) == most:
                break
    return found
