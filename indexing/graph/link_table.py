"""The links of a vault as numbers: what PageRank needs, in a hundredth of the room of a graph."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import NDArray

from notehop.indexing.graph.pagerank import rank_links


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
        """PageRank by path (:func:`notehop.indexing.graph.pagerank.pagerank`), to the last bit that of a
        graph of the same notes and links."""
        paths = sorted(self._notes)
        place = np.full(len(self._numbers), -1, dtype=np.int64)
        place[[self._numbers[path] for path in paths]] = np.arange(len(paths))
        sources, targets = place[self._sources], place[self._targets]
        leads = (sources >= 0) & (targets >= 0)
        keys = np.sort(sources[leads] * len(paths) + targets[leads])
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        sources, targets = np.divmod(keys[first], max(len(paths), 1))
        return rank_links(paths, sources, targets, np.diff(first, append=len(keys)))

    def _number(self, path: str) -> int:
        return self._numbers.setdefault(path, len(self._numbers))
