"""Vector tables that match a generation: read from disk, and completed from the store if need be.

Touches: index (reads).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace

import numpy as np

from notehop.config.errors import IndexDamaged, IndexLocked, IndexMissing, IndexUnwritable
from notehop.indexing.stores import table_files
from notehop.indexing.stores.catalog_engine import REBUILD
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lock import WriterLock
from notehop.indexing.stores.seal import break_seal
from notehop.indexing.stores.table import Matrix, VectorTable
from notehop.indexing.stores.table_files import Manifest
from notehop.indexing.stores.vectors import Collection as Name
from notehop.indexing.stores.vectors import Vectors

VectorsOf = Callable[[], Vectors]
"""Gives the open vector store of the process that holds the writer lock."""


def is_anew(said: Manifest, table: VectorTable) -> bool:
    """Whether the large part of a table was written anew since it was read."""
    return bool(said.parts) and said.parts[0].file not in table.files


class VectorSource:
    """Where a reader's vectors come from.

    The store itself is read only by who may write it. A process that reads the files of Chroma
    while another writes them gets errors, and now and then reads for ever; so a reader takes the
    writer lock for the moment, and where it cannot, it does without what its tables lack.
    """

    def __init__(
        self, layout: IndexLayout, dimensions: int, stamp: str, owned: VectorsOf | None = None
    ) -> None:
        self.dimensions = dimensions
        self.stamp = stamp
        self._layout = layout
        self._owned = owned

    def open(self, name: Name, wanted: Set[str] | None) -> VectorTable:
        """The table on disk; an empty one if it is missing, damaged or another index's.

        :param wanted: the only ids to show; None for all.
        """
        try:
            table = VectorTable.open(self._layout.vectors, name)
        except IndexMissing:
            return self._empty()
        except IndexDamaged:
            # Its size and time may be what they were: the next run would not look.
            break_seal(self._layout, ["vectors"])
            return self._empty()
        if (table.stamp, table.dimensions) != (self.stamp, self.dimensions):
            return self._empty()
        if wanted is None:
            return table
        return table.without([one for one in table.ids if one not in wanted])

    def complete(
        self,
        name: Name,
        table: VectorTable,
        missing: Iterable[str],
        wanted: Set[str] | None = None,
    ) -> tuple[VectorTable, str | None]:
        """The table with the missing ids too, and what to tell people if some are missing still."""
        left = sorted(one for one in missing if one not in table)
        if left:
            table = self._newer(name, table, left, wanted).restored(left)
            if wanted is None:
                left = [one for one in left if one not in table]
            elif len(table) == len(wanted):
                # It shows wanted ids only: as many are the same.
                left = []
            else:
                left = sorted(one for one in wanted if one not in table)
        if not left:
            return table, None
        try:
            ids, matrix = self._from_store(name, left)
        except (IndexLocked, IndexUnwritable, IndexDamaged) as exc:
            return table, f"{len(left)} {name} have no vector here: {exc}"
        table = table.with_tail(ids, matrix)
        lost = len(left) - len(ids)
        return table, f"{lost} {name} have no vector; {REBUILD}" if lost else None

    def _empty(self) -> VectorTable:
        return VectorTable.empty(self.dimensions, stamp=self.stamp)

    def _newer(
        self, name: Name, table: VectorTable, missing: Sequence[str], wanted: Set[str] | None
    ) -> VectorTable:
        """The table with the parts that were written since it was read."""
        folder = self._layout.vectors
        try:
            said = table_files.read_manifest(folder, name)
            if (said.stamp, said.dimensions) != (self.stamp, self.dimensions):
                return table
            # The large part written anew: what is missing stands after it, or else in it.
            anew = is_anew(said, table)
            known = {*table.files, said.parts[0].file} if anew else table.files
            found = table_files.read(folder, name, known=known)
        except (IndexMissing, IndexDamaged):
            return table
        for ids, matrix in found.parts:
            # Joined parts hold rows that are known from before, and new ones.
            new = [at for at, one in enumerate(ids) if not table.holds(one)]
            if not new:
                continue
            whole = len(new) == len(ids)
            added = ids if whole else [ids[at] for at in new]
            table = table.with_tail(added, np.asarray(matrix) if whole else matrix[new])
            if wanted is not None:
                table = table.without([one for one in added if one not in wanted])
        if anew and not all(map(table.holds, missing)):
            return self.open(name, wanted)
        files = frozenset(part.file for part in found.manifest.parts)
        # Until the large part is read, the table is seen to be an old one.
        return replace(table, files=files - {said.parts[0].file} if anew else files)

    def _from_store(self, name: Name, ids: Sequence[str]) -> tuple[list[str], Matrix]:
        if self._owned is not None:
            return self._owned().get(name, ids)
        with WriterLock(self._layout, "notehop, reading vectors"):
            if not self._layout.chroma.is_dir():
                raise IndexDamaged(
                    f"{self._layout.chroma}: the vectors are gone; run: notehop index --rebuild"
                )
            with Vectors.open(self._layout.chroma, self.dimensions) as vectors:
                ids, matrix = vectors.get(name, ids)
        # A store whose files were harmed gives vectors of zeros, and says nothing.
        whole = np.flatnonzero(matrix.any(axis=1))
        return [ids[row] for row in whole.tolist()], matrix[whole]
