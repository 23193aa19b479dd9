"""Rows of vectors and the ids they belong to, in parts that are never changed."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from notehop.indexing.beside import Beside
from notehop.indexing.stores.layered import LayeredMap

Matrix = NDArray[np.float32]
"""Shape (rows, dimensions); each row has length 1, or is all zeros."""

_ROOM = 4_096
"""Rows that small additions are gathered in: 6 MB at 384 dimensions."""

_SMALL = 1_024
"""Rows up to which an addition is copied there: each part of its own costs a search some 20
microseconds."""


_AT_ONCE = 256
"""Rows that are copied together to be multiplied: they stay in the processor's cache. All at once,
10,000 of them take ten times as long."""


_SHARED = 2_048
"""Rows that one of several threads takes at a time to multiply: 3 MB at 384 dimensions, a sixth of
a millisecond."""

_WORTH_SHARING = 4
"""Times as many rows from which another thread is worth waking."""


class Room:
    """A matrix that is filled row by row. What has been filled is never changed."""

    def __init__(self, dimensions: int) -> None:
        self._matrix = np.empty((_ROOM, dimensions), dtype=np.float32)
        self._used = 0
        self._turn = threading.Lock()

    def filled(self, after: int, matrix: Matrix) -> Matrix | None:
        """All rows up to the end of these, which come after so many.

        :returns: None if there is no room for them, or others came after those already.
        """
        with self._turn:
            stop = after + len(matrix)
            if self._used != after or stop > len(self._matrix):
                return None
            self._matrix[after:stop] = matrix
            self._used = stop
            return self._matrix[:stop]


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows: ``matrix[i]`` belongs to ``ids[i]`` and has the number ``start + i``.

    ``room`` is what the matrix is the beginning of, if it is one that grows.
    """

    ids: Sequence[str]
    matrix: Matrix
    start: int
    room: Room | None = None

    @property
    def stop(self) -> int:
        """The number after the last row's."""
        return self.start + len(self.ids)

    def extended(self, ids: Sequence[str], matrix: Matrix) -> Part | None:
        """With these rows after its own; None where that is not possible."""
        if self.room is None:
            return None
        grown = self.room.filled(len(self.ids), matrix)
        return None if grown is None else replace(self, ids=[*self.ids, *ids], matrix=grown)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows by id, as an immutable value: a change costs what changed, and a byte for each row.

    ``places`` maps each id to its row. ``hidden`` marks rows that count as absent, shape (rows,).
    """

    dimensions: int
    hidden: NDArray[np.bool_]
    parts: tuple[Part, ...]
    places: LayeredMap[str, int]

    @classmethod
    def of(cls, dimensions: int, parts: Iterable[tuple[Sequence[str], Matrix]] = ()) -> Rows:
        """The rows of these parts, all shown; of an id in two parts the later row counts."""
        made: list[Part] = []
        places: dict[str, int] = {}
        replaced: list[int] = []
        start = 0
        for ids, matrix in parts:
            made.append(Part(ids, matrix, start))
            if places:
                replaced += [places[one] for one in ids if one in places]
            places.update(zip(ids, range(start, start + len(ids)), strict=True))
            start += len(ids)
        hidden = np.zeros(start, dtype=np.bool_)
        hidden[replaced] = True
        return cls(dimensions, hidden, tuple(made), LayeredMap(places))

    def __len__(self) -> int:
        return len(self.hidden) - int(np.count_nonzero(self.hidden))

    @property
    def ids(self) -> list[str]:
        """The ids that are shown, in the order of their rows."""
        every = [one for part in self.parts for one in part.ids]
        if not self.hidden.any():
            return every
        return [every[row] for row in np.flatnonzero(~self.hidden).tolist()]

    def row(self, one: str) -> int | None:
        """The number of an id's row; None if it is absent or hidden."""
        row = self.places.get(one)
        return None if row is None or self.hidden[row] else row

    def known(self, ids: Collection[str]) -> tuple[list[str], list[int]]:
        """The ids that are shown, in the order given, and their rows."""
        shown = [
            (one, row)
            for one, row in zip(ids, self.places.get_all(ids), strict=True)
            if row is not None and not self.hidden[row]
        ]
        return [one for one, _ in shown], [row for _, row in shown]

    def rows_of(self, ids: Collection[str]) -> NDArray[np.intp]:
        """The rows of the ids that are shown, ascending, each once."""
        rows = [row for row in self.places.get_all(ids) if row is not None]
        marked = np.zeros(len(self.hidden), dtype=np.bool_)
        marked[rows] = True
        return np.flatnonzero(marked & ~self.hidden)

    def ids_of(self, rows: NDArray[np.intp]) -> list[str]:
        """The ids that rows belong to."""
        if len(self.parts) == 1:
            ids = self.parts[0].ids
            return [ids[row] for row in rows.tolist()]
        starts = [part.start for part in self.parts]
        holders = np.searchsorted(starts, rows, side="right") - 1
        return [
            self.parts[at].ids[row - starts[at]]
            for at, row in zip(holders.tolist(), rows.tolist(), strict=True)
        ]

    def gather(self, rows: Sequence[int] | NDArray[np.intp]) -> Matrix:
        """The vectors of these rows, shape (len(rows), dimensions)."""
        wanted = np.asarray(rows, dtype=np.intp)
        if len(self.parts) == 1:
            return np.asarray(self.parts[0].matrix[wanted])
        gathered = np.empty((len(wanted), self.dimensions), dtype=np.float32)
        for part in self.parts:
            inside = (wanted >= part.start) & (wanted < part.stop)
            if inside.any():
                gathered[inside] = part.matrix[wanted[inside] - part.start]
        return gathered

    def products(
        self, vector: NDArray[np.float32], beside: Beside | None = None
    ) -> NDArray[np.float32]:
        """The inner product of every row with a vector, shape (rows,).

        Row by row: a product with the whole matrix would be shared out by BLAS to threads that wait
        for each other, which on a busy machine takes twenty times as long.

        :param beside: threads that take some of the rows, where they are free.
        """
        found = np.empty(len(self.hidden), dtype=np.float32)
        blocks = [
            (part.matrix[start : start + _SHARED], out[start : start + _SHARED])
            for part in self.parts
            for out in (found[part.start : part.stop],)
            for start in range(0, len(part.ids), _SHARED)
        ]
        left = iter(blocks)

        def work() -> None:
            # Of one iterator each thread takes what comes next: none waits for more than a block.
            for rows, out in left:
                np.vecdot(rows, vector, out=out)

        if beside is None or len(blocks) < _WORTH_SHARING:
            work()
        else:
            with beside.begun(work) as rest:
                work()
                # Nothing is left by now; but what failed there shall not pass for a product.
                rest()
        return found

    def products_of(
        self, rows: NDArray[np.intp], vector: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """The inner product of some rows with a vector, shape (len(rows),).

        :param rows: ascending.
        """
        found = np.empty(len(rows), dtype=np.float32)
        block = np.empty((min(len(rows), _AT_ONCE), self.dimensions), dtype=np.float32)
        for part in self.parts:
            first, last = np.searchsorted(rows, (part.start, part.stop)).tolist()
            for start in range(first, last, _AT_ONCE):
                stop = min(start + _AT_ONCE, last)
                some = block[: stop - start]
                # Of the modes, only clip copies straight into the block.
                places = rows[start:stop] - part.start
                np.take(part.matrix, places, axis=0, out=some, mode="clip")
                np.vecdot(some, vector, out=found[start:stop])
        return found

    def extended(self, ids: Sequence[str], matrix: Matrix) -> Rows:
        """With these rows too; an id that is there, shown or not, gets the new one."""
        first = len(self.hidden)
        hidden = np.concatenate([self.hidden, np.zeros(len(ids), dtype=np.bool_)])
        hidden[[row for row in self.places.get_all(ids) if row is not None]] = True
        places = dict(zip(ids, range(first, first + len(ids)), strict=True))
        return Rows(
            self.dimensions, hidden, self._parts(ids, matrix), self.places.changed((), places)
        )

    def without(self, ids: Iterable[str]) -> Rows:
        """With these ids hidden."""
        return self._marked(self.known([*ids])[1], True)

    def restored(self, ids: Iterable[str]) -> Rows:
        """With these ids shown again, as far as their rows are still here."""
        places = self.places.get_all(ids)
        return self._marked([row for row in places if row is not None], False)

    def _parts(self, ids: Sequence[str], matrix: Matrix) -> tuple[Part, ...]:
        start = len(self.hidden)
        if len(ids) > _SMALL:
            return (*self.parts, Part(ids, matrix, start))
        grown = self.parts[-1].extended(ids, matrix) if self.parts else None
        if grown is not None:
            return (*self.parts[:-1], grown)
        room = Room(self.dimensions)
        filled = room.filled(0, matrix)
        assert filled is not None  # it is empty, and larger
        return (*self.parts, Part(list(ids), filled, start, room))

    def _marked(self, rows: list[int], value: bool) -> Rows:
        if not rows:
            return self
        hidden = self.hidden.copy()
        hidden[rows] = value
        return replace(self, hidden=hidden)
