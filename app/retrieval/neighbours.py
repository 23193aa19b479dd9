"""Owns the neighbours of the best notes: who is there, by which chunk, and in which order.

Touches: index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from notehop.app.retrieval.connected_links import Source, known_similarities, linked_candidates
from notehop.app.retrieval.connected_order import Candidate
from notehop.app.retrieval.expansion import Expansion, Standing, votes, weight
from notehop.app.retrieval.index_view import IndexView, Vector
from notehop.app.retrieval.note_time import worked_on
from notehop.indexing.stores.model import ChunkId, LinkRow


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note near the best ones, and the chunk it joins by.

    ``link`` is the one that led to it, ``edges`` how many did; ``hit_rank`` counts the best notes
    from 1. ``score`` is that of :func:`notehop.app.retrieval.expansion.votes`.
    """

    path: str
    chunk_id: ChunkId
    link: LinkRow
    forward: bool
    hit_rank: int
    depth: int
    edges: int
    weight: float
    sentence: float | None
    note: float | None
    score: float = 0.0

    def record(self) -> dict[str, object]:
        """What a hit's metadata tell of how it came to be one."""
        return {
            "path": self.link.path,
            "line": self.link.line,
            "way": "forward" if self.forward else "backward",
            "depth": self.depth,
            "edges": self.edges,
            "weight": self.weight,
        }


def neighbours_of(
    view: IndexView,
    seeds: Sequence[Source],
    query: Vector | None,
    expansion: Expansion,
    now: float,
) -> list[Neighbour]:
    """Return the notes around the seeds, best first, ties as their links stand.

    A link to a heading or block brings the chunk it names, a link without one the target's chunk
    that is nearest to the query, a backlink the chunk that holds it.

    :param seeds: the best notes, each by its best chunk.
    :param query: the query's vector; None leaves likeness out.
    :param now: seconds since the epoch.
    """
    found: dict[str, Neighbour] = {}
    ring = list(seeds)
    roots = {seed.path: seed.rank for seed in seeds}
    for depth in range(1, expansion.depth + 1):
        known = {*roots, *found}
        fresh = _ring(view, ring, query, expansion, now, depth, roots)
        found |= {path: one for path, one in fresh.items() if path not in known}
        best = _ranked([one for one in found.values() if one.depth == depth])
        walked = best[: expansion.notes]
        roots |= {one.path: one.hit_rank for one in walked}
        ring = [Source(at, one.path, one.chunk_id) for at, one in enumerate(walked, start=1)]
    return _ranked(list(found.values()))


def _ring(
    view: IndexView,
    ring: Sequence[Source],
    query: Vector | None,
    expansion: Expansion,
    now: float,
    depth: int,
    roots: Mapping[str, int],
) -> dict[str, Neighbour]:
    """Return the notes one link away from a ring of notes, each by its best link."""
    linked = linked_candidates(view, ring, query, direction=expansion.direction, scope="note")
    links: dict[str, list[Candidate]] = {}
    for one in linked.candidates:
        links.setdefault(one.path, []).append(one)
    notes = view.notes_at(links)
    pagerank = view.pagerank if links else {}
    found: dict[str, Neighbour] = {}
    for path, several in links.items():
        first = min(
            several, key=lambda one: (-(one.sentence_similarity or 0.0), several.index(one))
        )
        when = worked_on(notes[path]) if path in notes else 0.0
        found[path] = Neighbour(
            path=path,
            chunk_id=_chunk(view, first, query),
            link=first.link,
            forward=first.forward,
            hit_rank=min(roots[_near(one)] for one in several),
            depth=depth,
            edges=len(several),
            weight=weight(pagerank.get(path, 0.0), len(several), when, now, depth),
            sentence=first.sentence_similarity,
            note=first.target_similarity,
        )
    return found


def _near(candidate: Candidate) -> str:
    """The note at the other end of a candidate's link."""
    return candidate.link.path if candidate.forward else str(candidate.link.target_path)


def _chunk(view: IndexView, candidate: Candidate, query: Vector | None) -> ChunkId:
    """The chunk that the link names or stands in, else the one of the note nearest to the query."""
    named = candidate.link.fragment if candidate.forward else candidate.link.chunk_id
    if named or query is None:
        return candidate.chunk_id
    ids = view.chunk_ids_of(candidate.path)
    known = known_similarities(view.chunk_vectors, query, ids)
    return max(ids, key=lambda one: known.get(one, -1.0)) if known else candidate.chunk_id


def _ranked(neighbours: Sequence[Neighbour]) -> list[Neighbour]:
    """Return the neighbours with their scores, best first; ties as they come."""
    scores = votes(
        [Standing(n.hit_rank, n.depth, n.weight, n.sentence, n.note) for n in neighbours]
    )
    scored = [replace(one, score=score) for one, score in zip(neighbours, scores, strict=True)]
    return sorted(scored, key=lambda one: -one.score)
