"""Writes what readers would otherwise have to catch up on: the derived indexes of a generation.

Touches: index (reads and writes; under the writer lock).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from notehop.config.errors import IndexDamaged
from notehop.indexing.stores import table_files
from notehop.indexing.stores.catalog import Catalog, CatalogSnapshot
from notehop.indexing.stores.catalog_engine import REBUILD
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.stores.limits import LIMITS, Limits
from notehop.indexing.stores.reader_holdings import catch_up, dimensions_of
from notehop.indexing.stores.reader_vectors import VectorsOf
from notehop.indexing.stores.table import Matrix, VectorTable
from notehop.indexing.stores.table_files import Manifest
from notehop.indexing.stores.upkeep_due import (
    NAMES,
    Due,
    fits,
    lexical_due,
    manifest_of,
    parts_due,
    table_due,
    upkeep_due,
)
from notehop.indexing.stores.vectors import Collection

__all__ = ["Due", "bring_up_to_date", "upkeep_due", "write_ahead"]

_GROWTH = 2
"""Joined are the newest parts, back to the first that is more than twice as large as all after it.
So no more than a dozen are left at 100,000 notes, and a vector is written again only when what it
stands with has grown by half: some twenty times, however many small changes there are."""

_SHARE = 4
"""A table is written anew, without what is gone, when the parts after the first hold more than a
quarter of its rows. When what is gone is a third of them, too."""


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
    layout: IndexLayout,
    catalog: Catalog,
    vectors: VectorsOf,
    *,
    thorough: bool = False,
    limits: Limits = LIMITS,
) -> None:
    """Make tables and lexical index on disk those of the newest generation, where that is due.

    It may take seconds on a large vault; readers go on meanwhile. The work grows with the changes:
    what is written whole is written once for a share of it that changed, so that a thousand small
    changes with a call after each cost what one change of all of that would, times a constant.

    :param thorough: write all anew, so that nothing of a chunk that left stays in a file.
    :param vectors: gives the vector store; asked only for vectors that the tables lack.
    :raises IndexDamaged: if the store lacks them too.
    :raises IndexUnwritable: if the disk is full or read-only; what was there stays.
    """
    with catalog.snapshot() as view:
        if view.fingerprint is None:
            return
        for name in NAMES:
            if thorough or table_due(layout, view, name, limits):
                _complete(layout, view, name, vectors, limits, anew=thorough)
            elif parts_due(layout, name, limits):
                _join(layout, view, name, vectors)
        if thorough or lexical_due(layout, view, limits):
            _lexical(layout, view, limits)


def _complete(
    layout: IndexLayout,
    view: CatalogSnapshot,
    name: Collection,
    vectors: VectorsOf,
    limits: Limits,
    *,
    anew: bool = False,
) -> None:
    """Make a table that of the generation: add what it lacks, leave out much that is gone."""
    folder, generation, stamp = layout.vectors, view.generation, view.stamp
    said = manifest_of(layout, name)
    wanted = _wanted(view, name, 0)
    if said is not None and fits(said, view):
        missing = _missing(layout, said, _wanted(view, name, said.generation))
        if missing is not None:
            ids, matrix = _from_store(view, name, missing, vectors)
            VectorTable.append(folder, name, ids, matrix, stamp=stamp, generation=generation)
            rows = [part.rows for part in table_files.read_manifest(folder, name).parts]
            if not (anew or (sum(rows) - len(wanted)) * 3 > sum(rows)):
                if parts_due(layout, name, limits):
                    _join(layout, view, name, vectors)
                return
            try:
                VectorTable.rewrite(folder, name, frozenset(wanted), generation)
            except IndexDamaged:
                pass  # It is made of the store instead.
            else:
                return
    ids, matrix = _from_store(view, name, wanted, vectors)
    VectorTable.build(folder, name, ids, matrix, generation, stamp=stamp)


def _join(layout: IndexLayout, view: CatalogSnapshot, name: Collection, vectors: VectorsOf) -> None:
    """Join parts of a table, which may lack or hold more than the generation does."""
    folder = layout.vectors
    said = table_files.read_manifest(folder, name)
    rows = [part.rows for part in said.parts]
    try:
        if sum(rows[1:]) * _SHARE > sum(rows):
            wanted = frozenset(_wanted(view, name, 0))
            VectorTable.rewrite(folder, name, wanted, said.generation)
        else:
            VectorTable.merge(folder, name, _joined_from(rows), said.generation)
    except IndexDamaged:
        ids, matrix = _from_store(view, name, _wanted(view, name, 0), vectors)
        VectorTable.build(folder, name, ids, matrix, view.generation, stamp=view.stamp)


def _joined_from(rows: Sequence[int]) -> int:
    """The first of the parts to be joined; the large one is never among them."""
    first = len(rows) - 1
    while first > 1 and rows[first - 1] <= _GROWTH * sum(rows[first:]):
        first -= 1
    return first


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
    view: CatalogSnapshot, name: Collection, ids: Sequence[str], vectors: VectorsOf
) -> tuple[list[str], Matrix]:
    if not ids:
        return [], np.empty((0, dimensions_of(view.fingerprint)), dtype=np.float32)
    store = vectors()
    found, matrix = store.get(name, ids)
    if len(found) < len(ids):
        raise IndexDamaged(
            f"{store.label}: {len(ids) - len(found)} vectors of {name} are missing; {REBUILD}"
        )
    return found, matrix


def _lexical(layout: IndexLayout, view: CatalogSnapshot, limits: Limits) -> None:
    try:
        index, generation, made_for = LexicalIndex.load(layout.lexical, limits=limits)
    except IndexDamaged:
        made_for = ""
    if made_for != view.stamp:
        index = LexicalIndex.build(view.chunk_tokens(), limits=limits)
    else:
        catch_up(index, generation, view, {key.id for key in view.chunk_keys()})
    index.save(layout.lexical, view.generation, view.stamp)
