"""From chunked notes to what one transaction writes: rows, vectors, and where every link leads."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np

from notehop.indexing.graph.files import VaultFiles, affected_names
from notehop.indexing.graph.resolve import Outline, ResolvedLink, resolve_link
from notehop.indexing.nodes.chunker import text_id
from notehop.indexing.pipeline.chunking import ChunkedNote, text_around
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.rows import (
    Batch,
    ChunkKey,
    ChunkRow,
    LinkRow,
    Matrix,
    NoteRecord,
    NoteRow,
    NoteStatus,
)
from notehop.indexing.vault.model import Link

_ALIKE = ("kind", "syntax", "raw", "fragment", "display", "line", "sentence", "property")
"""What a link and its row have under one name."""


def build_batch(
    catalog: Catalog,
    files: VaultFiles,
    dimensions: int,
    notes: Sequence[ChunkedNote],
    sentences: Mapping[str, Any],
    gone: Sequence[str] = (),
    names: Collection[str] = (),
    *,
    every_link: bool = False,
) -> Batch:
    """Prepare one write, after the one before it was committed.

    :param files: those of the vault, which are brought up to what the notes say.
    :param sentences: id -> vector of those that the catalog lacks.
    :param gone: paths to delete.
    :param names: link names to resolve again beside those of the notes given.
    :param every_link: resolve all links again.
    """
    changed = [*(item.row.path for item in notes), *gone]
    before = catalog.notes_at(changed)
    moved_names = {*names}
    for item in notes:
        row, old = item.row, before.get(item.row.path)
        if old is None or old.status is not row.status or old.aliases != row.aliases:
            aliases = (*row.aliases, *(old.aliases if old else ()))
            moved_names |= affected_names(row.path, aliases)
        files.add(row.path, excluded=row.status is NoteStatus.SKIPPED, aliases=row.aliases)
    for path in gone:
        moved_names |= affected_names(path, before[path].aliases if path in before else ())
    found = catalog.links() if every_link else catalog.links_named(moved_names)
    rows = {(row.path, row.ordinal): row for row in [*found, *catalog.links_to(changed)]}
    untouched = [rows[at] for at in sorted(rows) if at[0] not in {*changed}]
    targets = _LinkTargets(catalog, notes, gone)
    links = [
        [
            resolve_link(files, item.row.path, link, targets.outline)
            for link in (item.note.links if item.note is not None else ())
        ]
        for item in notes
    ]
    again = [resolve_link(files, row.path, _as_written(row), targets.outline) for row in untouched]
    targets.load_chunks([*again, *(link for some in links for link in some)])
    now = [(row, replace(row, **targets.where(link))) for row, link in zip(untouched, again, strict=True)]
    nodes = {node.node_id: node.embedding for item in notes for node in item.nodes}
    return Batch(
        upsert=tuple(
            NoteRecord(item.row, item.chunks, tuple(_link_rows(item, some, targets)))
            for item, some in zip(notes, links, strict=True)
        ),
        delete=tuple(gone),
        relink=tuple(new for row, new in now if new != row),
        vectors={"chunks": _matrix(nodes, dimensions), "links": _matrix(sentences, dimensions)},
    )


def _matrix(vectors: Mapping[str, Any], dimensions: int) -> tuple[list[str], Matrix]:
    rows = np.asarray([*vectors.values()], dtype=np.float32)
    return [*vectors], rows.reshape(len(vectors), dimensions)


def _led_to(chunks: Sequence[ChunkRow | ChunkKey]) -> Sequence[ChunkRow | ChunkKey]:
    """Those of a note that links lead to: its text, where there is any."""
    return [chunk for chunk in chunks if chunk.kind != "properties"] or chunks[:1]


class _LinkTargets:
    """What is known of link targets during a write; each note is asked of the catalog once."""

    def __init__(self, catalog: Catalog, notes: Iterable[ChunkedNote], gone: Iterable[str]) -> None:
        """Of the notes of this write it is told what they hold; the catalog knows all others."""
        self._catalog = catalog
        self._notes: dict[str, NoteRow | None] = dict.fromkeys(gone)
        self._chunks: dict[str, Sequence[ChunkRow | ChunkKey]] = dict.fromkeys(gone, ())
        for item in notes:
            self._notes[item.row.path] = item.row
            self._chunks[item.row.path] = _led_to(item.chunks)

    def outline(self, path: str) -> Outline | None:
        """The outline of an indexed note; None for anything else."""
        if path not in self._notes:
            self._notes[path] = self._catalog.note(path)
        note = self._notes[path]
        if note is None or note.status is not NoteStatus.INDEXED:
            return None
        return Outline(note.outline, note.blocks, note.line_count)

    def load_chunks(self, links: Iterable[ResolvedLink]) -> None:
        """Read the chunks of all that links lead to: asking for each note took as long as the rest."""
        paths = {link.resolution.path for link in links} - self._chunks.keys()
        missing = sorted(path for path in paths if path is not None)
        self._chunks |= dict.fromkeys(missing, ())
        for path, some in groupby(self._catalog.chunk_keys(missing), attrgetter("path")):
            self._chunks[path] = _led_to([*some])

    def where(self, link: ResolvedLink) -> dict[str, Any]:
        """Those values of a link's row that say where it leads: in an indexed note to the chunk where
        what it names begins, else to the first."""
        found, chunk_id = link.resolution, None
        if chunks := self._chunks[found.path] if found.path is not None else ():
            line = link.span.first_line if link.span is not None else 0
            at = bisect_right([chunk.first_line for chunk in chunks], line) - 1
            chunk_id = chunks[max(at, 0)].id
        return {
            "status": found.status.value,
            "via": found.via,
            "target_path": found.path,
            "target_chunk_id": chunk_id,
            "fragment_found": link.fragment_found,
            "candidates": found.candidates,
        }


def _link_rows(
    item: ChunkedNote, resolved: Sequence[ResolvedLink], targets: _LinkTargets
) -> Iterator[LinkRow]:
    starts = [int(n.metadata["start"]) for n in item.nodes if n.metadata["kind"] != "properties"]
    ids = [chunk.id for chunk in item.chunks if chunk.kind != "properties"]
    for ordinal, found in enumerate(resolved):
        link = found.link
        at = bisect_right(starts, link.start) - 1 if link.property is None else -1
        sentence = text_around(item.row.title, link)
        yield LinkRow(
            path=found.source,
            ordinal=ordinal,
            chunk_id=ids[at] if at >= 0 else None,
            raw_target=link.target,
            sentence_id=text_id(sentence) if sentence else None,
            **{name: getattr(link, name) for name in _ALIKE},
            **targets.where(found),
        )


def _as_written(row: LinkRow) -> Link:
    """The link of a row, with what resolution needs; offsets are not kept by the catalog."""
    alike = {name: getattr(row, name) for name in _ALIKE}
    return Link(target=row.raw_target, start=0, end=0, **alike)
