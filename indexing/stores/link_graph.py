"""What follows from the links of a generation: its graph, and the PageRank of its notes."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from notehop.indexing.graph.pagerank import pagerank
from notehop.indexing.graph.resolve import Status
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.model import LinkRow, NoteRow, NoteStatus

if TYPE_CHECKING:
    import networkx as nx


class Ranks:
    """PageRank of the newest generation, brought on by difference. Threads share it."""

    def __init__(self) -> None:
        self._working = threading.Lock()
        self._links: dict[str, list[str]] = {}
        self._last: tuple[str, int, Mapping[str, float]] | None = None

    def of(self, view: CatalogSnapshot) -> Mapping[str, float]:
        """That of this generation, or of a later one that was asked for before."""
        with self._working:
            last = self._last
            if last is not None and last[0] == view.stamp:
                if last[1] >= view.generation:
                    return last[2]
                changed = view.changed_paths(last[1], relinked=True)
                for path in changed:
                    self._links.pop(path, None)
                rows = view.notes_at(changed)
                indexed = [path for path in rows if rows[path].status is NoteStatus.INDEXED]
                links = view.leading_links(changed)
            else:
                self._links = {}
                indexed, links = view.indexed_paths(), view.leading_links()
            self._links |= {path: [] for path in indexed}
            for source, target in links:
                if source in self._links:
                    self._links[source].append(target)
            ranks = pagerank(
                self._links, ((path, to) for path, found in self._links.items() for to in found)
            )
            self._last = (view.stamp, view.generation, ranks)
            return ranks


def build_graph(notes: Iterable[NoteRow], links: Iterable[LinkRow]) -> nx.MultiDiGraph:
    """Build the graph of a vault.

    Nodes are paths with ``title``, ``tags``, ``page_type`` and ``modified`` (seconds since the
    epoch). An edge leads from the note that holds a link to the one it means, under the link's
    ordinal as key, with ``kind``, ``source_chunk``, ``line``, ``fragment``, ``sentence``,
    ``target_chunk``, ``via``, ``status`` and ``ordinal``. An ambiguous link leads to its first
    candidate. Links without an edge: unresolved and excluded ones, those to attachments, and those
    whose source or target is not among ``notes``. A note that links to itself has a loop.
    """
    # Not above: commands that need no graph start faster without it.
    import networkx as nx

    graph = nx.MultiDiGraph()
    for note in notes:
        graph.add_node(
            note.path,
            title=note.title,
            tags=note.tags,
            page_type=note.page_type,
            modified=note.modified,
        )
    for link in links:
        leads = link.status in (Status.RESOLVED, Status.AMBIGUOUS)
        if leads and link.path in graph and link.target_path in graph:
            graph.add_edge(
                link.path,
                link.target_path,
                link.ordinal,
                kind=link.kind,
                source_chunk=link.chunk_id,
                line=link.line,
                fragment=link.fragment,
                sentence=link.sentence,
                target_chunk=link.target_chunk_id,
                via=link.via,
                status=link.status,
                ordinal=link.ordinal,
            )
    return graph
