"""Finds out whether a vector store can be used, in a process of its own.

Files that were cut short or overwritten do not always make the store fail: it may hand out wrong
vectors, end its process or read for ever. So another process opens it, reads every vector, compares
it with the tables, and searches and writes a little; what becomes of that process is the answer.

Run as ``python -m notehop.indexing.stores.probe CHROMA TABLES DIMENSIONS``.

Touches: index (reads; writes to the store what it holds already), processes.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import get_args

import numpy as np

from notehop.config.errors import IndexFailure, IndexUnwritable
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.table import Matrix, VectorTable
from notehop.indexing.stores.vectors import Collection, Vectors

Probe = Callable[[IndexLayout, int, int], str | None]
"""(index, dimensions, vectors it should hold) -> what is wrong with its vector store, or None."""

_BROKEN = 3
"""The exit code for a store that was read and found wrong."""

_NO_VERDICT = (1, 2)
"""Python's exit codes when the process itself went wrong, which says nothing about the store."""

_SECONDS = 60.0
_SECONDS_A_VECTOR = 0.002
"""How long it may take; reading and comparing takes a tenth of that."""

_DATABASE = "chroma.sqlite3"

_BATCH = 1_000
_SEARCHES = 50

_APART = 1e-3
"""Difference in a number above which two vectors are not the same."""

_NEAR = 0.99
_FOUND = 0.9
"""Share of the vectors searched for that must find themselves or an equal: the search is
approximate, and a broken graph finds few."""


def probe_apart(layout: IndexLayout, dimensions: int, vectors: int) -> str | None:
    """What is wrong with the vector store of an index; None if nothing is, or nobody can tell."""
    # -P: the folder that this process runs in, a vault perhaps, is not where modules come from.
    command = [sys.executable, "-P", "-m", "notehop.indexing.stores.probe"]
    command += [str(layout.chroma), str(layout.vectors), str(dimensions)]
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS + _SECONDS_A_VECTOR * vectors,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "it does not answer"
    except OSError:
        return None
    if ended.returncode == _BROKEN:
        return ended.stdout.decode("utf-8", "replace").strip() or "it is broken"
    if ended.returncode == 0 or ended.returncode in _NO_VERDICT:
        return None
    return "it ends the process that reads it"


def examine(chroma: Path, tables: Path, dimensions: int) -> str | None:
    """Read, search and write the store; what is wrong with it, or None.

    It may end this process, or take for ever.
    """
    try:
        _examine_database(chroma / _DATABASE)
        with Vectors.open(chroma, dimensions) as store:
            for name in get_args(Collection):
                wrong = _examine_collection(store, name, tables)
                if wrong is not None:
                    return wrong
    except IndexUnwritable:
        # Of the disk, which says nothing about the store: the run will meet it too, and say so.
        return None
    except (IndexFailure, sqlite3.Error) as exc:
        # Of an error of ours the cause: what the message says to do is done already.
        lines = str(exc.__cause__ or exc).strip().splitlines()
        return lines[0] if lines else type(exc).__name__
    return None


def _examine_database(file: Path) -> None:
    """Let SQLite look at every page: the store itself reads only those that it needs.

    :raises sqlite3.Error: if it is missing or damaged.
    """
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=rw", uri=True)) as database:
        found = database.execute("PRAGMA integrity_check(1)").fetchall()
        if found != [("ok",)] or not database.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise sqlite3.DatabaseError(f"{file.name} is damaged")


def _examine_collection(store: Vectors, name: Collection, tables: Path) -> str | None:
    ids = sorted(store.ids(name))
    table = _table(tables, name, store.dimensions)
    for start in range(0, len(ids), _BATCH):
        asked = ids[start : start + _BATCH]
        found, matrix = store.get(name, asked)
        if found != asked or not np.isfinite(matrix).all():
            return f"it does not hold all vectors of {name} that it lists"
        if table is not None and not _agree(found, matrix, table):
            return f"vectors of {name} are not those that were written"
    if not ids:
        return None
    spread = ids[:: max(1, len(ids) // _SEARCHES)]
    _, matrix = store.get(name, spread)
    near = [store.nearest(name, row, 1) for row in matrix if row.any()]
    if sum(bool(hits) and hits[0][1] >= _NEAR for hits in near) < _FOUND * len(near):
        return f"a search does not find vectors of {name}"
    store.upsert(name, spread[:1], matrix[:1])
    return None


def _agree(ids: list[str], matrix: Matrix, table: VectorTable) -> bool:
    known, rows = table.rows(ids)
    place = {one: at for at, one in enumerate(ids)}
    return not len(known) or bool((np.abs(matrix[[place[o] for o in known]] - rows) < _APART).all())


def _table(folder: Path, name: Collection, dimensions: int) -> VectorTable | None:
    try:
        table = VectorTable.open(folder, name)
    except IndexFailure:
        return None
    return table if table.dimensions == dimensions else None


def main(arguments: list[str]) -> int:
    """Examine the store that the arguments name; the exit code says what was found."""
    chroma, tables, dimensions = arguments
    wrong = examine(Path(chroma), Path(tables), int(dimensions))
    if wrong is None:
        return 0
    sys.stdout.write(wrong)
    return _BROKEN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
