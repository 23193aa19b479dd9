"""The mirror of the catalog on a Chroma server, which searches ask for candidates.

What is on the server is written on the collection itself: the generation that it holds, and while it
is written, the one that it will hold. One that was cut off goes on from there; one that fails is
filled anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np

from notehop.config import Settings
from notehop.config.errors import VectorServerError
from notehop.indexing import crash_points
from notehop.indexing.report import Progress
from notehop.indexing.stores.catalog import Catalog, CatalogSnapshot
from notehop.indexing.stores.catalog_read import slices
from notehop.indexing.stores.chroma import read_rows
from notehop.indexing.stores.layout import IndexLayout, read_json, replace_file, writing_to
from notehop.indexing.stores.served.chroma_server import ChromaServer, ServerCollection, ServerFailed
from notehop.indexing.stores.served.chroma_vectors import ENOUGH, LEAST_RECALL, ServedState, collection_name

GRAPH: dict[str, str | int | float | bool] = {
    "space": "cosine",
    # Measured over 20,000 and 100,000 drawn vectors: docs/decisions/one-truth.md.
    "max_neighbors": 24,
    "ef_construction": 120,
    "ef_search": 800,
    # Each time so many rows are new, all of the graph is written to disk; a server that was killed
    # takes in up to so many again before it answers. With Chroma's 1,000, 100,000 rows write 20 GB.
    "sync_threshold": 5_000,
}

WRITE_S = 120.0  # that a batch may take to be written; the server may build its graph meanwhile
NEAREST = 100  # the hits that recall is measured of: as many as the semantic ranking gives a fusion
_AT_ONCE = 300  # rows of a request: some 2 MB, and what hosted servers take
_NOTES_AT_ONCE = 200  # notes that are looked up on the server together
_MANY_NOTES = 2_000  # changed notes above which all ids are listed: filters look at every row
_QUESTIONS = 64  # vectors whose nearest passages recall is measured of
_REMEASURED = 256  # one of so many passages written anew, and recall is measured again


def update_served_mirror(
    layout: IndexLayout,
    settings: Settings,
    interrupted: Callable[[], bool] = lambda: False,
    *,
    progress: Progress,
) -> tuple[bool, tuple[str, ...]]:
    """Bring the collection of an index to its newest generation; the caller holds the writer lock.

    :param interrupted: asked now and then: whether to leave the rest to the next call.
    :returns: whether it holds that generation now, and what to tell people.
    :raises VectorServerError: if it cannot be; searches compare every vector then.
    :raises SettingsError: if the token cannot be sent.
    """
    with (
        Catalog.open(layout.catalog, read_only=True) as catalog,
        catalog.snapshot() as view,
        _asked(settings, layout) as server,
    ):
        if not view.generation or view.fingerprint is None:
            return True, ()
        told = tuple(said for said in (server.announcement(),) if said)
        mirror = _ServedMirror(server, view, interrupted, progress)
        told += _remember(layout, settings, server, mirror.name)
        try:
            return mirror.bring_up(), told
        except ServerFailed as exc:
            # What is there is no use: of a graph that does not load, Chroma gives errors for ever.
            progress.message(f"{server.origin}: the Chroma server is filled anew: {exc}")
            server.drop(mirror.name)
            return mirror.bring_up(), told


def remove_served_mirror(layout: IndexLayout, settings: Settings) -> tuple[str, ...]:
    """Delete the collection that was filled last; what to tell people."""
    try:
        with _asked(settings, layout) as server:
            return _remember(layout, settings, server, None)
    except VectorServerError as exc:
        return (
            f"{exc}. It still holds passages of this index, which are deleted there by the next run "
            "that reaches it",
        )


@dataclass(slots=True)
class _ServedMirror:
    """A view of the catalog, and the collection that is brought to it."""

    server: ChromaServer
    view: CatalogSnapshot
    interrupted: Callable[[], bool]
    progress: Progress

    @property
    def name(self) -> str:
        return collection_name(self.view.stamp)

    def bring_up(self) -> bool:
        """Whether the collection holds the view's generation now, and was not interrupted;
        ServerFailed if it does not hold what was written."""
        server, now = self.server, self.view.generation
        found = server.collection(self.name)
        if found is not None:
            state = ServedState.read(found)
            if max(state.generation, state.toward) > now:
                # Of generations that the catalog has lost.
                server.drop(self.name)
                found = None
        if found is None:
            state = ServedState(0, now, 0)
            found = server.create(self.name, GRAPH, state.metadata())
            crash_points.point("collection-made")
        wanted = {key.id for key in self.view.chunk_keys()}
        count = server.count(found)
        if state.generation == state.toward == now and count == len(wanted):
            self._probe(found, state, wanted)
            return True
        lost = not state.generation or count != state.chunks
        if state.generation:
            state = replace(state, toward=now)
            found = server.annotate(found, state.metadata())
        # A first fill that was cut off holds rows of the generation that it began with, or later ones.
        changed = self.view.changed_paths(state.generation or state.toward)
        new = {key.id for key in self.view.chunk_keys(changed)}
        if lost or len(changed) > _MANY_NOTES:
            there = set(server.ids(found))
            new |= wanted - there
        else:
            batches = slices(changed, _NOTES_AT_ONCE)
            there = {one for some in batches for one in server.ids(found, some)}
        # First what is to be seen by nobody any more.
        for some in slices(sorted(there - wanted), _AT_ONCE):
            server.delete(found, some)
        self.progress.stage("Copying to the Chroma server", len(new), "passages")
        for some in slices(sorted(new), _AT_ONCE):
            if self.interrupted():
                return False
            server.upsert(found, read_rows(self.view, some))
            self.progress.advance(len(some))
            crash_points.point("collection-added")
        if (count := server.count(found)) != len(wanted):
            raise ServerFailed(
                f"{server.origin}: the Chroma server holds {count:,} of {len(wanted):,} passages that "
                "were written; see what it logs"
            )
        if state.generation:
            # One that was just filled is as good as it gets: how good, its recall says.
            self._probe(found, state, wanted)
        recall = state.recall
        if recall is None or len(new) * _REMEASURED >= len(wanted):
            recall = self._recall(found)
        server.annotate(found, ServedState(now, now, len(wanted), recall).metadata())
        crash_points.point("collection-whole")
        return True

    def _probe(self, collection: ServerCollection, state: ServedState, ids: set[str]) -> None:
        """ServerFailed if a search is not given the candidates that it asks for."""
        _, matrix = self.view.vectors("chunks", sorted(ids)[:1])
        if not len(matrix):
            return
        count = min(NEAREST * self.server.settings.oversampling, len(ids))
        [named] = self.server.nearest(collection, matrix, count)
        # Passages that are much alike hide each other from a graph.
        if (state.recall or 0.0) >= LEAST_RECALL and len(named) < ENOUGH * count:
            raise ServerFailed(
                f"{self.server.origin}: a search on the Chroma server finds {len(named)} of {count} "
                "passages; see what it logs"
            )

    def _recall(self, collection: ServerCollection) -> float | None:
        """The share of the nearest passages that the server names, as searches ask; None for none."""
        # Questions are sentences with a link and passages, drawn by their ids, which are hashes; the
        # truth is every vector of the catalog, a page at a time.
        view, oversampling = self.view, self.server.settings.oversampling
        first = chain(*(islice(view.all_vectors(name), 1) for name in ("links", "chunks")))
        drawn = [matrix[:: -(-len(ids) // (_QUESTIONS // 2))] for ids, matrix in first]
        if not drawn:
            return None
        queries = np.concatenate(drawn)
        best = np.empty((len(queries), 0), dtype=np.float32)
        for _, matrix in view.all_vectors("chunks"):
            best = np.concatenate([best, queries @ matrix.T], axis=1)
            if best.shape[1] > NEAREST:
                best = np.partition(best, best.shape[1] - NEAREST, axis=1)[:, -NEAREST:]
        bars = best.min(axis=1)
        shares: list[float] = []
        for at in slices(range(len(queries)), 8):
            named = self.server.nearest(collection, queries[list(at)], NEAREST * oversampling)
            for row, ids in zip(at, named, strict=True):
                found, matrix = view.vectors("chunks", ids)
                # By score: of equal passages any will do.
                near = int((matrix @ queries[row] >= bars[row] - 1e-6).sum()) if found else 0
                shares.append(min(1.0, near / best.shape[1]))
        return round(float(np.mean(shares)), 4)


def _asked(settings: Settings, layout: IndexLayout) -> closing[ChromaServer]:
    return closing(ChromaServer(settings, layout.root, WRITE_S))


def _remember(
    layout: IndexLayout, settings: Settings, server: ChromaServer, name: str | None
) -> tuple[str, ...]:
    """Delete the collection that was filled last, if it is another one, as after a rebuild, and write
    down which one holds texts of this index, before it does; what to tell people."""
    about, path = settings.chroma, layout.chroma_collection
    where = {"url": about.url, "tenant": about.tenant, "database": about.database}
    former = read_json(dict[str, str], path) or {}
    collection = former.pop("collection", None)
    if collection is not None and (collection, former) == (name, where):
        return ()
    told: tuple[str, ...] = ()
    if collection and former == where:
        server.drop(collection)
    elif collection:
        # Its token is another one, and so may be what its host is allowed to get.
        told = (
            f"{former.get('url')}: the Chroma server still holds passages of this index, in the "
            f"collection {collection}; delete it there if nobody needs it",
        )
    with writing_to(layout.root):
        if name is None:
            path.unlink(missing_ok=True)
        else:
            replace_file(path, json.dumps({**where, "collection": name}))
    return told
