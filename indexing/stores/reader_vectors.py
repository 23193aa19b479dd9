"""Vector tables that match a generation: read from disk, and completed from the catalog.

Touches: index (reads).
"""

from __future__ import annotations

from collections.abc import Iterable

from notehop.config.errors import IndexDamaged, IndexMissing
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.catalog_engine import REBUILD
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.model import Collection
from notehop.indexing.stores.table import VectorTable
from notehop.indexing.stores.table_files import Manifest


def is_anew(said: Manifest, table: VectorTable) -> bool:
    """Whether the large part of a table was written anew since it was read."""
    return bool(said.parts) and said.parts[0].file not in table.files


def open_table(
    layout: IndexLayout, view: CatalogSnapshot, name: Collection, dimensions: int
) -> VectorTable:
    """The table on disk; an empty one if it is missing, damaged or another index's."""
    empty = VectorTable.empty(dimensions, stamp=view.stamp)
    try:
        table = VectorTable.open(layout.vectors, name)
    except (IndexMissing, IndexDamaged):
        return empty
    return table if (table.stamp, table.dimensions) == (view.stamp, dimensions) else empty


def completed(
    view: CatalogSnapshot, name: Collection, table: VectorTable, wanted: Iterable[str]
) -> tuple[VectorTable, str | None]:
    """The table with all wanted ids, and what to tell people if the catalog lacks one, too."""
    left = [one for one in wanted if one not in table]
    if not left:
        return table, None
    table = table.restored(left)
    left = [one for one in left if one not in table]
    ids, matrix = view.vectors(name, left)
    lost = len(left) - len(ids)
    told = f"{lost} {name} have no vector; {REBUILD}" if lost else None
    return (table.with_tail(ids, matrix) if ids else table), told
