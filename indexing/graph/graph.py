"""The graph of notes: a node a note, an edge a link that leads to one.

networkx is imported inside the functions, for commands that need no graph start faster without it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from indexing.graph.model import Status
from indexing.graph.neighbours import Direction, Neighbour, neighbours
from indexing.graph.pagerank import pagerank

if TYPE_CHECKING:
    import networkx as nx

__all__ = [
    "Direction",
    "LinkInfo",
    "Neighbour",
    "NodeInfo",
    "build_graph",
    "neighbours",
    "pagerank",
    "remove_note",
    "update_note",
]


class NodeInfo(Protocol):
    """What the graph keeps of a note; a row of the catalog has this shape."""

    @property
    def path(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def page_type(self) -> str | None: ...
    @property
    def modified(self) -> float: ...


class LinkInfo(Protocol):
    """What the graph keeps of a link; a row of the catalog has this shape.

    ``ordinal`` is the link's place among those of its note, ``status`` and ``via`` hold values of
    :class:`~indexing.graph.model.Status` and :class:`~indexing.graph.model.Via`.
    """

    @property
    def path(self) -> str: ...
    @property
    def ordinal(self) -> int: ...
    @property
    def chunk_id(self) -> str | None: ...
    @property
    def line(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def fragment(self) -> str | None: ...
    @property
    def sentence(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def via(self) -> str | None: ...
    @property
    def target_path(self) -> str | None: ...
    @property
    def target_chunk_id(self) -> str | None: ...


def build_graph(notes: Iterable[NodeInfo], links: Iterable[LinkInfo]) -> nx.MultiDiGraph:
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


def update_note(graph: nx.MultiDiGraph, note: NodeInfo, links: Iterable[LinkInfo]) -> None:
    """Add a note, or replace what is known of it and all links that it holds.

    ``links`` are all links of this note. Links of others to it stay as they are: where a note
    appears or moves, update each note whose links were resolved again, after all notes are there.

    :raises ValueError: if a link stands in another note.
    """
    rows = list(links)
    for link in rows:
        if link.path != note.path:
            raise ValueError(f"{link.path}: link {link.ordinal} given as one of {note.path}")
    graph.add_node(note.path, **_node(note))
    graph.remove_edges_from(list(graph.out_edges(note.path, keys=True)))
    graph.add_edges_from(
        (link.path, link.target_path, link.ordinal, _edge(link))
        for link in rows
        if _leads(graph, link)
    )


def remove_note(graph: nx.MultiDiGraph, path: str) -> None:
    """Remove a note with all edges from and to it; nothing happens if it is not there."""
    if path in graph:
        graph.remove_node(path)


def _leads(graph: nx.MultiDiGraph, link: LinkInfo) -> bool:
    return link.status in (Status.RESOLVED, Status.AMBIGUOUS) and link.target_path in graph


def _node(note: NodeInfo) -> dict[str, Any]:
    return {
        "title": note.title,
        "tags": note.tags,
        "page_type": note.page_type,
        "modified": note.modified,
    }


def _edge(link: LinkInfo) -> dict[str, Any]:
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
