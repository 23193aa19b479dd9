"""Whether the rows of the catalog agree with each other.

Touches: index (reads).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, or_, select

from notehop.indexing.graph.model import Status
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.finding import EXAMPLES, REBUILD, Finding
from notehop.indexing.stores.model import NoteStatus
from notehop.indexing.stores.schema import ATTACHMENTS, CHANGES, CHUNKS, LINKS, NAMES, NOTES

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
