"""Whether the rows of a catalog agree with each other, and what is derived from it with them.

A derived part that cannot be read, or is of another index, the next run makes anew. One that is
whole and lacks something is what no run would notice: a rebuild repairs it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, func, select

from notehop.config.errors import IndexDamaged
from notehop.indexing.stores.catalog import CatalogSnapshot, dimensions_of
from notehop.indexing.stores.catalog_read import Query
from notehop.indexing.stores.chroma import read_mirror
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.stores.model import NoteStatus, Vectored
from notehop.indexing.stores.schema import ATTACHMENTS, CHUNKS, LINKS, NAMES, NOTES
from notehop.indexing.stores.vector_index import VectorIndex

INDEX = "notehop index"
REBUILD = "notehop index --rebuild"
ELSEWHERE = "notehop index --index-dir NEW_FOLDER"

EXAMPLES = 5  # notes or files that a finding names
NoteOf = Mapping[str, str]  # id of a chunk or of a sentence -> path of a note that it is of


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


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check found, and what there is."""

    findings: Sequence[Finding] = ()
    parts: Sequence[PartState] = ()


def said_of(error: Exception) -> str:
    """What an error of ours says, without what it says to do: the finding names that."""
    return " ".join(str(error).partition("; run:")[0].split())


def check_catalog(view: CatalogSnapshot) -> list[Finding]:
    """What the rows of a catalog contradict each other in, though each is as it was written
    (:meth:`notehop.indexing.stores.catalog.Catalog.verify`); a rebuild repairs any of it."""
    findings: list[Finding] = []
    for problem, query in _contradictions().items():
        rows = query.subquery()
        [count] = view.answer(select(func.count()).select_from(rows), lambda row: int(row[0]))
        if count:
            path = rows.c[0]
            few = select(path).distinct().order_by(path).limit(EXAMPLES)
            paths = view.answer(few, lambda row: str(row[0]))
            findings.append(Finding("catalog", problem, REBUILD, count, tuple(paths)))
    return findings


def _contradictions() -> dict[str, Query]:
    """What is wrong where rows were lost -> paths of the notes concerned, one for each wrong row."""
    indexed = select(NOTES.c.path).where(NOTES.c.status == NoteStatus.INDEXED.value)
    links = select(LINKS.c.path)
    no_file = and_(
        LINKS.c.target_path.is_not(None),
        LINKS.c.target_path.not_in(select(NOTES.c.path)),
        LINKS.c.target_path.not_in(select(ATTACHMENTS.c.path)),
    )
    chunks = select(CHUNKS.c.path)

    def no_chunk(chunk: ColumnElement[Any], path: ColumnElement[Any]) -> Query:
        """The links that name a chunk which that note does not have."""
        held = LINKS.outerjoin(CHUNKS, and_(CHUNKS.c.id == chunk, CHUNKS.c.path == path))
        return links.select_from(held).where(chunk.is_not(None), CHUNKS.c.id.is_(None))

    return {
        "chunks of notes that are not indexed": chunks.where(CHUNKS.c.path.not_in(indexed)),
        "indexed notes without a chunk": indexed.where(NOTES.c.path.not_in(chunks)),
        "indexed notes that no name finds": indexed.where(
            NOTES.c.path.not_in(select(NAMES.c.path))
        ),
        "links in notes that are not indexed": links.where(LINKS.c.path.not_in(indexed)),
        "links that stand in no chunk of their note": no_chunk(LINKS.c.chunk_id, LINKS.c.path),
        "links to chunks that their target does not have": no_chunk(
            LINKS.c.target_chunk_id, LINKS.c.target_path
        ),
        "links to files that the catalog does not know": links.where(no_file),
    }


def wanted_of(view: CatalogSnapshot) -> dict[Vectored, NoteOf]:
    """What the catalog says that there must be a vector of."""
    chunks = {one: path for path, ids in view.chunk_ids().items() for one in ids}
    query = (
        select(LINKS.c.sentence_id, func.min(LINKS.c.path))
        .where(LINKS.c.sentence_id.is_not(None))
        .group_by(LINKS.c.sentence_id)
    )
    return {"chunks": chunks, "links": dict(view.answer(query, lambda row: (row[0], row[1])))}


def check_sentences(view: CatalogSnapshot, wanted: NoteOf) -> list[Finding]:
    """Whether each sentence with a link has its vector in the catalog."""
    held = {one for ids, _ in view.all_vectors("links") for one in ids}
    missing = wanted.keys() - held
    found = _finding("catalog", "it lacks vectors of links", REBUILD, wanted, missing)
    return [found] if missing else []


def check_derived(
    part: Literal["vectors", "lexical"], layout: IndexLayout, view: CatalogSnapshot, wanted: NoteOf
) -> CheckResult:
    """Compare what is derived from the chunks with the catalog; it may be some generations behind."""
    try:
        if part == "vectors":
            vectors = VectorIndex.read(layout.chunk_vectors)
            ids, generation, stamp = vectors.ids, vectors.generation, vectors.stamp
            if vectors.dimensions != dimensions_of(view.fingerprint):
                stamp = ""
        else:
            index, generation, stamp = LexicalIndex.load(layout.lexical)
            ids = index.ids()
    except IndexDamaged as exc:
        return CheckResult([Finding(part, said_of(exc), INDEX)] if wanted else ())
    parts = [PartState(part, len(ids), generation)]
    if stamp != view.stamp:
        return CheckResult([Finding(part, "it is of another index", INDEX, len(ids))], parts)
    if generation > view.generation:
        problem = f"it is of generation {generation}, and the catalog of {view.generation}"
        return CheckResult([Finding(part, f"{problem}: an older copy of it?", INDEX)], parts)
    findings = []
    # What came or went since is taken in from the catalog by whoever reads it.
    newer, held = set(view.changed_paths(generation)), set(ids)
    if missing := [one for one in wanted if one not in held and wanted[one] not in newer]:
        problem = f"it lacks {'vectors of ' if part == 'vectors' else ''}chunks"
        # Of an older generation it is caught up with; else a run takes it for complete.
        command = INDEX if generation < view.generation else REBUILD
        findings.append(_finding(part, problem, command, wanted, missing))
    if not newer and (extra := held - wanted.keys()):
        findings.append(Finding(part, "chunks that no note has", REBUILD, len(extra)))
    return CheckResult(findings, parts)


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


def _finding(part: str, problem: str, command: str, held: NoteOf, ids: Collection[str]) -> Finding:
    notes = sorted({held[one] for one in ids})[:EXAMPLES]
    return Finding(part, problem, command, len(ids), tuple(notes))
