"""Owns the graph signal: candidates that other candidates link to.

Touches: index.
"""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.schema import QueryBundle

from notehop.app.retrieval.index_view import Hits, IndexView
from notehop.app.retrieval.signals.candidates import best_by_note
from notehop.indexing.stores.model import ChunkId

NOTES = 30
"""Best notes whose links count. Those behind them are chance hits of one signal, and each costs the
reading of its links."""


class GraphSignal:
    """Ranks notes among the candidates by the links that others among them hold to them.

    A backlink counts the more, the better the note that holds it was found: 1 / (``k`` + rank). So
    a hub that everybody links to gains nothing by that: the links must come from what the query
    found. Where they are equal, PageRank decides.
    """

    def __init__(self, view: IndexView, *, k: int = 60) -> None:
        """Wire the signal to one generation.

        :param k: rank offset, in ranks, as that of the fusion.
        """
        self._view = view
        self._k = k

    def prepare(self, candidates: Sequence[ChunkId]) -> None:
        """Have the links of the best candidates read."""
        self._view.links_from(best_by_note(self._view, candidates, NOTES))

    def rank(self, query: QueryBundle, candidates: Sequence[ChunkId]) -> Hits:  # noqa: ARG002
        """Return the best chunk of each note that is linked to; the score is the sum of votes."""
        best = best_by_note(self._view, candidates, NOTES)
        rank = {path: at for at, path in enumerate(best, start=1)}
        links = {
            (link.path, link.target_path)
            for link in self._view.links_from(best)
            if link.target_path in rank and link.target_path != link.path
        }
        votes: dict[str, float] = {}
        for source, target in sorted(links):
            votes[str(target)] = votes.get(str(target), 0.0) + 1 / (self._k + rank[source])
        pagerank = self._view.pagerank if votes else {}
        order = sorted(votes, key=lambda path: (-votes[path], -pagerank.get(path, 0.0), path))
        return [(best[path], votes[path]) for path in order]
