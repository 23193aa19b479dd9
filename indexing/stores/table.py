"""Exact search over vectors in memory: one table a collection.

It exists because a search must start without the vector store: reading 30,000 vectors takes 25
milliseconds, importing the store a second. It also scores any allowed subset exactly, and knows the
similarity of any id to a query, which the store can only tell for its nearest.

Touches: index (``build``, ``append``, ``open``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from notehop.config.errors import IndexDamaged, IndexMissing
from notehop.indexing.beside import Beside
from notehop.indexing.stores import table_files
from notehop.indexing.stores.table_files import Manifest
from notehop.indexing.stores.table_rows import Matrix, Rows

__all__ = ["Matrix", "VectorTable"]

_DECIMALS = 6
"""Similarities are rounded to this many decimals: sums of float32 differ in the seventh with a
row's place in the matrix, and equal vectors must tie."""

_TIE = np.float32(3 * 10**-_DECIMALS)
"""More than what two scores can differ by that are equal when rounded."""

_BLOCK = 4_096
"""Rows that are written at a time: 6 MB at 384 dimensions."""

_LENGTH_TOLERANCE = 1e-2
"""How far from 1 the length of a vector may be: room for bfloat16."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class VectorTable:
    """Vectors by id, as an immutable value that threads may share.

    ``generation`` is the one of the catalog all of whose vectors are on disk, ``stamp`` the
    catalog's, ``files`` the parts on disk that have been taken in.
    """

    rows_by_id: Rows
    generation: int = 0
    stamp: str = ""
    files: frozenset[str] = frozenset()

    @classmethod
    def empty(cls, dimensions: int, *, stamp: str = "") -> VectorTable:
        """A table of no rows, in memory only."""
        return cls(Rows.of(dimensions), stamp=stamp)

    @classmethod
    def build(
        cls,
        folder: Path,
        name: str,
        ids: Sequence[str],
        matrix: NDArray[Any],
        generation: int,
        *,
        stamp: str = "",
    ) -> VectorTable:
        """Write a table of these rows in place of the one of this name, and open it.

        The old one stays whole until the new one is.

        :param ids: distinct, not empty, without line breaks.
        :param matrix: shape (len(ids), dimensions), rows of length 1 or zero.
        :param generation: that of the catalog all of whose vectors these are.
        :param stamp: that of the catalog.
        :raises ValueError: for ids or a matrix that are not as said.
        :raises IndexUnwritable: if the disk is full or read-only.
        """
        rows = _checked(ids, matrix, None)
        manifest = Manifest(rows.shape[1], generation, stamp)
        table_files.write(folder, name, manifest, ids, rows)
        return cls.open(folder, name)

    @classmethod
    def append(
        cls,
        folder: Path,
        name: str,
        ids: Sequence[str],
        matrix: NDArray[Any],
        *,
        stamp: str,
        generation: int | None = None,
    ) -> None:
        """Add rows to a table on disk; one of another stamp, or none, gives way to a new one.

        Call it before the catalog's commit: then readers in other processes, which may not read the
        store while it is written, find the vectors of the new generation.

        :param generation: the one whose vectors are now complete; None if that is not known, which
            leaves what the table says (0 for a new one).
        :raises ValueError: as :meth:`build`.
        :raises IndexUnwritable: if the disk is full or read-only.
        """
        rows = _checked(ids, matrix, None)
        try:
            manifest = table_files.read_manifest(folder, name)
        except (IndexMissing, IndexDamaged):
            manifest = Manifest(0, 0, "")
        if (manifest.stamp, manifest.dimensions) != (stamp, rows.shape[1]):
            manifest = Manifest(rows.shape[1], 0, stamp)
        if generation is not None:
            manifest = replace(manifest, generation=generation)
        elif not len(ids):
            return
        table_files.write(folder, name, manifest, ids, rows)

    @classmethod
    def merge(cls, folder: Path, name: str, first: int, generation: int) -> None:
        """Join the parts on disk from number ``first`` on into one.

        :param first: from 0.
        :param generation: the one whose vectors are now complete.
        :raises IndexUnwritable: if the disk is full or read-only; the table is as it was before.
        """
        found = table_files.read(folder, name)
        said = replace(found.manifest, generation=generation, parts=found.manifest.parts[:first])
        _write(folder, name, said, Rows.of(said.dimensions, found.parts[first:]))

    @classmethod
    def rewrite(cls, folder: Path, name: str, wanted: Collection[str], generation: int) -> None:
        """Write those of the ids that the table on disk holds anew, as one part without the others.

        :param generation: the one whose vectors these are.
        :raises IndexUnwritable: if the disk is full or read-only; the table is as it was before.
        """
        found = table_files.read(folder, name)
        said = replace(found.manifest, generation=generation, parts=())
        rows = Rows.of(said.dimensions, found.parts)
        gone = [one for one in rows.ids if one not in wanted]
        _write(folder, name, said, rows.without(gone))

    @classmethod
    def open(cls, folder: Path, name: str) -> VectorTable:
        """Read the table of this name.

        :raises IndexMissing: if there is none.
        :raises IndexDamaged: if it cannot be read.
        """
        found = table_files.read(folder, name)
        said = found.manifest
        return cls(
            Rows.of(said.dimensions, found.parts),
            generation=said.generation,
            stamp=said.stamp,
            files=frozenset(part.file for part in said.parts),
        )

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self.rows_by_id.dimensions

    @property
    def ids(self) -> list[str]:
        """The ids that are there, in no meaningful order."""
        return self.rows_by_id.ids

    def __len__(self) -> int:
        return len(self.rows_by_id)

    def __contains__(self, one: object) -> bool:
        return isinstance(one, str) and self.rows_by_id.row(one) is not None

    def holds(self, one: str) -> bool:
        """Whether it has a vector of this id, be it one that :meth:`without` took away."""
        return one in self.rows_by_id.places

    def with_tail(self, ids: Sequence[str], matrix: NDArray[Any]) -> VectorTable:
        """The table with these rows too, in memory; an id that is there gets the new vector.

        :raises ValueError: as :meth:`build`.
        """
        rows = _checked(ids, matrix, self.dimensions)
        return replace(self, rows_by_id=self.rows_by_id.extended(ids, rows)) if len(ids) else self

    def without(self, ids: Iterable[str]) -> VectorTable:
        """The table without these ids; those it lacks are passed over."""
        return replace(self, rows_by_id=self.rows_by_id.without(ids))

    def restored(self, ids: Iterable[str]) -> VectorTable:
        """The table with those of the ids again that :meth:`without` took away."""
        return replace(self, rows_by_id=self.rows_by_id.restored(ids))

    def rows(self, ids: Iterable[str]) -> tuple[list[str], Matrix]:
        """The ids that are there, in the order given, and vectors of shape (found, dimensions)."""
        known, rows = self.rows_by_id.known([*ids])
        return known, self.rows_by_id.gather(rows)

    def similarities(self, query: NDArray[Any], ids: Sequence[str]) -> NDArray[np.float64]:
        """Cosine of each id to the query, shape (len(ids),), to 6 decimals; NaN for an unknown id.

        :param query: shape (dimensions,), of length 1.
        :raises ValueError: if its shape is another.
        """
        vector = self._query(query)
        held = self.rows_by_id
        places = [-1 if row is None else row for row in held.places.get_all(ids)]
        rows = np.array(places, dtype=np.intp)
        at = np.flatnonzero(rows >= 0)
        at = at[~held.hidden[rows[at]]]
        at = at[np.argsort(rows[at])]
        found = np.full(len(ids), np.nan)
        found[at] = _rounded(held.products_of(rows[at], vector))
        return found

    def top(
        self,
        query: NDArray[Any],
        k: int,
        allowed: Collection[str] | None = None,
        beside: Beside | None = None,
    ) -> list[tuple[str, float]]:
        """The k nearest and their cosine to 6 decimals, best first, ties by id.

        :param allowed: rank these ids only; those the table lacks are passed over.
        :param beside: threads that share the comparing, where they are free.
        :returns: fewer than k if there are not so many; empty for k < 1.
        :raises ValueError: if the query's shape is not (dimensions,).
        """
        vector = self._query(query)
        held = self.rows_by_id
        rows = None if allowed is None else held.rows_of(allowed)
        k = min(k, len(held) if rows is None else len(rows))
        if k < 1:
            return []
        if rows is None:
            scores = held.products(vector, beside)
            scores[held.hidden] = -np.inf
        elif 2 * len(rows) < len(held.hidden):
            # Below a half, copying the allowed rows together costs less than scoring them all.
            scores = held.products_of(rows, vector)
        else:
            scores = held.products(vector, beside)[rows]
        near = _near(scores, k)
        values = _rounded(scores[near]).tolist()
        hits = [*zip(held.ids_of(near if rows is None else rows[near]), values, strict=True)]
        hits.sort(key=lambda hit: (-hit[1], hit[0]))
        return hits[:k]

    def _query(self, query: NDArray[Any]) -> NDArray[np.float32]:
        vector = np.asarray(query, dtype=np.float32)
        if vector.shape != (self.dimensions,):
            raise ValueError(
                f"the query has shape {vector.shape}, the table's vectors ({self.dimensions},)"
            )
        return vector


def _write(folder: Path, name: str, said: Manifest, rows: Rows) -> None:
    """Write rows after the parts of a manifest, some at a time."""
    ids, places = rows.known(rows.ids)
    blocks = (rows.gather(places[start : start + _BLOCK]) for start in range(0, len(ids), _BLOCK))
    table_files.write_blocks(folder, name, said, ids, blocks)


def _near(scores: NDArray[np.float32], k: int) -> NDArray[np.intp]:
    """Places of the k best scores, and of all that may tie with the last once they are rounded."""
    bar = np.partition(scores, len(scores) - k)[len(scores) - k]
    return np.flatnonzero(scores >= bar - _TIE)


def _rounded(scores: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    # Adding 0 turns -0.0 into 0.0.
    return np.round(scores.astype(np.float64), _DECIMALS).astype(np.float64) + 0.0


def _checked(ids: Sequence[str], matrix: NDArray[Any], dimensions: int | None) -> Matrix:
    rows = np.ascontiguousarray(matrix, dtype=np.float32)
    if rows.ndim != 2 or len(rows) != len(ids) or dimensions not in (None, rows.shape[1]):
        raise ValueError(
            f"{len(ids)} ids and vectors of shape {rows.shape}; "
            f"expected ({len(ids)}, {dimensions or 'dimensions'})"
        )
    if len(set(ids)) < len(ids):
        raise ValueError("an id stands twice among those of the vectors")
    lengths = np.linalg.norm(rows, axis=1)
    wrong = np.flatnonzero(~((np.abs(lengths - 1) <= _LENGTH_TOLERANCE) | (lengths == 0)))
    if len(wrong):
        raise ValueError(f"vector {ids[wrong[0]]} has length {lengths[wrong[0]]:.3f}, not 1")
    return rows
