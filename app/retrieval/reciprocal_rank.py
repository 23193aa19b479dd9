"""Owns reciprocal rank fusion: ranked lists in, one ranked list out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from notehop.indexing.stores.model import ChunkId


@dataclass(frozen=True, slots=True)
class Fused:
    """An id with its fused score; ``ranks`` maps signal name -> rank from 1 where it was ranked."""

    id: ChunkId
    score: float
    ranks: Mapping[str, int]


def fuse(
    rankings: Mapping[str, Sequence[ChunkId]],
    weights: Mapping[str, float] | None = None,
    k: int = 60,
    limit: int | None = None,
) -> list[Fused]:
    """Fuse ranked lists by weighted reciprocal rank (Cormack et al., SIGIR 2009).

    :param rankings: signal name -> distinct ids, best first; a list may be empty.
    :param weights: signal name -> weight, not negative; None weighs every signal 1. A weight of 0
        takes the signal out. A weight for a signal that ranked nothing is no error.
    :param k: rank offset, in ranks; 60 is the value of the paper.
    :param limit: how many are returned at most; None for all.
    :returns: best first, ties by id; score = sum of weight / (k + rank), rank from 1.
    :raises ValueError: if ``k`` < 1, a ranking repeats an id or has no weight, or a weight is
        negative.
    """
    return list(islice(fusing(rankings, weights, k), limit))


def fusing(
    rankings: Mapping[str, Sequence[ChunkId]],
    weights: Mapping[str, float] | None = None,
    k: int = 60,
) -> Iterator[Fused]:
    """Fuse at once, as :func:`fuse`, and make each of the results when it is taken: of hundreds a
    few are shown."""
    if k < 1:
        raise ValueError(f"k is {k}; the rank offset must be at least 1")
    votes: list[dict[ChunkId, float]] = []
    ranks: dict[str, dict[ChunkId, int]] = {}
    for signal, ids in rankings.items():
        weight = _weight(signal, weights)
        ranked = dict(zip(ids, range(1, len(ids) + 1), strict=True))
        if len(ranked) != len(ids):
            raise ValueError(f"the ranking of {signal!r} repeats an id; rankings hold distinct ids")
        if weight == 0:
            continue
        ranks[signal] = ranked
        votes.append({chunk_id: weight / (k + rank) for chunk_id, rank in ranked.items()})
    scores = _sums(votes)
    # By id, then by score: the second sort keeps the order of what ties.
    order = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
    return (
        Fused(
            chunk_id,
            scores[chunk_id],
            {signal: ranked[chunk_id] for signal, ranked in ranks.items() if chunk_id in ranked},
        )
        for chunk_id in order
    )


def _sums(votes: Sequence[Mapping[ChunkId, float]]) -> dict[ChunkId, float]:
    """Add up the votes exactly: equal ones must tie, whichever signal they come from."""
    scores: dict[ChunkId, float] = {}
    for vote in votes[:2]:
        for chunk_id, share in vote.items():
            # Two are exact as they are.
            scores[chunk_id] = scores[chunk_id] + share if chunk_id in scores else share
    for chunk_id in {one for vote in votes[2:] for one in vote}:
        scores[chunk_id] = math.fsum(vote[chunk_id] for vote in votes if chunk_id in vote)
    return scores


def _weight(signal: str, weights: Mapping[str, float] | None) -> float:
    if weights is None:
        return 1.0
    if signal not in weights:
        named = ", ".join(sorted(weights)) or "none"
        raise ValueError(f"no weight for the signal {signal!r}; weights are given for: {named}")
    weight = weights[signal]
    if not weight >= 0:
        raise ValueError(f"the weight of {signal!r} is {weight}; it must be 0 or more")
    return weight
