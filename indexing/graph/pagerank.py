"""PageRank: how much the links of a vault speak for each note.

scipy is imported inside the function, for commands that rank nothing start faster without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, log
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import networkx as nx
    from scipy.sparse import csr_array

Vector: TypeAlias = NDArray[np.float64]

DAMPING = 0.85
"""Chance of following a link instead of jumping: the value of the source, and everyone's."""

TOLERANCE = 1e-10
"""Sum of absolute changes at which the iteration ends: far below any difference worth a rank."""


def pagerank(
    graph: nx.MultiDiGraph,
    *,
    damping: float = DAMPING,
    personalization: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """PageRank of every note (Page, Brin, Motwani and Winograd, 1999), by power iteration:

        p = d (W p + v * (sum of p over notes without links)) + (1 - d) v

    ``W[j, i]`` is the share of note i's vote that goes to j, proportional to ``log(1 + n)`` for n
    links from i to j: a log or a table that names one note forty times says more than one mention,
    but not forty times as much. With single links it is the usual PageRank. Loops are ignored, for
    a note does not vote for itself. Notes without links to others give their vote to ``v``.

    :param damping: d, in [0, 1).
    :param personalization: path -> weight (>= 0) of ``v``, absent means 0; None is the same weight
        for all. Paths that are not in the graph are passed over.
    :returns: path -> score, by path; scores sum to 1; empty for an empty graph. Independent of the
        order in which the graph was built.
    :raises ValueError: for a damping out of range, a negative weight, or a personalization that
        gives no note of the graph any weight.
    """
    if not 0 <= damping < 1:
        raise ValueError(f"damping {damping}: give a number from 0 up to but not 1")
    paths = sorted(graph)
    if not paths:
        return {}
    start = _start(paths, personalization)
    share, votes = _shares(graph, paths)
    dangling = votes == 0
    rank = start
    for _ in range(_steps(damping)):
        follow = share @ rank + start * rank[dangling].sum()
        new = damping * follow + (1 - damping) * start
        change = np.abs(new - rank).sum()
        rank = new
        if change < TOLERANCE:
            break
    return dict(zip(paths, (rank / rank.sum()).tolist(), strict=True))


def _steps(damping: float) -> int:
    """Iterations that suffice: each shrinks the change, at first at most 2, by the damping."""
    return 1 + (ceil(log(TOLERANCE / 2) / log(damping)) if damping > 0 else 0)


def _start(paths: list[str], weights: Mapping[str, float] | None) -> Vector:
    """``v``: float64, shape (notes,), sums to 1."""
    if weights is None:
        return np.full(len(paths), 1 / len(paths))
    start = np.array([weights.get(path, 0.0) for path in paths], dtype=np.float64)
    if (start < 0).any() or start.sum() <= 0:
        raise ValueError("personalization: give at least one note of the graph a weight above 0")
    start /= start.sum()
    return start


def _shares(graph: nx.MultiDiGraph, paths: list[str]) -> tuple[csr_array, Vector]:
    """``W`` (target, source) and the weight of all links of each note, shape (notes,)."""
    from scipy.sparse import csr_array

    place = {path: index for index, path in enumerate(paths)}
    sources: list[int] = []
    targets: list[int] = []
    counts: list[int] = []
    for path, index in place.items():
        for target, links in graph.succ[path].items():
            if target != path:
                sources.append(index)
                targets.append(place[target])
                counts.append(len(links))
    rows, columns = np.array(targets, dtype=np.intp), np.array(sources, dtype=np.intp)
    weights = np.log1p(np.array(counts, dtype=np.float64))
    order = np.lexsort((rows, columns))  # sums round by order, and links come in any
    rows, columns, weights = rows[order], columns[order], weights[order]
    votes = np.zeros(len(paths))
    np.add.at(votes, columns, weights)
    shape = (len(paths), len(paths))
    return csr_array((weights / votes[columns], (rows, columns)), shape=shape), votes
