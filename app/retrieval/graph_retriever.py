"""Recall expansion: the neighbours of the best notes join the candidates, and vote."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore

from notehop.app.retrieval.candidate_signals import best_by_note, last_worked_on, recency_score
from notehop.app.retrieval.components import (
    NO_KNOWN_HIT,
    HitLocation,
    Hits,
    Nodes,
    TracedQuery,
    TracedRetriever,
    Vector,
    ViewSource,
    fill_stubs,
    hit_with_metadata,
    locate_hits,
    score_below,
    stub_node,
    view_for,
)
from notehop.app.retrieval.connected_notes import LinkedNote, find_linked_notes, rank_values
from notehop.app.retrieval.filters import AllowedChunks, keep_allowed
from notehop.app.retrieval.retrievers import EXPANSION, known_similarities, known_vector
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.rows import ChunkId

DEPTH_DECAY = 0.5  # what a second link leaves of a neighbour's weight and of its votes

RRF_K = 10
"""Rank offset of the ranking of neighbours: there are tens of them, as of connected notes."""

EXPANSION_WEIGHT = 0.25
"""Weight of that ranking among the signals: with 0.5 first hits are lost (docs/decisions/ranking.md)."""


class Expansion(NamedTuple):
    """How many neighbours join at most (0: none), how many links away they may be (1 or 2), and around
    how many of the best notes."""

    notes: int
    depth: int = 1
    seeds: int = 5


PRESETS = {
    "off": Expansion(notes=0),
    "conservative": Expansion(notes=10),
    "balanced": Expansion(notes=15),
    "aggressive": Expansion(notes=20, depth=2),
}


@dataclass(slots=True, eq=False)
class Neighbour:
    """A note near the best ones, by the best of its links.

    ``chunk_id`` is what it joins by, ``hit_rank`` that of the best note it hangs on, ``depth`` how many
    links away that is. ``edges`` counts the links that led to it; ``weight`` is PageRank x
    ln(1 + edges) x recency, less at depth 2.
    """

    link: LinkedNote
    chunk_id: ChunkId
    hit_rank: int
    depth: int
    edges: int
    weight: float
    votes: float = 0.0

    @property
    def metadata(self) -> dict[str, object]:
        """The link by which a hit came to be one, for its metadata."""
        link, way = self.link.link, "forward" if self.link.forward else "backward"
        where = {"path": link.path, "line": link.line, "way": way}
        return {**where, "depth": self.depth, "edges": self.edges, "weight": self.weight}


def find_neighbours(
    view: Snapshot, seeds: Sequence[HitLocation], query: Vector | None, expansion: Expansion, now: float
) -> list[Neighbour]:
    """Return the notes around the seeds, best first, ties as their links stand. Of several links to a
    note the first whose sentence is nearest counts.

    :param seeds: the best notes, each by its best chunk.
    :param query: the query's vector; None leaves likeness out.
    :param now: seconds since the epoch.
    """
    neighbours: list[Neighbour] = []
    ring = list(seeds)
    # Each note that is in: the rank of the best one that it hangs on.
    ranks = {seed.path: rank for rank, seed in enumerate(seeds, start=1)}
    seen_notes = set(ranks)
    for depth in range(1, expansion.depth + 1):
        links: dict[str, list[LinkedNote]] = {}
        for one in find_linked_notes(view, ring, query, direction="both")[0]:
            if one.path not in seen_notes:
                links.setdefault(one.path, []).append(one)
        seen_notes.update(links)
        notes = view.notes_at(links)
        pagerank = view.pagerank if links else {}
        joined: list[Neighbour] = []
        for path, several in links.items():
            when = last_worked_on(notes[path]) if path in notes else 0.0
            weight = pagerank.get(path, 0.0) * math.log1p(len(several)) * recency_score(when, now)
            near = {one.link.path if one.forward else str(one.link.target_path) for one in several}
            best = max(several, key=lambda one: one.sentence_similarity or 0.0)
            rank, weight = min(ranks[one] for one in near), weight * DEPTH_DECAY ** (depth - 1)
            chunk_id = _shown_chunk(view, best, query)
            joined.append(Neighbour(best, chunk_id, rank, depth, len(several), weight))
        neighbours += joined
        walked = _rank_by_votes(joined)[: expansion.notes]
        ranks |= {one.link.path: one.hit_rank for one in walked}
        ring = [HitLocation(one.link.path, one.chunk_id) for one in walked]
    return _rank_by_votes(neighbours)


def _shown_chunk(view: Snapshot, candidate: LinkedNote, query: Vector | None) -> ChunkId:
    """The chunk that the link names or stands in, else the one of the note nearest to the query."""
    named = candidate.link.fragment if candidate.forward else candidate.link.chunk_id
    if named or query is None:
        return candidate.chunk_id
    ids = view.chunk_ids_of(candidate.path)
    known = known_similarities(view.chunk_vectors, query, ids)
    return max(ids, key=lambda one: known.get(one, -1.0)) if known else candidate.chunk_id


def _rank_by_votes(neighbours: Sequence[Neighbour]) -> list[Neighbour]:
    """Give the neighbours their votes, best first; ties as they come. Four rankings are fused by
    reciprocal rank: PageRank and its kin alone bring what everything links to."""
    rankings = (
        [one.hit_rank for one in neighbours],
        rank_values(one.link.sentence_similarity for one in neighbours),
        rank_values(one.link.target_similarity for one in neighbours),
        rank_values(one.weight for one in neighbours),
    )
    for one, *ranks in zip(neighbours, *rankings, strict=True):
        votes = math.fsum(1.0 / (RRF_K + rank) for rank in ranks if rank is not None)
        one.votes = votes * DEPTH_DECAY ** (one.depth - 1)
    return sorted(neighbours, key=lambda one: -one.votes)


EXPANDED = "expanded_from"  # what the metadata of a hit hold that no signal found by itself


class GraphEnhancedRetriever(TracedRetriever):
    """Wraps a retriever of chunks and adds neighbours of its best notes to its candidates.

    Around a :class:`WeightedFusionRetriever` the neighbours are scored by its signals like all
    candidates, and their own ranking has a vote of ``weight``: they stand where the votes put them.
    Around any other retriever they stand below its hits. Hits that only a link brought carry
    ``metadata["expanded_from"]``.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        view: ViewSource,
        *,
        expansion: Expansion = PRESETS["off"],
        weight: float = EXPANSION_WEIGHT,
        allowed: AllowedChunks = None,
        with_text: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """:param weight: of the neighbours' ranking among the signals; with 0 they stand where the
            other signals put them.
        :param allowed: add these chunks only; None for all.
        :param with_text: False leaves the nodes of expanded hits without text and metadata.
        :param clock: seconds since the epoch, for the recency of neighbours.
        :raises ValueError: if ``weight`` is negative.
        """
        super().__init__()
        if not weight >= 0:
            raise ValueError(f"weight is {weight}; it must be 0 or more")
        self._retriever = retriever
        self._view = view
        self._expansion = expansion
        self._weight = weight
        self._allowed = allowed
        self._with_text = with_text
        self._clock = clock

    def find(self, query: TracedQuery) -> Nodes:
        """Return the hits of the retriever with the neighbours of the best notes among them."""
        if self._expansion.notes == 0:
            return self._retriever.retrieve(query)
        joined: list[Neighbour] = []
        candidates_before: set[ChunkId] | None = None  # what a fusion of signals had found before

        def join(candidates: Sequence[ChunkId]) -> Hits:
            nonlocal candidates_before
            candidates_before = {*(candidates_before or ()), *candidates}
            joined[:] = self._find_joining(query, candidates)
            return [(one.chunk_id, one.votes) for one in joined]

        before, query.expand = query.expand, (join, self._weight)
        try:
            hits = self._retriever.retrieve(query)
        finally:
            query.expand = before
        if candidates_before is not None:
            new = {one.chunk_id: one.metadata for one in joined if one.chunk_id not in candidates_before}
            return [
                hit_with_metadata(hit, **{EXPANDED: link}) if (link := new.get(hit.node.node_id)) else hit
                for hit in hits
            ]
        view = view_for(query, self._view)
        places = locate_hits(view, hits)
        if hits and not any(places):
            query.trace.warn(NO_KNOWN_HIT.format(count=len(hits)))
        hit_chunks = [one.chunk_id for one in places if one]
        # Of a note of another index it is not known what its hits hold.
        foreign = {
            place.path
            for hit, place in zip(hits, places, strict=True)
            if place is not None and place.chunk_id != hit.node.node_id
        }
        added = [
            one
            for one in self._find_joining(query, hit_chunks)
            if one.chunk_id not in hit_chunks and one.link.path not in foreign
        ]
        lowest = min((hit.score or 0.0 for hit in hits), default=0.0)
        more: Nodes = []
        for rank, one in enumerate(added, start=1):
            signals = {EXPANSION: {"rank": rank, "score": one.votes, "weight": None}}
            node = stub_node(one.chunk_id, signals=signals, **{EXPANDED: one.metadata})
            more.append(NodeWithScore(node=node, score=score_below(lowest, rank, len(added))))
        return hits + (fill_stubs(more, view) if self._with_text else more)

    def _find_joining(self, query: TracedQuery, candidates: Sequence[ChunkId]) -> list[Neighbour]:
        """Return the neighbours of the first notes of the candidates that join, best first."""
        view = view_for(query, self._view)
        with query.trace.timed(EXPANSION):
            best = best_by_note(view, candidates, self._expansion.seeds)
            seeds = [HitLocation(path, chunk_id) for path, chunk_id in best.items()]
            vector = known_vector(query, view.chunk_vectors)
            near = find_neighbours(view, seeds, vector, self._expansion, self._clock())
            left = set(keep_allowed([one.chunk_id for one in near], self._allowed))
            fit = [one for one in near if one.chunk_id in left]
            joining = fit[: self._expansion.notes]
            already = len({*candidates}.intersection(one.chunk_id for one in joining))
            query.trace.count(EXPANSION, neighbours=len(near), added=len(joining) - already)
        return joining
