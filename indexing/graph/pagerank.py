"""PageRank: how much the links of a vault speak for each note."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import ceil, log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]

DAMPING = 0.85
"""Chance of following a link instead of jumping: the value of the source, and everyone's."""

TOLERANCE = 1e-10
"""Sum of absolute changes at which the iteration ends: far below any difference worth a rank."""

_STEPS = 1 + ceil(log(TOLERANCE / 2) / log(DAMPING))
"""Iterations that suffice: each shrinks the change, at first at most 2, by the damping."""


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
    table = LinkTable()
    table.put(notes, notes, links)
    return table.ranks()


class LinkTable:
    """Which notes there are, and which link leads from where to where. Not safe for threads."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._notes: set[str] = set()
        self._sources: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._targets: NDArray[np.int32] = np.zeros(0, dtype=np.int32)

    def put(
        self, paths: Collection[str], notes: Collection[str], links: Iterable[tuple[str, str]]
    ) -> None:
        """Say anew what there is at some paths, and what links they hold.

        :param paths: of which everything known before is forgotten.
        :param notes: those of them that are notes of the graph.
        :param links: from one of them to any path; twice if there are two. Those that lead to no
            note count once one is there.
        """
        known = [self._number(path) for path in paths]
        pairs = [(self._number(source), self._number(target)) for source, target in links]
        new = np.array(pairs, dtype=np.int32).reshape(len(pairs), 2)
        kept = np.isin(self._sources, known, invert=True)
        self._sources = np.concatenate([self._sources[kept], new[:, 0]])
        self._targets = np.concatenate([self._targets[kept], new[:, 1]])
        self._notes.difference_update(paths)
        self._notes.update(notes)
        for path in notes:
            # One without a link has a rank too.
            self._number(path)

    def ranks(self) -> dict[str, float]:
        """PageRank by path, as :func:`pagerank` says."""
        paths = sorted(self._notes)
        if not paths:
            return {}
        place = np.full(len(self._numbers), -1, dtype=np.int64)
        place[[self._numbers[path] for path in paths]] = np.arange(len(paths))
        sources, targets = place[self._sources], place[self._targets]
        leads = (sources >= 0) & (targets >= 0) & (sources != targets)
        # Each pair once, sorted: sums round by order.
        keys, counts = np.unique(sources[leads] * len(paths) + targets[leads], return_counts=True)
        sources, targets = np.divmod(keys, len(paths))
        weights = np.log1p(counts.astype(np.float64))
        votes: Vector = np.bincount(sources, weights, len(paths)).astype(np.float64)
        shares = weights / votes[sources]
        start: Vector = np.full(len(paths), 1 / len(paths))
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

    def _number(self, path: str) -> int:
        return self._numbers.setdefault(path, len(self._numbers))
