"""What follows from the links of a generation: its graph, and the PageRank of its notes.

Both are made when they are first asked for, and brought on by difference then.

Touches: index (reads).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from notehop.config.errors import NotehopError
from notehop.indexing.graph.link_table import LinkTable
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.model import NoteRow, NoteStatus

if TYPE_CHECKING:
    import networkx as nx

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class _Of(Generic[Made]):
    """Something made of a generation of a catalog."""

    stamp: str
    generation: int
    made: Made

    def is_of(self, view: CatalogSnapshot) -> bool:
        return (self.stamp, self.generation) == (view.stamp, view.generation)

    def is_before(self, view: CatalogSnapshot) -> bool:
        return self.stamp == view.stamp and self.generation < view.generation


class Graphs:
    """The graph of the newest generation that was asked for. Threads share it."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._last: _Of[nx.MultiDiGraph] | None = None

    def of(self, view: CatalogSnapshot) -> nx.MultiDiGraph:
        """The graph of a generation; whoever has it may not change it."""
        from notehop.indexing.graph.graph import build_graph

        with self._turn:
            last = self._last
            if last is not None and last.is_of(view):
                return last.made
            if last is not None and last.is_before(view):
                graph = _followed(last.made, view, last.generation)
            else:
                graph = build_graph(view.notes(NoteStatus.INDEXED), view.links())
            if last is None or last.stamp != view.stamp or last.is_before(view):
                self._last = _Of(view.stamp, view.generation, graph)
            return graph


class Ranks:
    """PageRank of the newest generation, worked out beside the queries. Threads share it."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._working = threading.Lock()
        self._thread: threading.Thread | None = None
        self._last: _Of[Mapping[str, float]] | None = None
        self._table = _Of("", 0, LinkTable())

    def near(self, view: CatalogSnapshot) -> Mapping[str, float]:
        """That of a generation near this one: while it is worked out anew, the last one.

        Waits where there is none yet.
        """
        last = self._last
        if last is None or last.stamp != view.stamp:
            return self.of(view)
        if last.is_before(view):
            self._begin(view.reopened)
        return last.made

    def of(self, view: CatalogSnapshot) -> Mapping[str, float]:
        """That of this generation, or of a later one that was asked for before."""
        with self._working:
            last = self._last
            if last is None or last.stamp != view.stamp or last.is_before(view):
                self._table = _of_links(self._table, view)
                last = _Of(view.stamp, view.generation, self._table.made.ranks())
                self._last = last
            return last.made

    def wait(self) -> None:
        """Return when nothing is being worked out."""
        with self._turn:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _begin(self, reopened: Callable[[], CatalogSnapshot]) -> None:
        with self._turn:
            if self._thread is not None and self._thread.is_alive():
                return
            self._thread = threading.Thread(
                target=self._work, args=(reopened,), name="notehop-pagerank", daemon=True
            )
            self._thread.start()

    def _work(self, reopened: Callable[[], CatalogSnapshot]) -> None:
        try:
            view = reopened()
        except NotehopError:
            return  # The next query begins again.
        try:
            self.of(view)
        except NotehopError:
            return
        finally:
            view.close()


@dataclass(frozen=True, slots=True)
class Derived:
    """What is handed on from generation to generation."""

    graphs: Graphs = field(default_factory=Graphs)
    ranks: Ranks = field(default_factory=Ranks)


def _followed(graph: nx.MultiDiGraph, view: CatalogSnapshot, since: int) -> nx.MultiDiGraph:
    from notehop.indexing.graph.graph import follow_graph

    changed = view.relinked_paths(since)
    there = _indexed(view, changed)
    new = [path for path in there if path not in graph]
    # Links of others to a note that is new may stand in the catalog as they did before.
    others = {link.path for link in view.links_to(new)} - there.keys()
    rows = there | _indexed(view, others)
    gone = [path for path in changed if path not in there]
    return follow_graph(graph, rows.values(), view.links_from(rows), gone)


def _of_links(table: _Of[LinkTable], view: CatalogSnapshot) -> _Of[LinkTable]:
    """The table of a generation: the same one, changed, if it was of one before."""
    if table.is_before(view):
        links = table.made
        changed = view.relinked_paths(table.generation)
        links.put(changed, _indexed(view, changed), view.leading_links(changed))
    else:
        links = LinkTable()
        links.put((), view.indexed_paths(), view.leading_links())
    return _Of(view.stamp, view.generation, links)


def _indexed(view: CatalogSnapshot, paths: Collection[str]) -> dict[str, NoteRow]:
    rows = view.notes_at(paths)
    return {path: row for path, row in rows.items() if row.status is NoteStatus.INDEXED}
