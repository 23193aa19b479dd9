"""Whether what is derived from the catalog agrees with it: vector tables, lexical index, store.

A part that cannot be read, or is of another index, the next run makes anew. One that is whole and
lacks something is what no run would notice: a rebuild repairs it.

Touches: index (reads).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import func, select

from notehop.config.errors import IndexDamaged, IndexMissing
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.chroma import is_untouched, read_mirror
from notehop.indexing.stores.finding import (
    INDEX,
    REBUILD,
    Finding,
    PartState,
    lacking,
    said_of,
    some,
)
from notehop.indexing.stores.fingerprint import dimensions_of
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.stores.model import Collection as Name
from notehop.indexing.stores.schema import LINKS
from notehop.indexing.stores.vector_index import VectorIndex

NAMES: tuple[Name, ...] = ("chunks", "links")

_OFF = 1e-3
"""By how much a vector may miss length 1: what rounding does stays below it."""

_SLICE = 8_192
"""Vectors looked at together: 13 MB at 384 dimensions."""

Held = Mapping[str, str]
"""Id of a chunk or of a sentence -> path of a note that it is of."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found, and what there is."""

    findings: tuple[Finding, ...] = ()
    parts: tuple[PartState, ...] = ()


def wanted_of(view: CatalogSnapshot) -> dict[Name, Held]:
    """What the catalog says that there must be a vector of."""
    chunks = {one: path for path, ids in view.chunk_ids().items() for one in ids}
    query = (
        select(LINKS.c.sentence_id, func.min(LINKS.c.path))
        .where(LINKS.c.sentence_id.is_not(None))
        .group_by(LINKS.c.sentence_id)
    )
    return {"chunks": chunks, "links": dict(view.answer(query, lambda row: (row[0], row[1])))}


def check_table(layout: IndexLayout, view: CatalogSnapshot, name: Name, wanted: Held) -> Checked:
    """Compare a vector table with the catalog."""
    part = f"vectors/{name}"
    try:
        table = VectorIndex.read(layout.vectors_of(name))
    except IndexMissing:
        return Checked((lacking(part, "every vector", wanted, wanted.values()),) if wanted else ())
    except IndexDamaged as exc:
        return Checked((Finding(part, said_of(exc), INDEX),))
    state = PartState(part, len(table), table.generation)
    if (table.stamp, table.dimensions) != (view.stamp, dimensions_of(view.fingerprint)):
        return Checked((Finding(part, "it is of another index", INDEX, len(table)),), (state,))
    findings: list[Finding] = []
    if table.generation > view.generation:
        findings.append(Finding(part, _ahead(table.generation, view.generation), INDEX))
    # What came since is completed from the catalog by whoever reads it.
    newer = set(view.changed_paths(table.generation))
    lacks = (one for one, path in wanted.items() if one not in table and path not in newer)
    if missing := list(lacks):
        problem, paths = f"it lacks vectors of {name}", some(wanted[one] for one in missing)
        # Of an older generation it is caught up with; else a run takes it for complete.
        command = INDEX if table.generation < view.generation else REBUILD
        findings.append(Finding(part, problem, command, len(missing), paths))
    if bad := _of_wrong_length(table, [one for one in wanted if one in table]):
        problem, paths = "vectors of a wrong length", some(wanted[one] for one in bad)
        findings.append(Finding(part, problem, REBUILD, len(bad), paths))
    return Checked(tuple(findings), (state,))


def check_lexical(layout: IndexLayout, view: CatalogSnapshot, wanted: Held) -> Checked:
    """Compare the lexical index on disk with the catalog; it may be some generations behind."""
    part = "lexical"
    try:
        index, generation, made_for = LexicalIndex.load(layout.lexical)
    except IndexDamaged as exc:
        return Checked((Finding(part, said_of(exc), INDEX),) if wanted else ())
    state = PartState(part, len(index), generation)
    if made_for != view.stamp:
        return Checked((Finding(part, "it is of another index", INDEX, len(index)),), (state,))
    if generation > view.generation:
        return Checked((Finding(part, _ahead(generation, view.generation), INDEX),), (state,))
    held = set(index.ids())
    # What came or went since is taken in by whoever reads it.
    newer = set(view.changed_paths(generation))
    missing = [one for one, path in wanted.items() if one not in held and path not in newer]
    findings = []
    if missing:
        paths = some(wanted[one] for one in missing)
        findings.append(Finding(part, "it lacks chunks", REBUILD, len(missing), paths))
    if not newer and (extra := held - wanted.keys()):
        findings.append(Finding(part, "chunks that no note has", REBUILD, len(extra)))
    return Checked(tuple(findings), (state,))


def check_mirror(layout: IndexLayout, view: CatalogSnapshot) -> Checked:
    """Whether the mirror in Chroma is there as it was written; one that is behind is no finding."""
    part = "chroma"
    state = read_mirror(layout)
    if state is None:
        problem = "there is no copy for other programs"
        return Checked((Finding(part, problem, INDEX, broken=False),))
    parts = (PartState(part, state.chunks, state.generation),)
    if state.stamp != view.stamp or state.generation > view.generation:
        return Checked((Finding(part, "it is of another index", INDEX, broken=False),), parts)
    if not is_untouched(layout, state):
        problem = "its files are other than written"
        return Checked((Finding(part, problem, INDEX, broken=False),), parts)
    return Checked((), parts)


def _of_wrong_length(table: VectorIndex, ids: Sequence[str]) -> list[str]:
    bad: list[str] = []
    for start in range(0, len(ids), _SLICE):
        found, matrix = table.rows(ids[start : start + _SLICE])
        # What is no number, or too large to be squared, is off too.
        with np.errstate(all="ignore"):
            off = ~(np.abs(np.linalg.norm(matrix, axis=1) - 1) <= _OFF)
        bad += [found[row] for row in np.flatnonzero(off).tolist()]
    return bad


def _ahead(generation: int, newest: int) -> str:
    return f"it is of generation {generation}, and the catalog of {newest}: an older copy of it?"
