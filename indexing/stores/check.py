"""What is wrong with an index: whether the rows of the catalog agree with each other, and what is
derived from it with them.

A derived part that cannot be read, or is of another index, the next run makes anew. One that is
whole and lacks something is what no run would notice: a rebuild repairs it.

Touches: index (reads).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Select, and_, func, or_, select

from notehop.config.errors import IndexDamaged, IndexMissing
from notehop.indexing.graph.model import Status
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.chroma import is_untouched, read_mirror
from notehop.indexing.stores.fingerprint import dimensions_of
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.stores.model import Collection as Name
from notehop.indexing.stores.model import Matrix, NoteStatus
from notehop.indexing.stores.schema import ATTACHMENTS, CHANGES, CHUNKS, LINKS, NAMES, NOTES
from notehop.indexing.stores.vector_index import VectorIndex

INDEX = "notehop index"
REBUILD = "notehop index --rebuild"
ELSEWHERE = "notehop index --index-dir NEW_FOLDER"

EXAMPLES = 5
"""Notes or files that a finding names."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with a part of an index.

    ``count`` says how many rows, vectors or files it concerns, ``examples`` name notes or files of
    them. ``broken`` tells whether answers suffer or notes are missing; if not, it only takes room.
    """

    part: str
    problem: str
    command: str
    count: int = 1
    examples: tuple[str, ...] = ()
    broken: bool = True


@dataclass(frozen=True, slots=True)
class PartState:
    """How much a part holds, and of which generation; None for a part that carries none."""

    part: str
    items: int
    generation: int | None = None


def said_of(error: Exception) -> str:
    """What an error of ours says, without what it says to do: the finding names that."""
    return " ".join(str(error).partition("; run:")[0].split())


def some(names: Iterable[str]) -> tuple[str, ...]:
    """A few of the names, each once, sorted."""
    return tuple(sorted(set(names))[:EXAMPLES])


Paths = Select[*tuple[Any, ...]]
"""A query for the paths of the notes concerned, one row for each row that is wrong."""

_INDEXED = select(NOTES.c.path).where(NOTES.c.status == NoteStatus.INDEXED.value)


def check_catalog(view: CatalogSnapshot) -> list[Finding]:
    """What the rows of a catalog contradict each other in; a rebuild repairs any of it.

    :param view: of a catalog whose pages and rows are as they were written
        (:meth:`notehop.indexing.stores.catalog.Catalog.verify`).
    """
    return [
        Finding("catalog", problem, REBUILD, count, paths)
        for problem, query in _contradictions(view.generation)
        for count, paths in [_told(view, query)]
        if count
    ]


def _told(view: CatalogSnapshot, query: Paths) -> tuple[int, tuple[str, ...]]:
    rows = query.subquery()
    path = rows.c[0]
    [count] = view.answer(select(func.count()).select_from(rows), lambda row: int(row[0]))
    if not count:
        return 0, ()
    few = select(path).distinct().order_by(path).limit(EXAMPLES)
    return count, tuple(view.answer(few, lambda row: str(row[0])))


def _contradictions(generation: int) -> list[tuple[str, Paths]]:
    """(what is wrong, query for it) of all that a commit of ours never leaves."""
    leads = LINKS.c.status.in_((Status.RESOLVED.value, Status.AMBIGUOUS.value))
    no_file = and_(
        LINKS.c.target_path.is_not(None),
        LINKS.c.target_path.not_in(select(NOTES.c.path)),
        LINKS.c.target_path.not_in(select(ATTACHMENTS.c.path)),
    )
    places = select(CHUNKS.c.path).group_by(CHUNKS.c.path)
    return [
        (
            "chunks of notes that are not indexed",
            select(CHUNKS.c.path).where(CHUNKS.c.path.not_in(_INDEXED)),
        ),
        (
            "indexed notes without a chunk",
            _INDEXED.where(NOTES.c.path.not_in(select(CHUNKS.c.path))),
        ),
        (
            "notes whose chunks are not in one order",
            places.having(
                or_(
                    func.min(CHUNKS.c.ordinal) != 0,
                    func.max(CHUNKS.c.ordinal) != func.count() - 1,
                    func.count(CHUNKS.c.ordinal.distinct()) != func.count(),
                )
            ),
        ),
        (
            "chunks of a generation that is not there yet",
            select(CHUNKS.c.path).where(CHUNKS.c.generation > generation),
        ),
        (
            "changes of a generation that is not there yet",
            select(CHANGES.c.path).where(CHANGES.c.generation > generation),
        ),
        (
            "links in notes that are not indexed",
            select(LINKS.c.path).where(LINKS.c.path.not_in(_INDEXED)),
        ),
        ("links that stand in no chunk of their note", _no_chunk(LINKS.c.chunk_id, LINKS.c.path)),
        (
            "links to chunks that their target does not have",
            _no_chunk(LINKS.c.target_chunk_id, LINKS.c.target_path),
        ),
        (
            "links that show no chunk of the note they lead to",
            select(LINKS.c.path).where(
                leads, LINKS.c.target_chunk_id.is_(None), LINKS.c.target_path.in_(_INDEXED)
            ),
        ),
        ("links to files that the catalog does not know", select(LINKS.c.path).where(no_file)),
        (
            "links whose status contradicts their target",
            select(LINKS.c.path).where(
                (LINKS.c.status == Status.UNRESOLVED.value) != LINKS.c.target_path.is_(None)
            ),
        ),
        (
            "indexed notes that no name finds",
            _INDEXED.where(NOTES.c.path.not_in(select(NAMES.c.path))),
        ),
        (
            "names of notes that are not indexed",
            select(NAMES.c.path).where(NAMES.c.path.not_in(_INDEXED)),
        ),
    ]


def _no_chunk(chunk: ColumnElement[Any], path: ColumnElement[Any]) -> Paths:
    """The links that name a chunk which that note does not have."""
    held = LINKS.outerjoin(CHUNKS, and_(CHUNKS.c.id == chunk, CHUNKS.c.path == path))
    return select(LINKS.c.path).select_from(held).where(chunk.is_not(None), CHUNKS.c.id.is_(None))


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


def check_sentences(view: CatalogSnapshot, wanted: Held) -> list[Finding]:
    """Whether each sentence with a link has its vector in the catalog."""
    missing, bad = dict(wanted), []
    for ids, matrix in view.all_vectors("links"):
        bad += [one for one in _of_wrong_length(ids, matrix) if one in missing]
        for one in ids:
            missing.pop(one, None)
    found = (("it lacks vectors of links", list(missing)), ("vectors of a wrong length", bad))
    return [
        Finding("catalog", problem, REBUILD, len(ids), some(wanted[one] for one in ids))
        for problem, ids in found
        if ids
    ]


def check_vectors(layout: IndexLayout, view: CatalogSnapshot, wanted: Held) -> Checked:
    """Compare the file of the vectors of chunks with the catalog."""
    part = "vectors"
    try:
        table = VectorIndex.read(layout.chunk_vectors)
    except IndexMissing:
        return Checked(
            (Finding(part, "it lacks every vector", INDEX, len(wanted), some(wanted.values())),)
            if wanted
            else ()
        )
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
        problem, paths = "it lacks vectors of chunks", some(wanted[one] for one in missing)
        # Of an older generation it is caught up with; else a run takes it for complete.
        command = INDEX if table.generation < view.generation else REBUILD
        findings.append(Finding(part, problem, command, len(missing), paths))
    if bad := _of_wrong_length(*table.rows(wanted)):
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


def _of_wrong_length(ids: Sequence[str], matrix: Matrix) -> list[str]:
    bad: list[str] = []
    for start in range(0, len(ids), _SLICE):
        # What is no number, or too large to be squared, is off too.
        with np.errstate(all="ignore"):
            off = ~(np.abs(np.linalg.norm(matrix[start : start + _SLICE], axis=1) - 1) <= _OFF)
        bad += [ids[start + row] for row in np.flatnonzero(off).tolist()]
    return bad


def _ahead(generation: int, newest: int) -> str:
    return f"it is of generation {generation}, and the catalog of {newest}: an older copy of it?"
