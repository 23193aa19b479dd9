"""The mirror of the catalog on a Chroma server, which searches ask for candidates.

What is on the server is written on the collection itself: the generation that it holds, and while it
is written, the one that it will hold. One that was cut off goes on from there; one that has lost
something is filled anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from itertools import chain, islice
from typing import TypeVar

import numpy as np

from notehop.config import Settings
from notehop.config.errors import VectorServerError
from notehop.indexing import faults
from notehop.indexing.report import Progress
from notehop.indexing.stores.catalog import Catalog, CatalogSnapshot
from notehop.indexing.stores.catalog_read import slices
from notehop.indexing.stores.chroma import read_rows
from notehop.indexing.stores.layout import IndexLayout, read_json, replace_file, unwritable
from notehop.indexing.stores.model import Vectored
from notehop.indexing.stores.served.chroma_server import (
    ChromaServer,
    ServerCollection,
    ServerFailed,
)
from notehop.indexing.stores.served.chroma_vectors import LEAST_RECALL, ServedState, collection_name

Drawn = TypeVar("Drawn")

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

NEAREST = 100
"""The hits that recall is measured of: as many as the semantic ranking gives a fusion."""

_AT_ONCE = 300
"""Rows of a request: some 2 MB, and what hosted servers take."""

_NOTES_AT_ONCE = 200
"""Notes that are looked up on the server together."""

_MANY_NOTES = 2_000
"""Changed notes from which all ids of the server are listed: its filters look at every row."""

_PROBES = 32
"""Passages that are searched for by their own vector, to see that they can be found."""

_ITSELF = 0.999
"""Cosine of a passage to what a search by its own vector finds first."""

_FOUND = 0.9
"""Share of them that a whole graph finds at least, where its recall is that of a good one."""

_HALF = 0.5
"""The same of any other: passages that are much alike hide each other from it."""

_QUESTIONS = 64
"""Vectors whose nearest passages recall is measured of."""

_QUESTIONED: tuple[Vectored, ...] = ("links", "chunks")
"""What questions are drawn from."""

_REMEASURED = 256
"""One of so many passages written anew, and recall is measured again."""


class _Wrong(Exception):
    """The collection is not what its metadata say."""


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
        told = [said for said in (server.announcement(),) if said]
        name = collection_name(view.stamp)
        told += _forget_former(layout, settings, server, keep=name)
        mirror = _ServedMirror(server, view, interrupted, progress)
        _remember(layout, settings, name)
        try:
            return mirror.bring_up(server.collection(name), name), tuple(told)
        except (_Wrong, ServerFailed) as exc:
            # What is there is no use: of a graph that does not load, Chroma gives errors for ever.
            progress.message(f"{server.origin}: the Chroma server is filled anew: {exc}")
            server.drop(name)
        try:
            return mirror.bring_up(None, name), tuple(told)
        except _Wrong as exc:
            raise VectorServerError(
                f"{server.origin}: the Chroma server does not hold what was written ({exc}); see "
                "what it logs"
            ) from exc


def remove_served_mirror(layout: IndexLayout, settings: Settings) -> tuple[str, ...]:
    """Delete the collection that was filled last, if there was one; what to tell people."""
    if not layout.chroma_collection.exists():
        return ()
    try:
        with _asked(settings, layout) as server:
            return tuple(_forget_former(layout, settings, server, keep=None))
    except VectorServerError as exc:
        return (
            f"{exc}. It still holds passages of this index, which are deleted there by the next run "
            "that reaches it",
        )


class _ServedMirror:
    """A view of the catalog, and the collection that is brought to it."""

    def __init__(
        self,
        server: ChromaServer,
        view: CatalogSnapshot,
        interrupted: Callable[[], bool],
        progress: Progress,
    ) -> None:
        self._server = server
        self._view = view
        self._interrupted = interrupted
        self._progress = progress
        self._ids = sorted(one for ids in view.chunk_ids().values() for one in ids)

    def bring_up(self, found: ServerCollection | None, name: str) -> bool:
        """Whether the collection holds the view's generation now.

        :raises _Wrong: if it does not, and was not interrupted.
        """
        server, now = self._server, self._view.generation
        if found is None:
            found = server.create(name, GRAPH, ServedState(0, now, 0).metadata())
            faults.point("collection-made")
        state = ServedState.read(found)
        if max(state.generation, state.toward) > now:
            raise _Wrong("it is of a later generation than the index")
        if state.generation == state.toward == now:
            self._check(found, state)
            return True
        if state.generation:
            state = replace(state, toward=now)
            found = server.annotate(found, state.metadata())
        # A first fill that was cut off holds rows of the generation that it began with, or later ones.
        changed = self._view.changed_paths(state.generation or state.toward)
        written = self._write(found, changed, every=not state.generation)
        if written is None:
            return False
        self._check(found, state)
        recall = state.recall
        if recall is None or written * _REMEASURED >= len(self._ids):
            recall = self._recall(found)
        server.annotate(found, ServedState(now, now, len(self._ids), recall).metadata())
        faults.point("collection-whole")
        return True

    def _write(
        self, collection: ServerCollection, changed: Sequence[str], *, every: bool
    ) -> int | None:
        """Take in what changed; how many rows were written, None if it was interrupted."""
        server, wanted = self._server, set(self._ids)
        new = {key.id for key in self._view.chunk_keys(changed)}
        there: set[str] = set()
        if every or len(changed) > _MANY_NOTES:
            there.update(server.ids(collection))
        else:
            for some in slices(changed, _NOTES_AT_ONCE):
                there.update(server.ids(collection, documents=some))
        if every:
            new |= wanted - there
        # First what is to be seen by nobody any more.
        for some in slices(sorted(there - wanted), _AT_ONCE):
            server.delete(collection, some)
        self._progress.stage("Copying to the Chroma server", len(new), "passages")
        for some in slices(sorted(new), _AT_ONCE):
            if self._interrupted():
                return None
            server.upsert(collection, read_rows(self._view, some))
            self._progress.advance(len(some))
            faults.point("collection-added")
        return len(new)

    def _check(self, collection: ServerCollection, state: ServedState) -> None:
        """See that the collection has every passage, and that they are found as before."""
        server, view = self._server, self._view
        if (count := server.count(collection)) != len(self._ids):
            raise _Wrong(f"it holds {count:,} of {len(self._ids):,} passages")
        probes, matrix = view.vectors("chunks", _drawn(self._ids, _PROBES))
        if not probes or not state.generation:
            # One that was just filled anew is as good as it gets: how good, its recall says.
            return
        named = server.nearest(collection, matrix, 1)
        first = dict(zip(*view.vectors("chunks", chain(*named)), strict=True))
        # By likeness: of equal passages any may come first; and one without direction is like none.
        found = sum(
            not probe.any() or any(first[one] @ probe > _ITSELF for one in some if one in first)
            for probe, some in zip(matrix, named, strict=True)
        )
        least = _FOUND if (state.recall or 0.0) >= LEAST_RECALL else _HALF
        if found < least * len(probes):
            raise _Wrong(f"a search finds {found} of {len(probes)} passages")

    def _recall(self, collection: ServerCollection) -> float | None:
        """The share of the nearest passages that the server names, as searches ask; None for none."""
        # Questions are sentences with a link and passages, drawn by their ids, which are hashes; the
        # truth is every vector of the catalog, a page at a time.
        view, oversampling = self._view, self._server.settings.oversampling
        drawn = [
            matrix[_drawn(range(len(ids)), _QUESTIONS // 2)]
            for ids, matrix in chain(*(islice(view.all_vectors(name), 1) for name in _QUESTIONED))
        ]
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
            named = self._server.nearest(collection, queries[list(at)], NEAREST * oversampling)
            for row, ids in zip(at, named, strict=True):
                found, matrix = view.vectors("chunks", ids)
                # By score: of equal passages any will do.
                near = int((matrix @ queries[row] >= bars[row] - 1e-6).sum()) if found else 0
                shares.append(min(1.0, near / best.shape[1]))
        return round(float(np.mean(shares)), 4)


def _asked(settings: Settings, layout: IndexLayout) -> closing[ChromaServer]:
    seconds = settings.chroma.write_timeout_s
    return closing(ChromaServer(settings, layout.root, seconds))


def _drawn(values: Sequence[Drawn], count: int) -> list[Drawn]:
    return list(values[:: max(1, -(-len(values) // count))])


def _record(settings: Settings, name: str) -> dict[str, str]:
    """Which collection holds texts of an index."""
    about = settings.chroma
    return {
        "url": about.url,
        "tenant": about.tenant,
        "database": about.database,
        "collection": name,
    }


def _remember(layout: IndexLayout, settings: Settings, name: str) -> None:
    """Write down which collection holds texts of this index, before it does."""
    try:
        replace_file(layout.chroma_collection, json.dumps(_record(settings, name)))
    except OSError as exc:
        raise unwritable(layout.root, exc) from exc


def _forget_former(
    layout: IndexLayout, settings: Settings, server: ChromaServer, *, keep: str | None
) -> list[str]:
    """Delete the collection that was filled last if it is another one, as after a rebuild."""
    former = read_json(dict[str, str], layout.chroma_collection) or {}
    name = former.get("collection", "")
    told: list[str] = []
    if not name or former == _record(settings, keep or ""):
        return []
    if former == _record(settings, name):
        server.drop(name)
    else:
        # Its token is another one, and so may be what its host is allowed to get.
        told.append(
            f"{former.get('url')}: the Chroma server still holds passages of this index, in the "
            f"collection {name}; delete it there if nobody needs it"
        )
    with suppress(OSError):
        layout.chroma_collection.unlink(missing_ok=True)
    return told
