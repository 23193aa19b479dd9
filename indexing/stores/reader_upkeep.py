"""Writes what readers would otherwise have to catch up on: the derived indexes of a generation.

Touches: index (reads and writes; under the writer lock).
"""

from __future__ import annotations

from collections.abc import Sequence

from notehop.config.errors import IndexDamaged
from notehop.indexing.stores import table_files
from notehop.indexing.stores.catalog import Catalog, CatalogSnapshot
from notehop.indexing.stores.catalog_engine import REBUILD
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.stores.limits import LIMITS, Limits
from notehop.indexing.stores.model import Collection
from notehop.indexing.stores.reader_holdings import catch_up, dimensions_of
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

__all__ = ["Due", "bring_up_to_date", "upkeep_due"]

_GROWTH = 2
"""Joined are the newest parts, back to the first that is more than twice as large as all after it.
So no more than a dozen are left at 100,000 notes, and a vector is written again only when what it
stands with has grown by half: some twenty times, however many small changes there are."""

_SHARE = 4
"""A table is written anew, without what is gone, when the parts after the first hold more than a
quarter of its rows. When what is gone is a third of them, too."""


def bring_up_to_date(
    layout: IndexLayout,
    catalog: Catalog,
    *,
    thorough: bool = False,
    limits: Limits = LIMITS,
) -> None:
    """Make tables and lexical index on disk those of the newest generation, where that is due.

    It may take seconds on a large vault; readers go on meanwhile. The work grows with the changes:
    what is written whole is written once for a share of it that changed, so that a thousand small
    changes with a call after each cost what one change of all of that would, times a constant.

    :param thorough: write all anew, so that nothing of a chunk that left stays in a file.
    :raises IndexDamaged: if the catalog lacks a vector.
    :raises IndexUnwritable: if the disk is full or read-only; what was there stays.
    """
    with catalog.snapshot() as view:
        if view.fingerprint is None:
            return
        for name in NAMES:
            if thorough or table_due(layout, view, name, limits):
                _complete(layout, view, name, limits, anew=thorough)
            elif parts_due(layout, name, limits):
                _join(layout, view, name)
        if thorough or lexical_due(layout, view, limits):
            _lexical(layout, view, limits)


def _complete(
    layout: IndexLayout,
    view: CatalogSnapshot,
    name: Collection,
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
            ids, matrix = _vectors(view, name, missing)
            VectorTable.append(folder, name, ids, matrix, stamp=stamp, generation=generation)
            rows = [part.rows for part in table_files.read_manifest(folder, name).parts]
            if not (anew or (sum(rows) - len(wanted)) * 3 > sum(rows)):
                if parts_due(layout, name, limits):
                    _join(layout, view, name)
                return
            try:
                VectorTable.rewrite(folder, name, frozenset(wanted), generation)
            except IndexDamaged:
                pass  # It is made of the catalog instead.
            else:
                return
    ids, matrix = _vectors(view, name, wanted)
    VectorTable.build(folder, name, ids, matrix, generation, stamp=stamp)


def _join(layout: IndexLayout, view: CatalogSnapshot, name: Collection) -> None:
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
        ids, matrix = _vectors(view, name, _wanted(view, name, 0))
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


def _vectors(
    view: CatalogSnapshot, name: Collection, ids: Sequence[str]
) -> tuple[list[str], Matrix]:
    found, matrix = view.vectors(name, ids)
    if len(found) < len(ids):
        lost = len(ids) - len(found)
        raise IndexDamaged(f"{view.label}: {lost} vectors of {name} are missing; {REBUILD}")
    return found, matrix.reshape(len(found), dimensions_of(view.fingerprint))


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
