"""One generation of an index, as queries see it.

Touches: index (reads).
"""

from __future__ import annotations

import weakref
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.catalog_filter import NoteLabels
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.stores.model import ChunkId, ChunkRow, LinkRow, NoteRow, NoteStatus
from notehop.indexing.stores.reader_holdings import Holdings
from notehop.indexing.stores.table import VectorTable

if TYPE_CHECKING:
    pass


class Snapshot:
    """One generation, which stays as it is while writers go on. Threads may share it.

    Take one a query. It holds a read transaction until ``close``, the end of a ``with`` block, or
    until nothing refers to it; held for days, it would keep the catalog's journal from being folded
    back. Paths are those of indexed notes; ids are those of chunks.
    """

    def __init__(self, holdings: Holdings, view: CatalogSnapshot) -> None:
        self._holdings = holdings
        self._view = view
        self._release = weakref.finalize(self, view.close)

    def close(self) -> None:
        """Let go of the generation; a second time is nothing."""
        self._release()

    def __enter__(self) -> Snapshot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def generation(self) -> int:
        """The generation that every answer belongs to."""
        return self._holdings.generation

    @property
    def warnings(self) -> tuple[str, ...]:
        """What of this generation cannot be searched, why, and what to do; usually empty."""
        return self._holdings.warnings

    @property
    def chunk_vectors(self) -> VectorTable:
        """The vector of each chunk, by id."""
        return self._holdings.chunk_vectors

    @property
    def link_vectors(self) -> VectorTable:
        """The vector of each sentence that holds a link, by sentence id; it may hold others too."""
        return self._holdings.link_vectors

    @property
    def lexical(self) -> LexicalIndex:
        """The lexical index. It moves on with the catalog: drop ids that :meth:`path_of` lacks, as
        :meth:`lexical_top` does."""
        return self._holdings.lexical

    @property
    def chunk_count(self) -> int:
        """How many chunks there are."""
        return len(self._holdings.path_by_id)

    def path_of(self, chunk_id: ChunkId) -> str | None:
        """The note that holds the chunk; None for an id that this generation lacks."""
        return self._holdings.path_by_id.get(chunk_id)

    def paths_of(self, chunk_ids: Iterable[ChunkId]) -> list[str | None]:
        """The note that holds each chunk, in their order; None for an id that is not there."""
        return self._holdings.path_by_id.get_all(chunk_ids)

    def chunk_ids_of(self, path: str) -> tuple[ChunkId, ...]:
        """The chunks of a note in text order; empty for an unknown note."""
        return self._holdings.ids_by_path.get(path, ())

    def paths(self) -> list[str]:
        """The notes that have chunks, sorted."""
        return sorted(self._holdings.ids_by_path)

    def lexical_top(
        self,
        tokens: Sequence[str] | Mapping[str, float],
        k: int,
        allowed: Collection[ChunkId] | None = None,
    ) -> list[tuple[ChunkId, float]]:
        """The ranking of :meth:`LexicalIndex.top`, without ids that this generation lacks."""
        hits = self.lexical.top(tokens, k, allowed)
        paths = self.paths_of(one for one, _ in hits)
        return [hit for hit, path in zip(hits, paths, strict=True) if path is not None]

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, ChunkRow]:
        """Id -> chunk, for those that are there, in the order of ``ids``."""
        known = [one for one in ids if one in self._holdings.path_by_id]
        return self._holdings.cache.chunks.get(known, self._view.chunks)

    def chunks_of(self, path: str) -> list[ChunkRow]:
        """The chunks of a note in text order; empty for an unknown note."""
        return list(self.chunks(self.chunk_ids_of(path)).values())

    def note(self, path: str) -> NoteRow | None:
        """The note; None if there is none, or it is not indexed."""
        return self.notes_at([path]).get(path)

    def notes_at(self, paths: Iterable[str]) -> dict[str, NoteRow]:
        """Path -> note, for those that are there and indexed, in the order of ``paths``."""

        def read(missing: list[str]) -> Mapping[str, NoteRow | None]:
            rows = self._view.notes_at(missing)
            return {
                path: row if row is not None and row.status is NoteStatus.INDEXED else None
                for path in missing
                for row in (rows.get(path),)
            }

        found = self._holdings.cache.notes.get(paths, read)
        return {path: note for path, note in found.items() if note is not None}

    def notes(self) -> list[NoteRow]:
        """All indexed notes, by path; read each time."""
        return self._view.notes(NoteStatus.INDEXED)

    def notes_named(self, name: str) -> list[str]:
        """The notes whose title or alias is ``name``, sorted; none for an empty name.

        Compared without case and Unicode form, with white space collapsed.
        """
        return self._view.notes_named(name)

    def named_any(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Name -> the notes of :meth:`notes_named`, for those of the names that are some note's."""
        return self._view.named_any(names)

    @property
    def labels(self) -> NoteLabels:
        """The notes by what they can be filtered by."""
        held = self._holdings
        return NoteLabels(self._view, held.ids_by_path, held.cache.filters)

    def links_from(self, paths: Iterable[str]) -> list[LinkRow]:
        """The links that stand in these notes, by (path, ordinal)."""

        def read(missing: list[str]) -> Mapping[str, tuple[LinkRow, ...]]:
            found: dict[str, list[LinkRow]] = {path: [] for path in missing}
            for link in self._view.links_from(missing):
                found[link.path].append(link)
            return {path: tuple(links) for path, links in found.items()}

        return _sorted(self._holdings.cache.links_from.get(paths, read))

    def links_to(self, paths: Iterable[str]) -> list[LinkRow]:
        """The links that lead to these files, by (path, ordinal)."""

        def read(missing: list[str]) -> Mapping[str, tuple[LinkRow, ...]]:
            found: dict[str, list[LinkRow]] = {path: [] for path in missing}
            for link in self._view.links_to(missing):
                found[str(link.target_path)].append(link)
            return {path: tuple(links) for path, links in found.items()}

        return _sorted(self._holdings.cache.links_to.get(paths, read))

    @property
    def pagerank(self) -> Mapping[str, float]:
        """PageRank of each indexed note, by path; the values add up to 1.

        Worked out when first asked for. After a change that of an earlier generation is given
        until the new one is there: no query waits for it.
        """
        return self._holdings.derived.ranks.near(self._view)

    @property
    def exact_pagerank(self) -> Mapping[str, float]:
        """The same of this generation, however long it takes."""
        return self._holdings.derived.ranks.of(self._view)


def _sorted(found: Mapping[str, tuple[LinkRow, ...]]) -> list[LinkRow]:
    links = [link for group in found.values() for link in group]
    return sorted(links, key=lambda link: (link.path, link.ordinal))
