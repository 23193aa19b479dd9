"""Writes what readers would otherwise have to catch up on: the derived indexes of a generation.

Touches: index (reads and writes; under the writer lock).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from config.errors import IndexDamaged, IndexMissing
from indexing.stores import table_files
from indexing.stores.catalog import Catalog, CatalogSnapshot
from indexing.stores.catalog_engine import REBUILD
from indexing.stores.layout import IndexLayout
from indexing.stores.lexical import LexicalIndex
from indexing.stores.reader_holdings import catch_up, dimensions_of
from indexing.stores.reader_vectors import VectorsOf
from indexing.stores.table import Matrix, VectorTable
from indexing.stores.table_files import Manifest
from indexing.stores.vectors import Collection

_PARTS = 16
"""Parts of a table above which they are joined: each costs a search some 20 microseconds."""

_SHARE = 4
"""Joined are the parts after the first while they hold a quarter of the rows or less; then all are,
without what is gone. So a vector is written four times, however many small changes there are."""

_FEW = 32
"""Changed notes up to which the lexical index is left as it is on disk: a reader takes them in from
the catalog in milliseconds, and writing it whole takes longer."""


def write_ahead(
    layout: IndexLayout,
    stamp: str,
    *,
    chunks: tuple[Sequence[str], NDArray[Any]],
    links: tuple[Sequence[str], NDArray[Any]],
) -> None:
    """Add the vectors of a batch to the tables, before the catalog commits it.

    Readers of other processes may not read the vector store while it is written; this is how they
    find the vectors of the new generation at once.

    :param stamp: the catalog's, with the fingerprint that the batch commits if it is the first:
        ``stamp_of({**catalog.meta(), **batch.meta})``.
    :param chunks: ids and vectors, shape (n, dimensions); ``links`` likewise.
    :raises IndexUnwritable: if the disk is full or read-only.
    """
    for name, (ids, matrix) in (("chunks", chunks), ("links", links)):
        if len(ids):
            VectorTable.append(layout.vectors, name, ids, matrix, stamp=stamp)


def bring_up_to_date(
    layout: IndexLayout, catalog: Catalog, vectors: VectorsOf, *, thorough: bool = False
) -> None:
    """Make tables and lexical index those of the newest generation; cheap if they are.

    :param thorough: write them anew, so that nothing of a chunk that left stays in a file.
    :param vectors: gives the vector store; asked only for vectors that the tables lack.
    :raises IndexDamaged: if the store lacks them too.
    :raises IndexUnwritable: if the disk is full or read-only; what was there stays.
    """
    with catalog.snapshot() as view:
        if view.fingerprint is None:
            return
        _table(layout, view, "chunks", vectors, anew=thorough)
        _table(layout, view, "links", vectors, anew=thorough)
        _lexical(layout, view, few=0 if thorough else _FEW)


def _table(
    layout: IndexLayout,
    view: CatalogSnapshot,
    name: Collection,
    vectors: VectorsOf,
    *,
    anew: bool,
) -> None:
    folder, generation, stamp = layout.vectors, view.generation, view.stamp
    dimensions = dimensions_of(view.fingerprint)
    said = _manifest(layout, name)
    if said is not None and said.generation == generation and _fits(said, stamp, dimensions):
        return
    missing = None
    if said is not None and not anew and _fits(said, stamp, dimensions):
        missing = _missing(layout, said, _wanted(view, name, said.generation))
    if said is None or missing is None:
        ids, matrix = _from_store(name, _wanted(view, name, 0), dimensions, vectors)
        VectorTable.build(folder, name, ids, matrix, generation, stamp=stamp)
        return
    ids, matrix = _from_store(name, missing, dimensions, vectors)
    rows = [part.rows for part in said.parts]
    if len(rows) < _PARTS:
        VectorTable.append(folder, name, ids, matrix, stamp=stamp, generation=generation)
    elif sum(rows[1:]) * _SHARE <= sum(rows):
        VectorTable.append(folder, name, ids, matrix, stamp=stamp)
        VectorTable.merge(folder, name, generation)
    else:
        table = VectorTable.open(folder, name).with_tail(ids, matrix)
        ids, matrix = table.rows(_wanted(view, name, 0))
        VectorTable.build(folder, name, ids, matrix, generation, stamp=stamp)


def _manifest(layout: IndexLayout, name: Collection) -> Manifest | None:
    try:
        return table_files.read_manifest(layout.vectors, name)
    except (IndexMissing, IndexDamaged):
        return None


def _fits(said: Manifest, stamp: str, dimensions: int) -> bool:
    return (said.stamp, said.dimensions) == (stamp, dimensions)


def _missing(layout: IndexLayout, said: Manifest, wanted: Sequence[str]) -> list[str] | None:
    """Those of the ids that the table lacks; None if it is damaged."""
    try:
        held = table_files.held(layout.vectors, said, wanted)
    except IndexDamaged:
        return None
    return [one for one in wanted if one not in held]


def _wanted(view: CatalogSnapshot, name: Collection, since: int) -> list[str]:
    """The ids of the notes written after a generation, sorted; those of all notes for 0."""
    paths = view.changed_paths(since) if since > 0 else None
    if name == "links":
        return view.sentence_ids(paths)
    return sorted(key.id for key in view.chunk_keys(paths))


def _from_store(
    name: Collection, ids: Sequence[str], dimensions: int, vectors: VectorsOf
) -> tuple[list[str], Matrix]:
    if not ids:
        return [], np.empty((0, dimensions), dtype=np.float32)
    store = vectors()
    found, matrix = store.get(name, ids)
    if len(found) < len(ids):
        raise IndexDamaged(
            f"{store.label}: {len(ids) - len(found)} vectors of {name} are missing; {REBUILD}"
        )
    return found, matrix


def _lexical(layout: IndexLayout, view: CatalogSnapshot, *, few: int) -> None:
    try:
        index, generation, made_for = LexicalIndex.load(layout.lexical)
    except IndexDamaged:
        made_for = ""
    if made_for != view.stamp:
        index = LexicalIndex.build(view.chunk_tokens())
    elif generation == view.generation or len(view.changed_paths(generation)) <= few:
        return
    else:
        catch_up(index, generation, view, [key.id for key in view.chunk_keys()])
    index.save(layout.lexical, view.generation, view.stamp)
