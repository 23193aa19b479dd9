"""What a follower sees of its files at a glance.

Touches: vault-read, index (sizes and times of both).
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from notehop.indexing.stores.layout import IndexLayout

HALF_WRITTEN = 1.0
"""Seconds that an empty file is given to be filled: some programs empty a file, then write it."""

Marks = tuple[tuple[int, int, int] | None, ...]
"""(inode, size, time) of some files; None for one that is not there."""


def is_there(vault: Path) -> bool:
    """Whether the folder is there; a disk that answers with an error is not."""
    try:
        return vault.is_dir()
    except OSError:
        return False


def half_written(vault: Path, paths: Iterable[str]) -> set[str]:
    """The paths of files that were emptied just now."""
    found = set()
    for path in paths:
        try:
            status = (vault / path).stat()
        except OSError:
            continue
        if path and status.st_size == 0 and 0 <= time.time() - status.st_mtime < HALF_WRITTEN:
            found.add(path)
    return found


def marks(layout: IndexLayout) -> Marks:
    """What changes when an index is written, replaced or restored."""
    return tuple(_mark(path) for path in (layout.catalog, layout.seal))


def _mark(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
