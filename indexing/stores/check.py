"""Whether the catalog and what is derived from it are whole, for people who ask.

A derived part that cannot be read, or is of another index, the next run makes anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import and_, func, select

from notehop.config.errors import IndexDamaged
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.catalog_read import Query
from notehop.indexing.stores.chroma import read_mirror
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lexical_segments import read_segments
from notehop.indexing.stores.model import NoteStatus
from notehop.indexing.stores.schema import ATTACHMENTS, CHUNKS, LINKS, NAMES, NOTES, VECTORS

INDEX = "notehop index"
REBUILD = "notehop index --rebuild"
ELSEWHERE = "notehop index --index-dir NEW_FOLDER"

_EXAMPLES = 5  # notes that a finding names


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with a part of an index.

    ``count`` says how many rows it concerns, ``examples`` name notes of them. ``broken`` tells
    whether answers suffer or notes are missing; if not, it only takes room.
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


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check found, and what there is."""

    findings: Sequence[Finding] = ()
    parts: Sequence[PartState] = ()


def said_of(error: Exception) -> str:
    """What an error of ours says, without what it says to do: the finding names that."""
    return " ".join(str(error).partition("; run:")[0].split())


def check_catalog(view: CatalogSnapshot) -> list[Finding]:
    """What rows are missing of a catalog, though each that is there is as it was written
    (:meth:`notehop.indexing.stores.catalog.Catalog.verify`); a rebuild repairs any of it."""
    indexed = select(NOTES.c.path).where(NOTES.c.status == NoteStatus.INDEXED.value)
    vectors = VECTORS.c

    # A row for each that is wrong, which begins with the path of its note.
    missing: dict[str, Query] = {
        "chunks of notes that are not indexed": select(CHUNKS.c.path).where(
            CHUNKS.c.path.not_in(indexed)
        ),
        "indexed notes without a chunk": indexed.where(NOTES.c.path.not_in(select(CHUNKS.c.path))),
        "indexed notes that no name finds": indexed.where(
            NOTES.c.path.not_in(select(NAMES.c.path))
        ),
        "links in notes that are not indexed": select(LINKS.c.path).where(
            LINKS.c.path.not_in(indexed)
        ),
        "links to files that the catalog does not know": select(LINKS.c.path).where(
            LINKS.c.target_path.is_not(None),
            LINKS.c.target_path.not_in(select(NOTES.c.path)),
            LINKS.c.target_path.not_in(select(ATTACHMENTS.c.path)),
        ),
        "it lacks vectors of chunks": select(CHUNKS.c.path)
        .outerjoin(VECTORS, and_(vectors.collection == "chunks", vectors.id == CHUNKS.c.id))
        .where(vectors.id.is_(None)),
        "it lacks vectors of links": select(LINKS.c.path)
        .outerjoin(VECTORS, and_(vectors.collection == "links", vectors.id == LINKS.c.sentence_id))
        .where(LINKS.c.sentence_id.is_not(None), vectors.id.is_(None)),
    }
    findings = []
    for problem, query in missing.items():
        path = query.subquery().c[0]
        [count] = view.answer(select(func.count(path)), lambda row: int(row[0]))
        if count:
            few = select(path).distinct().order_by(path).limit(_EXAMPLES)
            paths = view.answer(few, lambda row: str(row[0]))
            findings.append(Finding("catalog", problem, REBUILD, count, tuple(paths)))
    return findings


def check_lexical(layout: IndexLayout, view: CatalogSnapshot) -> CheckResult:
    """Whether the words are there as they were written; they may be some generations behind."""
    try:
        segments, generation, stamp = read_segments(layout.postings)
    except IndexDamaged as exc:
        return CheckResult([Finding("lexical", said_of(exc), INDEX)] if view.has_chunks else ())
    problem = ""
    if stamp != view.stamp:
        problem = "it is of another index"
    elif generation > view.generation:
        problem = (
            f"it is of generation {generation}, and the catalog of {view.generation}: an older "
            "copy of it?"
        )
    count = sum(segment.living for segment in segments)
    findings = [Finding("lexical", problem, INDEX, count)] if problem else []
    return CheckResult(findings, [PartState("lexical", count, generation)])


def check_mirror(layout: IndexLayout, view: CatalogSnapshot) -> CheckResult:
    """Whether the mirror in Chroma is there as it was written; one that is behind is no finding."""
    state = read_mirror(layout)
    if state is None:
        problem = "there is no copy for other programs"
    elif state.stamp != view.stamp or state.generation > view.generation:
        problem = "it is of another index"
    elif not state.fits(layout):
        problem = "its files are other than written"
    else:
        problem = ""
    findings = [Finding("chroma", problem, INDEX, broken=False)] if problem else []
    parts = [] if state is None else [PartState("chroma", state.chunks, state.generation)]
    return CheckResult(findings, parts)
