"""PageRank: how much the links of a vault speak for each note."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

DAMPING = 0.85  # chance of following a link instead of jumping: the source's value, and everyone's
TOLERANCE = 1e-10  # sum of absolute changes at which the iteration ends, worth no rank

# Iterations that suffice: each shrinks the change, at first at most 2, by the damping.
_STEPS = 1 + ceil(log(TOLERANCE / 2) / log(DAMPING))


def pagerank(notes: Collection[str], links: Iterable[tuple[str, str]]) -> dict[str, float]:
    """PageRank of every note (Page, Brin, Motwani and Winograd, 1999), by power iteration:

        p = d (W p + v * (sum of p over notes without links)) + (1 - d) v

    ``W[j, i]`` is the share of note i's vote that goes to j, proportional to ``log(1 + n)`` for n
    links from i to j: a log or a table that names one note forty times says more than one mention,
    but not forty times as much. With single links it is the usual PageRank. Loops are ignored, for
    a note does not vote for itself. Notes without links to others give their vote to ``v``, which
    is the same for all.

    :param links: (source, target), twice if there are two; those of other files do not count.
    :returns: path -> score, by path; scores sum to 1; empty without notes. Independent of order.
    """
    paths = sorted(notes)
    if not paths:
        return {}
    place = {path: at for at, path in enumerate(paths)}
    numbers = [
        place[source] * len(paths) + place[target]
        for source, target in links
        if source != target and source in place and target in place
    ]
    # Each pair once, sorted: sums round by order.
    keys, counts = np.unique(np.array(numbers, dtype=np.int64), return_counts=True)
    sources, targets = np.divmod(keys, len(paths))
    weights = np.log1p(counts.astype(np.float64))
    votes: NDArray[np.float64] = np.bincount(sources, weights, len(paths)).astype(np.float64)
    shares = weights / votes[sources]
    start = np.full(len(paths), 1 / len(paths))
    rank = start
    for _ in range(_STEPS):
        linked = np.bincount(targets, shares * rank[sources], len(paths))
        follow = linked + start * rank[votes == 0].sum()
        new = DAMPING * follow + (1 - DAMPING) * start
        change = np.abs(new - rank).sum()
        rank = new
        if change < TOLERANCE:
            break
    return dict(zip(paths, (rank / rank.sum()).tolist(), strict=True))
