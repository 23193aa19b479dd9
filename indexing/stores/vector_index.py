"""The vectors of a generation in memory, by id, compared exactly."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from notehop.indexing.stores.rows import Matrix

_DECIMALS = 6
"""Similarities are rounded to this many decimals: sums of float32 differ in the seventh with a
row's place in the matrix, and equal vectors must tie."""

_TIE = np.float32(3 * 10**-_DECIMALS)
"""More than what two scores can differ by that are equal when rounded."""

_ROOM = 4_096
"""Rows that can be added before the matrix is copied; of a large one an eighth. Memory that nothing
was written to yet takes no room."""


class _Rows:
    """Rows that many views show some of. They are added in place, and never changed."""

    def __init__(self, buffer: Matrix) -> None:
        self.ids: list[str] = []
        self.places: dict[str, int] = {}
        self._buffer = buffer
        self._turn = threading.Lock()

    def add(self, ids: Sequence[str], matrix: Matrix) -> Matrix:
        """Add what is not there yet; all rows by now."""
        with self._turn:
            new = [at for at, one in enumerate(ids) if one not in self.places]
            start, stop = len(self.ids), len(self.ids) + len(new)
            if stop > len(self._buffer):
                grown = _roomy(stop, self._buffer.shape[1])
                grown[:start] = self._buffer[:start]
                self._buffer = grown
            if new:
                self._buffer[start:stop] = matrix[new]
            self.ids += [ids[at] for at in new]
            self.places.update((ids[at], row) for row, at in enumerate(new, start))
            return self._buffer[:stop]


@dataclass(frozen=True, slots=True, eq=False)
class VectorIndex:
    """Vectors by id, as an immutable value that threads may share.

    An id names one vector for ever: it is a hash of what was embedded.
    """

    _rows: _Rows
    _matrix: Matrix
    _hidden: NDArray[np.bool_]

    @classmethod
    def empty(cls, dimensions: int, room: int = 0) -> VectorIndex:
        """:param room: vectors that will be added."""
        buffer = _roomy(room, dimensions)
        return cls(_Rows(buffer), buffer[:0], np.zeros(0, dtype=np.bool_))

    @property
    def dimensions(self) -> int:
        return int(self._matrix.shape[1])

    @property
    def ids(self) -> list[str]:
        """The ids that are there, in no meaningful order."""
        return [self._rows.ids[row] for row in np.flatnonzero(~self._hidden).tolist()]

    def __len__(self) -> int:
        return len(self._hidden) - int(np.count_nonzero(self._hidden))

    def __contains__(self, one: object) -> bool:
        row = self._rows.places.get(one)  # type: ignore[call-overload]
        return row is not None and row < len(self._hidden) and not self._hidden[row]

    def changed(self, gone: Iterable[str], ids: Sequence[str], matrix: Matrix) -> VectorIndex:
        """The same without some ids, then with others.

        :param gone: those that are not there are passed over.
        :param matrix: shape (len(ids), dimensions), rows of length 1 or zero.
        """
        rows = self._rows.add(ids, matrix)
        hidden = np.ones(len(rows), dtype=np.bool_)
        hidden[: len(self._hidden)] = self._hidden
        hidden[self._shown(gone)] = True
        hidden[[self._rows.places[one] for one in ids]] = False
        made = VectorIndex(self._rows, rows, hidden)
        if len(hidden) - len(made) < max(_ROOM, len(hidden) // 3):
            return made
        # Most of the room that is taken up by what is gone is given back.
        return VectorIndex.empty(self.dimensions).changed((), made.ids, rows[~hidden])

    def rows(self, ids: Iterable[str]) -> tuple[list[str], Matrix]:
        """The ids that are there, in the order given, and vectors of shape (found, dimensions)."""
        wanted = [*ids]
        places = self._places(wanted)
        known = np.flatnonzero(places >= 0).tolist()
        return [wanted[at] for at in known], self._matrix[places[known]]

    def top(
        self, query: NDArray[Any], k: int, allowed: Collection[str] | None = None
    ) -> list[tuple[str, float]]:
        """The k nearest and their cosine to 6 decimals, best first, ties by id.

        :param allowed: rank these ids only; those that are not there are passed over.
        :returns: fewer than k if there are not so many; empty for k < 1.
        :raises ValueError: if the query's shape is not (dimensions,).
        """
        vector = checked_query(query, self.dimensions)
        left_out = self._hidden
        if allowed is not None:
            left_out = np.ones(len(self._hidden), dtype=np.bool_)
            left_out[self._shown(allowed)] = False
        # Row by row: a product with the whole matrix would be shared out by BLAS to threads that
        # wait for each other, which on a busy machine takes twenty times as long.
        scores = np.vecdot(self._matrix, vector)
        scores[left_out] = -np.inf
        return _leading(self._rows.ids, scores, min(k, int(np.count_nonzero(~left_out))))

    def _places(self, ids: Iterable[str]) -> NDArray[np.intp]:
        """The row of each id; -1 for one that is not shown."""
        place = self._rows.places.get
        rows = np.array([place(one, -1) for one in ids], dtype=np.intp)
        # Others may have added rows meanwhile, or hidden them here.
        rows[rows >= len(self._hidden)] = -1
        rows[np.append(self._hidden, True)[rows]] = -1
        return rows

    def _shown(self, ids: Iterable[str]) -> NDArray[np.intp]:
        """The rows of the ids that are shown, ascending, each once."""
        rows = np.unique(self._places(ids))
        return rows[rows >= 0]


def checked_query(query: NDArray[Any], dimensions: int) -> Matrix:
    """A query as it is compared; ValueError if its shape is not (dimensions,)."""
    vector = np.asarray(query, dtype=np.float32)
    if vector.shape != (dimensions,):
        raise ValueError(f"the query has shape {vector.shape}, the index's vectors ({dimensions},)")
    return vector


def best(ids: Sequence[str], matrix: Matrix, query: Matrix, k: int) -> list[tuple[str, float]]:
    """The k of some vectors that are nearest to a query, as :meth:`VectorIndex.top`."""
    return _leading(ids, np.vecdot(matrix, query), min(k, len(ids)))


def _leading(ids: Sequence[str], scores: Matrix, k: int) -> list[tuple[str, float]]:
    """The k best of at least k ids, which may be more than there are scores."""
    if k < 1:
        return []
    # All that may tie with the last once they are rounded stay until ids have decided.
    bar = np.partition(scores, len(scores) - k)[len(scores) - k] - _TIE
    near = np.flatnonzero(scores >= bar)
    hits = zip(map(ids.__getitem__, near.tolist()), _rounded(scores[near]).tolist(), strict=True)
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]


def cosines(rows: Matrix, query: Matrix) -> NDArray[np.float64]:
    """The inner product of each row with a vector, shape (rows,), rounded as everywhere."""
    return _rounded(np.vecdot(rows, query.astype(np.float32, copy=False)))


def _rounded(scores: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    # Adding 0 turns -0.0 into 0.0.
    return np.round(scores.astype(np.float64), _DECIMALS).astype(np.float64) + 0.0


def _roomy(rows: int, dimensions: int) -> Matrix:
    return np.empty((rows + max(_ROOM, rows // 8), dimensions), dtype="<f4")
