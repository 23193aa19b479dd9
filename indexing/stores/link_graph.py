"""What follows from the links of a generation: its graph, made when it is asked for, and the PageRank
of its notes, which is brought on by difference then.

networkx is imported inside the function, for commands that need no graph start faster without it.

Touches: index (reads).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from notehop.config.errors import NotehopError
from notehop.indexing.graph.model import Status
from notehop.indexing.graph.pagerank import LinkTable
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.model import LinkRow, NoteRow, NoteStatus

if TYPE_CHECKING:
    import networkx as nx


class Ranks:
    """PageRank of the newest generation, worked out beside the queries. Threads share it."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._working = threading.Lock()
        self._thread: threading.Thread | None = None
        self._links = LinkTable()
        self._last: tuple[str, int, Mapping[str, float]] | None = None

    def near(self, view: CatalogSnapshot) -> Mapping[str, float]:
        """That of a generation near this one: while it is worked out anew, the last one.

        Waits where there is none yet.
        """
        last = self._last
        if last is None or last[0] != view.stamp:
            return self.of(view)
        if last[1] < view.generation:
            self._begin(view.reopened)
        return last[2]

    def of(self, view: CatalogSnapshot) -> Mapping[str, float]:
        """That of this generation, or of a later one that was asked for before."""
        with self._working:
            last = self._last
            if last is None or last[0] != view.stamp:
                self._links = LinkTable()
                self._links.put((), view.indexed_paths(), view.leading_links())
            elif last[1] < view.generation:
                changed = view.relinked_paths(last[1])
                rows = view.notes_at(changed)
                indexed = [path for path in rows if rows[path].status is NoteStatus.INDEXED]
                self._links.put(changed, indexed, view.leading_links(changed))
            else:
                return last[2]
            ranks = self._links.ranks()
            self._last = (view.stamp, view.generation, ranks)
            return ranks

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
        # What fails, the next query begins again.
        with suppress(NotehopError), closing(reopened()) as view:
            self.of(view)


def build_graph(notes: Iterable[NoteRow], links: Iterable[LinkRow]) -> nx.MultiDiGraph:
    """Build the graph of a vault.

    Nodes are paths with ``title``, ``tags``, ``page_type`` and ``modified`` (seconds since the
    epoch). An edge leads from the note that holds a link to the one it means, under the link's
    ordinal as key, with ``kind``, ``source_chunk``, ``line``, ``fragment``, ``sentence``,
    ``target_chunk``, ``via``, ``status`` and ``ordinal``. An ambiguous link leads to its first
    candidate. Links without an edge: unresolved and excluded ones, those to attachments, and those
    whose source or target is not among ``notes``. A note that links to itself has a loop.
    """
    import networkx as nx

    graph = nx.MultiDiGraph()
    graph.add_nodes_from((note.path, _node(note)) for note in notes)
    graph.add_edges_from(
        (link.path, link.target_path, link.ordinal, _edge(link))
        for link in links
        if link.path in graph and _leads(graph, link)
    )
    return graph


def _leads(graph: nx.MultiDiGraph, link: LinkRow) -> bool:
    return link.status in (Status.RESOLVED, Status.AMBIGUOUS) and link.target_path in graph


def _node(note: NoteRow) -> dict[str, Any]:
    return {
        "title": note.title,
        "tags": note.tags,
        "page_type": note.page_type,
        "modified": note.modified,
    }


def _edge(link: LinkRow) -> dict[str, Any]:
    return {
        "kind": link.kind,
        "source_chunk": link.chunk_id,
        "line": link.line,
        "fragment": link.fragment,
        "sentence": link.sentence,
        "target_chunk": link.target_chunk_id,
        "via": link.via,
        "status": link.status,
        "ordinal": link.ordinal,
    }
