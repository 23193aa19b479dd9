"""What the catalog's files were like when the last run ended, to see when they are not any more.

A difference proves nothing (a copied folder has other times): it says that every row has to be looked
at. What is made from the catalog carries its own checksums.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from notehop.indexing.stores.layout import IndexLayout, replace_file

FileMarks = Mapping[str, tuple[int, int]]
"""Path in the index -> (size in bytes, time of the last change in ns)."""


@dataclass(frozen=True, slots=True)
class CatalogState:
    """``generation`` and ``stamp`` are those of the catalog."""

    generation: int
    stamp: str
    files: FileMarks

    def fits(self, layout: IndexLayout) -> bool:
        """Whether the files are as they were; a catalog that is open by a writer has others."""
        return self.files == _marks(layout)


def write_catalog_state(layout: IndexLayout, generation: int, stamp: str) -> None:
    """Write down what the files are like now, of a catalog that is whole and closed.

    Where the disk refuses, what was written before stays: the next run looks closer than it need.
    """
    with suppress(OSError):
        state = CatalogState(generation, stamp, _marks(layout))
        if state != read_catalog_state(layout):
            replace_file(layout.catalog_state, json.dumps(asdict(state)))


def read_catalog_state(layout: IndexLayout) -> CatalogState | None:
    """What was written down; None if nothing was, or if it cannot be read."""
    try:
        found = json.loads(layout.catalog_state.read_bytes())
        files = {str(name): (int(size), int(at)) for name, (size, at) in found["files"].items()}
        return CatalogState(int(found["generation"]), str(found["stamp"]), files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def file_marks(root: Path, files: Iterable[Path]) -> dict[str, tuple[int, int]]:
    """The marks of those files that are there and not empty."""
    marks: dict[str, tuple[int, int]] = {}
    for file in files:
        with suppress(OSError):
            found = file.stat()
            if found.st_size and file.is_file():
                marks[file.relative_to(root).as_posix()] = found.st_size, found.st_mtime_ns
    return marks


def _marks(layout: IndexLayout) -> FileMarks:
    # The file -shm is mapped by whoever reads: it says nothing.
    return file_marks(layout.root, (f for f in layout.catalog_files if f.suffix != ".sqlite-shm"))
