"""Rows of vectors and the ids they belong to, in parts that are never changed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
"""Shape (rows, dimensions); each row has length 1, or is all zeros."""

_TAIL_ROWS = 4_096
"""Rows of the growing part, which each addition copies: 6 MB at 384 dimensions."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows: ``matrix[i]`` belongs to ``ids[i]`` and has the number ``start + i``."""

    ids: Sequence[str]
    matrix: Matrix
    start: int

    @property
    def stop(self) -> int:
        """The number after the last row's."""
        return self.start + len(self.ids)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows by id, as an immutable value.

    ``tail`` maps the ids of the last part to their rows, ``base`` those of the parts before: an
    addition copies the small one. ``hidden`` marks rows that count as absent, shape (rows,).
    """

    dimensions: int
    hidden: NDArray[np.bool_]
    parts: tuple[Part, ...] = ()
    base: Mapping[str, int] | None = None
    tail: Mapping[str, int] | None = None
    grows: bool = False

    @classmethod
    def of(cls, dimensions: int, parts: Iterable[tuple[Sequence[str], Matrix]] = ()) -> Rows:
        """The rows of these parts, all shown; of an id in two parts the later row counts."""
        made: list[Part] = []
        base: dict[str, int] = {}
        replaced: list[int] = []
        start = 0
        for ids, matrix in parts:
            made.append(Part(ids, matrix, start))
            new = dict(zip(ids, range(start, start + len(ids)), strict=True))
            replaced += [base[one] for one in base.keys() & new.keys()]
            base |= new
            start += len(ids)
        hidden = np.zeros(start, dtype=np.bool_)
        hidden[replaced] = True
        return cls(dimensions, hidden, tuple(made), base)

    def __len__(self) -> int:
        return len(self.hidden) - int(np.count_nonzero(self.hidden))

    @property
    def ids(self) -> list[str]:
        """The ids that are shown, in the order of their rows."""
        return [
            one
            for part in self.parts
            for one, hidden in zip(
                part.ids, self.hidden[part.start : part.stop].tolist(), strict=True
            )
            if not hidden
        ]

    def row(self, one: str) -> int | None:
        """The number of an id's row; None if it is absent or hidden."""
        row = self._place(one)
        return None if row is None or self.hidden[row] else row

    def known(self, ids: Iterable[str]) -> tuple[list[str], list[int]]:
        """The ids that are shown, in the order given, and their rows."""
        known: list[str] = []
        rows: list[int] = []
        for one in ids:
            row = self.row(one)
            if row is not None:
                known.append(one)
                rows.append(row)
        return known, rows

    def id_of(self, row: int) -> str:
        """The id that a row belongs to."""
        part = self.parts[bisect_right(self.parts, row, key=lambda part: part.start) - 1]
        return part.ids[row - part.start]

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

    def products(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """The inner product of every row with a vector, shape (rows,)."""
        if not self.parts:
            return np.empty(0, dtype=np.float32)
        return np.concatenate([part.matrix @ vector for part in self.parts])

    def extended(self, ids: Sequence[str], matrix: Matrix) -> Rows:
        """With these rows too; an id that is there, shown or not, gets the new one."""
        base, tail, parts = self.base or {}, self.tail or {}, self.parts
        last = parts[-1] if parts else None
        if last is not None and self.grows and len(last.ids) < _TAIL_ROWS:
            joined = np.concatenate([last.matrix, matrix])
            parts = (*parts[:-1], Part([*last.ids, *ids], joined, last.start))
        else:
            parts = (*parts, Part(list(ids), matrix, len(self.hidden)))
            base, tail = {**base, **tail}, {}
        hidden = np.concatenate([self.hidden, np.zeros(len(ids), dtype=np.bool_)])
        hidden[self.known(ids)[1]] = True
        first = len(self.hidden)
        tail = {**tail, **{one: first + at for at, one in enumerate(ids)}}
        return Rows(self.dimensions, hidden, parts, base, tail, grows=True)

    def without(self, ids: Iterable[str]) -> Rows:
        """With these ids hidden."""
        return self._marked(self.known(ids)[1], True)

    def restored(self, ids: Iterable[str]) -> Rows:
        """With these ids shown again, as far as their rows are still here."""
        places = [self._place(one) for one in ids]
        return self._marked([row for row in places if row is not None], False)

    def _place(self, one: str) -> int | None:
        row = self.tail.get(one) if self.tail else None
        return row if row is not None or not self.base else self.base.get(one)

    def _marked(self, rows: list[int], value: bool) -> Rows:
        if not rows:
            return self
        hidden = self.hidden.copy()
        hidden[rows] = value
        return replace(self, hidden=hidden)
