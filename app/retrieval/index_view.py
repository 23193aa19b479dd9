"""Owns what retrieval asks of an index: one generation of it, read only.

:class:`notehop.indexing.stores.reader.Snapshot` is the index on disk; anything of this shape will do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from notehop.indexing.beside import Beside
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.stores.model import ChunkId, ChunkRow, LinkRow, NoteRow

Vector = NDArray[np.float32]
"""Shape (dimensions,), length 1 unless it is all zeros."""

Hits = Sequence[tuple[ChunkId, float]]
"""Distinct ids with their score, best first, ties by id."""


class VectorRows(Protocol):
    """Vectors of length 1 by id, as an immutable value."""

    @property
    def dimensions(self) -> int:
        """Numbers of a vector."""

    def __len__(self) -> int:
        """How many vectors there are."""

    @property
    def ids(self) -> Sequence[ChunkId]:
        """Their ids, in no meaningful order."""

    def rows(self, ids: Iterable[ChunkId]) -> tuple[Sequence[ChunkId], NDArray[np.float32]]:
        """Return the ids that are there, in their order, and vectors (found, dimensions)."""

    def similarities(self, query: Vector, ids: Sequence[ChunkId]) -> NDArray[np.floating[Any]]:
        """Return the cosine of each id, in the order of ``ids``; NaN for an unknown id."""

    def top(
        self,
        query: Vector,
        k: int,
        allowed: Collection[ChunkId] | None = None,
        beside: Beside | None = None,
    ) -> Hits:
        """Return the ``k`` nearest by exact cosine, among ``allowed`` if given.

        :param beside: threads that may share the work.
        """


class IndexView(Protocol):
    """One generation of the index. Paths are those of indexed notes."""

    @property
    def generation(self) -> int:
        """The generation that every answer of this view belongs to."""

    @property
    def warnings(self) -> Sequence[str]:
        """What of this generation cannot be searched, and what to do; usually empty."""

    @property
    def chunk_vectors(self) -> VectorRows:
        """The vector of each chunk, by chunk id."""

    @property
    def link_vectors(self) -> VectorRows:
        """The vector of each sentence that holds a link, by sentence id."""

    @property
    def lexical(self) -> LexicalIndex:
        """The lexical index; it may know chunks of a later generation."""

    @property
    def pagerank(self) -> Mapping[str, float]:
        """PageRank of each note, by path; the values add up to 1."""

    def chunks(self, ids: Iterable[ChunkId]) -> Mapping[ChunkId, ChunkRow]:
        """Return the chunks that exist among ``ids``."""

    def notes_at(self, paths: Iterable[str]) -> Mapping[str, NoteRow]:
        """Return the notes that exist among ``paths``, by path, in their order."""

    def notes_named(self, name: str) -> Sequence[str]:
        """Return the notes whose title or alias is ``name``, sorted.

        Compared without case, Unicode form and the width of white space; none for no name.
        """

    def named_any(self, names: Iterable[str]) -> Mapping[str, Sequence[str]]:
        """Return name -> its notes as :meth:`notes_named`, for the names that some note has."""

    def path_of(self, chunk_id: ChunkId) -> str | None:
        """Return the note that holds the chunk, None for an unknown id."""

    def paths_of(self, chunk_ids: Iterable[ChunkId]) -> Sequence[str | None]:
        """Return :meth:`path_of` each of these, in their order."""

    def chunk_ids_of(self, path: str) -> Sequence[ChunkId]:
        """Return the chunks of a note in text order; empty for an unknown note."""

    def links_from(self, paths: Iterable[str]) -> Sequence[LinkRow]:
        """Return the links these notes hold, by (path, ordinal)."""

    def links_to(self, paths: Iterable[str]) -> Sequence[LinkRow]:
        """Return the links that lead to these notes, by (path, ordinal)."""


ViewSource: TypeAlias = IndexView | Callable[[], IndexView]
"""A generation, or what gives the newest one: a reader's ``snapshot``, for components that live
longer than one query."""
