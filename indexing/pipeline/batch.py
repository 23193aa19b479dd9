"""From chunked notes to what one transaction writes: rows, vectors, and where every link leads.

Touches: index (reads), model.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from notehop.indexing.graph.files import VaultFiles, affected_names
from notehop.indexing.graph.fragments import Outline, outline_of_note
from notehop.indexing.graph.model import FragmentSpan, ResolvedLink
from notehop.indexing.graph.resolve import resolve_link
from notehop.indexing.pipeline.chunking import (
    ChunkedBatch,
    ChunkedNote,
    Chunker,
    embedded_sentence,
    sentence_id,
    text_around,
)
from notehop.indexing.pipeline.embedding import Matrix
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.catalog_read import CatalogReads
from notehop.indexing.stores.model import (
    Batch,
    ChunkId,
    LinkRow,
    NoteRecord,
    NoteRow,
    NoteStatus,
)
from notehop.indexing.vault.model import Link, LinkKind, LinkSyntax


class BatchBuilder:
    """Builds writes against one catalog, each after the one before it was committed."""

    def __init__(
        self, catalog: Catalog, files: VaultFiles, chunker: Chunker, dimensions: int
    ) -> None:
        """Take what notes are made into rows with.

        :param files: those of the vault; it is brought up to what the notes say.
        """
        self._catalog = catalog
        self._files = files
        self._chunker = chunker
        self._dimensions = dimensions

    def build(
        self,
        chunked: ChunkedBatch,
        gone: Sequence[str] = (),
        names: Collection[str] = (),
        *,
        every_link: bool = False,
    ) -> Batch:
        """Prepare one write.

        :param gone: paths to delete.
        :param names: link names to resolve again beside those of the notes given.
        :param every_link: resolve all links again.
        """
        written = [item.row.path for item in chunked.notes]
        before = self._catalog.notes_at([*written, *gone])
        learnt = self._learn(chunked.notes, gone, before)
        # Of the notes of this write it is told what they hold; the catalog knows all others.
        targets = LinkTargets(self._catalog)
        _publish(targets, chunked.notes, gone)
        records = self._records(chunked.notes, targets)
        return Batch(
            upsert=records,
            delete=tuple(gone),
            touch=chunked.touch,
            relink=relink(
                self._catalog,
                self._files,
                targets,
                names=learnt.union(names),
                changed=[*written, *gone],
                except_from={*written, *gone},
                every_link=every_link,
            ),
            vectors={
                "chunks": self._new_chunks(chunked),
                "links": self._new_sentences(chunked, records),
            },
        )

    def _learn(
        self, notes: Sequence[ChunkedNote], gone: Sequence[str], before: Mapping[str, NoteRow]
    ) -> frozenset[str]:
        """Bring the files up to these notes; return the names whose links may lead elsewhere."""
        names: set[str] = set()
        for item in notes:
            row, old = item.row, before.get(item.row.path)
            if old is None or old.status is not row.status or old.aliases != row.aliases:
                names |= affected_names(row.path, (*row.aliases, *(old.aliases if old else ())))
            self._files.add(
                row.path, excluded=row.status is NoteStatus.SKIPPED, aliases=row.aliases
            )
        for path in gone:
            old = before.get(path)
            names |= affected_names(path, old.aliases if old else ())
        return frozenset(names)

    def _records(
        self, notes: Sequence[ChunkedNote], targets: LinkTargets
    ) -> tuple[NoteRecord, ...]:
        resolved = [
            [resolve_link(self._files, note.path, link, targets.outline) for link in note.links]
            if (note := item.note) is not None
            else []
            for item in notes
        ]
        # In one go: asking for each note took as long as all the rest of this.
        targets.load_chunks(
            res.resolution.path
            for links in resolved
            for res in links
            if res.resolution.path is not None
        )
        return tuple(
            NoteRecord(item.row, item.chunks, tuple(_link_rows(item, links, targets)))
            for item, links in zip(notes, resolved, strict=True)
        )

    def _new_chunks(self, chunked: ChunkedBatch) -> tuple[list[str], Matrix]:
        nodes = [n for item in chunked.notes for n in item.nodes if n.node_id not in chunked.kept]
        return [n.node_id for n in nodes], self._matrix([n.embedding for n in nodes])

    def _new_sentences(
        self, chunked: ChunkedBatch, records: Sequence[NoteRecord]
    ) -> tuple[list[str], Matrix]:
        said = {
            link.sentence_id: embedded_sentence(record.note.title, link.sentence)
            for record in records
            for link in record.links
            if link.sentence_id is not None
        }
        # The write before this one may have taken away, or brought, what was looked up beside it.
        known = self._catalog.known_sentences(said)
        new = {one: text for one, text in said.items() if one not in known}
        lacking = {one: text for one, text in new.items() if one not in chunked.spoken}
        found = {**chunked.spoken, **self._chunker.embed_sentences(lacking)}
        return list(new), self._matrix([found[one] for one in new])

    def _matrix(self, vectors: Sequence[Any]) -> Matrix:
        return np.asarray(vectors, dtype=np.float32).reshape(len(vectors), self._dimensions)


def _publish(targets: LinkTargets, notes: Sequence[ChunkedNote], gone: Sequence[str]) -> None:
    """Tell the targets what these notes hold, before any link is resolved."""
    for item in notes:
        # Links lead to text where there is any.
        text = [chunk for chunk in item.chunks if chunk.kind == "text"] or item.chunks[:1]
        lines: ChunkLines = [(c.id, c.first_line, c.last_line) for c in text]
        outline = outline_of_note(item.note) if item.note else None
        targets.put(item.row.path, outline, lines)
    for path in gone:
        targets.put(path, None, ())


def _link_rows(
    item: ChunkedNote, resolved: Sequence[ResolvedLink], targets: LinkTargets
) -> Iterator[LinkRow]:
    holder = chunk_at(
        [int(node.metadata["start"]) for node in item.nodes if node.metadata["kind"] == "text"],
        [chunk.id for chunk in item.chunks if chunk.kind == "text"],
    )
    for ordinal, res in enumerate(resolved):
        yield link_row(
            ordinal,
            item.row.title,
            res,
            holder(res.link.start) if res.link.property is None else None,
            targets.chunk_of(res),
        )


def relink(
    catalog: CatalogReads,
    files: VaultFiles,
    targets: LinkTargets,
    *,
    names: Collection[str],
    changed: Iterable[str],
    except_from: Collection[str],
    every_link: bool = False,
) -> tuple[LinkRow, ...]:
    """Resolve again the links that a change can move, and return those that it did move.

    :param names: link names (:func:`notehop.indexing.graph.files.affected_names`) of files that came, went,
        or got other aliases.
    :param changed: notes whose outline or chunks may be other than before.
    :param except_from: notes whose links are written or deleted anyway.
    :param every_link: look at all links, whatever ``names`` and ``changed`` say.
    :returns: sorted by path and ordinal.
    """
    found = catalog.links() if every_link else catalog.links_named(names)
    rows = {(row.path, row.ordinal): row for row in found}
    if not every_link:
        rows |= {(row.path, row.ordinal): row for row in catalog.links_to(changed)}
    again = [
        (row, resolve_link(files, row.path, as_written(row), targets.outline))
        for key, row in sorted(rows.items())
        if key[0] not in except_from
    ]
    targets.load_chunks(_notes(resolved for _, resolved in again))
    moved = [(row, redirected(row, res, targets.chunk_of(res))) for row, res in again]
    return tuple(new for row, new in moved if new != row)


def _notes(links: Iterable[ResolvedLink]) -> set[str]:
    return {link.resolution.path for link in links if link.resolution.path is not None}


class LinkTargets:
    """What is known of link targets during a run; each note is asked of the catalog once."""

    def __init__(self, catalog: CatalogReads) -> None:
        self._catalog = catalog
        self._outlines: dict[str, Outline | None] = {}
        self._chunks: dict[str, ChunkLines] = {}

    def put(self, path: str, outline: Outline | None, chunks: ChunkLines) -> None:
        """Say what a note holds from now on; None and no chunks for one that is not indexed."""
        self._outlines[path] = outline
        self._chunks[path] = chunks

    def outline(self, path: str) -> Outline | None:
        """The outline of an indexed note; None for anything else."""
        if path not in self._outlines:
            note = self._catalog.note(path)
            indexed = note is not None and note.status is NoteStatus.INDEXED
            self._outlines[path] = (
                Outline(note.outline, note.blocks, note.line_count) if note and indexed else None
            )
        return self._outlines[path]

    def load_chunks(self, paths: Iterable[str]) -> None:
        """Read the chunks of these notes in one go, so that :meth:`chunk_of` need not ask."""
        missing = sorted(set(paths) - self._chunks.keys())
        found: Mapping[str, ChunkLines] = self._catalog.chunk_lines(missing)
        self._chunks.update((path, found.get(path, ())) for path in missing)

    def chunk_of(self, resolved: ResolvedLink) -> ChunkId | None:
        """The chunk a link shows; None unless it leads to an indexed note."""
        path = resolved.resolution.path
        if path is None:
            return None
        if path not in self._chunks:
            self.load_chunks([path])
        span: FragmentSpan | None = resolved.span
        return chunk_of_span(self._chunks[path], span)


def link_row(
    ordinal: int,
    title: str,
    resolved: ResolvedLink,
    chunk_id: ChunkId | None,
    target_chunk_id: ChunkId | None,
) -> LinkRow:
    """The row of one link of a note."""
    link = resolved.link
    found = resolved.resolution
    sentence = text_around(title, link)
    return LinkRow(
        path=resolved.source,
        ordinal=ordinal,
        chunk_id=chunk_id,
        line=link.line,
        kind=link.kind.value,
        syntax=link.syntax.value,
        raw=link.raw,
        raw_target=link.target,
        fragment=link.fragment,
        display=link.display,
        sentence=link.sentence,
        sentence_id=sentence_id(sentence) if sentence else None,
        property=link.property,
        status=found.status.value,
        via=found.via.value if found.via else None,
        target_path=found.path,
        target_chunk_id=target_chunk_id,
        fragment_found=resolved.fragment_found,
        candidates=found.candidates,
    )


def redirected(row: LinkRow, resolved: ResolvedLink, target_chunk_id: ChunkId | None) -> LinkRow:
    """The same link after its target changed; equal to ``row`` when nothing did."""
    found = resolved.resolution
    return replace(
        row,
        status=found.status.value,
        via=found.via.value if found.via else None,
        target_path=found.path,
        target_chunk_id=target_chunk_id,
        fragment_found=resolved.fragment_found,
        candidates=found.candidates,
    )


def as_written(row: LinkRow) -> Link:
    """The link of a row, with what resolution needs; offsets are not kept by the catalog."""
    return Link(
        kind=LinkKind(row.kind),
        syntax=LinkSyntax(row.syntax),
        raw=row.raw,
        target=row.raw_target,
        fragment=row.fragment,
        display=row.display,
        line=row.line,
        start=0,
        end=0,
        sentence=row.sentence,
        property=row.property,
    )


ChunkLines = Sequence[tuple[ChunkId, int, int]]
"""(id, first line, last line) of the chunks of a note, in order."""


def chunk_of_span(chunks: ChunkLines, span: FragmentSpan | None) -> ChunkId | None:
    """The chunk a link shows: the one where the span begins, else the note's first.

    None when the note has no chunks.
    """
    if not chunks:
        return None
    if span is None:
        return chunks[0][0]
    at = bisect_right([first for _, first, _ in chunks], span.first_line) - 1
    return chunks[max(at, 0)][0]


def chunk_at(starts: Sequence[int], ids: Sequence[ChunkId]) -> Callable[[int], ChunkId | None]:
    """Return a function from a character offset to the chunk that holds it (None if no chunk)."""

    def find(offset: int) -> ChunkId | None:
        at = bisect_right(starts, offset) - 1
        return ids[at] if at >= 0 else None

    return find
