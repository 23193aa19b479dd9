"""What a reader holds of one generation in memory, read once, then brought on by difference.

Touches: index (reads).
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from notehop.config.errors import IndexDamaged, IndexMismatch
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.catalog_engine import REBUILD
from notehop.indexing.stores.layered import LayeredMap
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.stores.limits import LIMITS, Limits
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.reader_cache import Cache
from notehop.indexing.stores.reader_graph import Derived
from notehop.indexing.stores.reader_vectors import completed, open_table
from notehop.indexing.stores.table import VectorTable


@dataclass(frozen=True, slots=True)
class Ranking:
    """The parameters of the lexical ranking; they act when a query is answered."""

    boosts: Mapping[str, float] | None = None
    k1: float = 1.5
    b: float = 0.75


@dataclass(frozen=True, slots=True, eq=False)
class Holdings:
    """One generation. ``warnings`` say what of it is missing and what to do.

    ``lexical`` is the one part that moves on in place: it may know chunks of a later generation,
    which whoever asks it drops.
    """

    generation: int
    stamp: str
    ids_by_path: LayeredMap[str, tuple[ChunkId, ...]]
    path_by_id: LayeredMap[ChunkId, str]
    chunk_vectors: VectorTable
    link_vectors: VectorTable
    lexical: LexicalIndex
    warnings: tuple[str, ...] = ()
    cache: Cache = field(default_factory=Cache)
    derived: Derived = field(default_factory=Derived)


def load(
    layout: IndexLayout,
    view: CatalogSnapshot,
    ranking: Ranking,
    limits: Limits = LIMITS,
) -> Holdings:
    """Read a generation from disk.

    :raises IndexDamaged: if the catalog cannot be read.
    """
    dimensions = dimensions_of(view.fingerprint)
    # One string for an id, wherever it stands: 300,000 of them take 24 MB.
    ids_by_path = {path: tuple(map(sys.intern, ids)) for path, ids in view.chunk_ids().items()}
    path_by_id = {one: path for path, ids in ids_by_path.items() for one in ids}
    wanted = path_by_id.keys()
    chunks = open_table(layout, view, "chunks", dimensions)
    chunks = chunks.without([one for one in chunks.ids if one not in wanted])
    chunks, no_chunks = completed(view, "chunks", chunks, wanted)
    links = open_table(layout, view, "links", dimensions)
    links, no_links = completed(view, "links", links, _sentences(view, links.generation))
    return Holdings(
        generation=view.generation,
        stamp=view.stamp,
        ids_by_path=LayeredMap(ids_by_path),
        path_by_id=LayeredMap(path_by_id),
        chunk_vectors=chunks,
        link_vectors=links,
        lexical=_lexical(layout, view, view.stamp, wanted, ranking, limits),
        warnings=_told(no_chunks, no_links),
    )


def advance(
    old: Holdings,
    layout: IndexLayout,
    view: CatalogSnapshot,
    ranking: Ranking,
    limits: Limits = LIMITS,
) -> Holdings:
    """Bring holdings to the generation of the view, reading only what changed since.

    A view of a catalog made anew is
    read from the beginning.
    """
    if view.stamp != old.stamp:
        return load(layout, view, ranking, limits)
    changed = view.changed_paths(old.generation)
    fresh: dict[str, list[ChunkId]] = {}
    for key in view.chunk_keys(changed):
        fresh.setdefault(key.path, []).append(sys.intern(key.id))
    now = {one: path for path, ids in fresh.items() for one in ids}
    before = (one for path in changed for one in old.ids_by_path.get(path, ()))
    gone = [one for one in before if one not in now]
    ids_by_path = old.ids_by_path.changed(
        changed, {path: tuple(ids) for path, ids in fresh.items()}
    )
    path_by_id = old.path_by_id.changed(gone, now)
    chunks, no_chunks = completed(view, "chunks", old.chunk_vectors.without(gone), now)
    said = _sentences(view, old.generation)
    links, no_links = completed(view, "links", old.link_vectors, said)
    old.lexical.update(gone, view.chunk_tokens(since_generation=old.generation))
    return Holdings(
        generation=view.generation,
        stamp=view.stamp,
        ids_by_path=ids_by_path,
        path_by_id=path_by_id,
        chunk_vectors=chunks,
        link_vectors=links,
        lexical=old.lexical,
        warnings=old.warnings or _told(no_chunks, no_links),
        derived=old.derived,
    )


def dimensions_of(fingerprint: Mapping[str, Any] | None) -> int:
    """The length of the vectors of an index.

    :raises IndexMismatch: if its fingerprint does not say.
    """
    try:
        return int((fingerprint or {})["dimensions"])
    except (KeyError, TypeError, ValueError) as exc:
        raise IndexMismatch(f"the index does not say how long its vectors are; {REBUILD}") from exc


def _sentences(view: CatalogSnapshot, since: int) -> list[str]:
    """The sentences with links of notes written after a generation; of all notes for 0."""
    if since <= 0:
        return view.sentence_ids()
    if since >= view.generation:
        return []
    return view.sentence_ids(view.changed_paths(since))


def _lexical(
    layout: IndexLayout,
    view: CatalogSnapshot,
    stamp: str,
    wanted: Collection[ChunkId],
    ranking: Ranking,
    limits: Limits,
) -> LexicalIndex:
    """The lexical index on disk, caught up; built from the catalog where it is not this index's."""
    try:
        index, generation, made_for = LexicalIndex.load(
            layout.lexical, ranking.boosts, ranking.k1, ranking.b, limits
        )
    except IndexDamaged:
        made_for = ""
    if made_for != stamp:
        tokens = view.chunk_tokens()
        return LexicalIndex.build(tokens, ranking.boosts, ranking.k1, ranking.b, limits)
    if generation != view.generation:
        catch_up(index, generation, view, wanted)
    return index


def catch_up(
    index: LexicalIndex, generation: int, view: CatalogSnapshot, wanted: Collection[ChunkId]
) -> None:
    """Bring a lexical index of a generation to that of the view.

    :param wanted: the ids of its chunks, which are quick to look up.
    """
    gone = [one for one in index.ids() if one not in wanted]
    changed = view.chunk_keys(view.changed_paths(generation))
    added = {key.id for key in changed if key.generation > generation}
    added.update(one for one in wanted if one not in index)
    index.update(gone, view.chunk_tokens(added))


def _told(*warnings: str | None) -> tuple[str, ...]:
    return tuple(warning for warning in warnings if warning is not None)
