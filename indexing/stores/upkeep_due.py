"""When the derived indexes on disk have fallen so far behind that they are brought up to date.

Touches: index (reads).
"""

from __future__ import annotations

from enum import IntEnum
from typing import get_args

from notehop.config.errors import IndexDamaged, IndexMissing
from notehop.indexing.stores import table_files
from notehop.indexing.stores.catalog import Catalog, CatalogSnapshot
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lexical_segments import read_about
from notehop.indexing.stores.limits import LIMITS, Limits
from notehop.indexing.stores.model import Collection
from notehop.indexing.stores.reader_holdings import dimensions_of
from notehop.indexing.stores.table_files import Manifest

NAMES: tuple[Collection, ...] = get_args(Collection)

_PRESSING = 4
"""How many times as much is due at once."""


class Due(IntEnum):
    """Whether, and when, :func:`~indexing.stores.reader_upkeep.bring_up_to_date` should run."""

    NOTHING = 0
    WHEN_QUIET = 1
    NOW = 2


def upkeep_due(layout: IndexLayout, catalog: Catalog, limits: Limits = LIMITS) -> Due:
    """Whether there is something to bring up to date; a few milliseconds at any size.

    After a small change there is not: readers take it in from the catalog. ``WHEN_QUIET``,
    readers that open the index now have some catching up to do; ``NOW``, that holds them up, or
    something is missing or another index's.
    """
    with catalog.snapshot() as view:
        if view.fingerprint is None:
            return Due.NOTHING
        tables = (
            max(parts_due(layout, name, limits), table_due(layout, view, name, limits))
            for name in NAMES
        )
        return max(*tables, lexical_due(layout, view, limits))


def parts_due(layout: IndexLayout, name: Collection, limits: Limits) -> Due:
    """Whether a table has come to have too many parts."""
    said = manifest_of(layout, name)
    return Due.NOW if said is None else _over(len(said.parts), limits.table_parts)


def table_due(layout: IndexLayout, view: CatalogSnapshot, name: Collection, limits: Limits) -> Due:
    """Whether a table has to be compared with the catalog."""
    said = manifest_of(layout, name)
    if said is None or not said.generation or not fits(said, view):
        return Due.NOW
    try:
        table_files.check_sizes(layout.vectors, said)
    except IndexDamaged:
        return Due.NOW
    return _behind(layout, view, said.generation, limits)


def lexical_due(layout: IndexLayout, view: CatalogSnapshot, limits: Limits) -> Due:
    """Whether the lexical index has to be caught up and written."""
    try:
        generation, made_for = read_about(layout.lexical)
    except IndexDamaged:
        return Due.NOW
    if made_for != view.stamp:
        return Due.NOW
    return _behind(layout, view, generation, limits)


def manifest_of(layout: IndexLayout, name: Collection) -> Manifest | None:
    """What the table on disk is; None if there is none that can be read."""
    try:
        return table_files.read_manifest(layout.vectors, name)
    except (IndexMissing, IndexDamaged):
        return None


def fits(said: Manifest, view: CatalogSnapshot) -> bool:
    """Whether a table is one of this index."""
    return (said.stamp, said.dimensions) == (view.stamp, dimensions_of(view.fingerprint))


def _behind(layout: IndexLayout, view: CatalogSnapshot, generation: int, limits: Limits) -> Due:
    if generation == view.generation:
        return Due.NOTHING
    most = max(limits.changed_notes, _chunks(layout) // limits.chunks_each)
    return _over(len(view.changed_paths(generation)), most)


def _chunks(layout: IndexLayout) -> int:
    """How many chunks there are, those among them that are gone."""
    said = manifest_of(layout, "chunks")
    return sum(part.rows for part in said.parts) if said is not None else 0


def _over(count: int, limit: int) -> Due:
    if count <= limit:
        return Due.NOTHING
    return Due.WHEN_QUIET if count <= _PRESSING * limit else Due.NOW
