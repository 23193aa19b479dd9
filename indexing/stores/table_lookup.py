"""Finds a few vectors of a table by id, without reading the rest of it.

To know all ids takes a tenth of a second and 50 MB at 300,000 rows; to look for some of them in the
bytes of the list takes milliseconds.

Touches: index (reads).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from notehop.config.errors import IndexDamaged, IndexMissing
from notehop.indexing.stores import table_files
from notehop.indexing.stores.table_files import Manifest, PartFile
from notehop.indexing.stores.table_rows import Matrix

_HEAD = 8
"""Bytes of an id that are compared first, as one number."""

_BREAK = 10
"""The byte between two ids."""

_OFF = 1e-2
"""How far from 1 the length of a vector may be: room for bfloat16."""


def find_rows(
    folder: Path, name: str, stamp: str, dimensions: int, ids: Iterable[str]
) -> tuple[list[str], Matrix]:
    """Those of the ids that a table holds, sorted, and their vectors, shape (found, dimensions).

    A table that is not there, is damaged or belongs to another catalog holds none, and neither does
    one whose vector has not length 1: the store may have a better one.

    :param stamp: that of the catalog.
    """
    nothing = np.empty((0, dimensions), dtype=np.float32)
    left = sorted(set(ids))
    try:
        manifest = table_files.read_manifest(folder, name)
    except (IndexMissing, IndexDamaged):
        return [], nothing
    if (manifest.stamp, manifest.dimensions) != (stamp, dimensions):
        return [], nothing
    found: dict[str, Matrix] = {}
    # The newest first: of an id in two parts its row counts.
    for part in reversed(manifest.parts):
        if not left:
            break
        found |= _found(folder, manifest, part, left)
        left = [one for one in left if one not in found]
    known = sorted(found)
    return known, np.array([found[one] for one in known]) if known else nothing


def _found(folder: Path, manifest: Manifest, part: PartFile, ids: list[str]) -> dict[str, Matrix]:
    try:
        rows = _places(folder, part, ids)
        if rows is None:
            wanted = frozenset(ids)
            listed = table_files.read_ids(folder, part)
            rows = {one: row for row, one in enumerate(listed) if one in wanted}
        if not rows:
            return {}
        vectors = table_files.read_rows(folder, part, manifest.dimensions, [*rows.values()])
    except (IndexDamaged, OSError):
        return {}
    with np.errstate(all="ignore"):
        right = np.abs(np.linalg.norm(vectors, axis=1) - 1) <= _OFF
    return {one: row for one, row, good in zip(rows, vectors, right, strict=True) if good}


def _places(folder: Path, part: PartFile, ids: Collection[str]) -> dict[str, int] | None:
    """Where in a part the ids stand; None if its ids are not all of one length.

    :raises OSError: if its list cannot be read.
    """
    listed: NDArray[np.uint8] = np.fromfile(folder / f"{part.file}.ids", dtype=np.uint8)
    width, rest = divmod(len(listed) + 1, part.rows)
    if rest or width <= _HEAD or (listed[width - 1 :: width] != _BREAK).any():
        return None
    asked = {one.encode(): one for one in ids}
    heads = {one[:_HEAD] for one in asked if len(one) == width - 1}
    # Each number is the beginning of a line; the last line has no break after it.
    numbers = np.ndarray((part.rows,), dtype="<u8", buffer=listed, strides=(width,))
    wanted = np.array([int.from_bytes(head, "little") for head in heads], dtype="<u8")
    rows: dict[str, int] = {}
    for row in np.flatnonzero(np.isin(numbers, wanted)).tolist():
        one = asked.get(listed[row * width : (row + 1) * width - 1].tobytes())
        if one is not None:
            rows[one] = row
    return rows
