"""The graph of notes: a node a note, an edge a link that leads to one.

networkx is imported inside the functions, for commands that need no graph start faster without it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from notehop.indexing.graph.model import Status
from notehop.indexing.graph.pagerank import pagerank

if TYPE_CHECKING:
    import networkx as nx

__all__ = [
    "LinkInfo",
    "NodeInfo",
    "build_graph",
    "follow_graph",
    "pagerank",
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


def follow_graph(
    graph: nx.MultiDiGraph,
    notes: Iterable[NodeInfo],
    links: Iterable[LinkInfo],
    gone: Iterable[str] = (),
) -> nx.MultiDiGraph:
    """A graph like another one but for some notes; the other one stays as it is.

    The two share what is the same, so that it costs what changed, and a pass over the paths that
    takes 5 ms for 100,000. Neither may be changed any more.

    :param notes: those that are new or other than before, those whose links are, and those with a
        link to one that is new.
    :param links: all that these notes hold.
    :param gone: paths of notes that are there no more; others are passed over.
    :raises ValueError: if a link stands in another note.
    """
    import networkx as nx

    rows = {note.path: note for note in notes}
    held = list(links)
    if other := next((link for link in held if link.path not in rows), None):
        raise ValueError(f"{other.path}: link {other.ordinal} given as one of another note")
    followed = nx.MultiDiGraph()
    followed._node = dict(graph._node)
    succ, pred = _Shared(graph._succ), _Shared(graph._pred)
    followed._adj, followed._pred = succ.outer, pred.outer
    left = [path for path in gone if path in graph and path not in rows]
    for path in (*left, *rows):
        for target in graph._succ.get(path, ()):
            if target in pred.outer:
                pred.own(target).pop(path, None)
        succ.put(path)
    for path in left:
        for source in pred.outer[path]:
            succ.own(source).pop(path, None)
        del followed._node[path], succ.outer[path], pred.outer[path]
    for path, note in rows.items():
        followed._node[path] = _node(note)
        pred.own(path)
    for link in held:
        if _leads(followed, link):
            pred.own(str(link.target_path))
            followed.add_edge(link.path, link.target_path, link.ordinal, **_edge(link))
    return followed


class _Shared:
    """One side of the adjacency of a graph, of which single notes are made its own."""

    def __init__(self, outer: dict[str, dict[str, Any]]) -> None:
        self.outer = dict(outer)
        self._own: set[str] = set()

    def own(self, path: str) -> dict[str, Any]:
        """What a note is next to, to be changed."""
        if path not in self._own:
            self.outer[path] = dict(self.outer.get(path, {}))
            self._own.add(path)
        return self.outer[path]

    def put(self, path: str) -> None:
        """Begin anew with a note that is next to nothing."""
        self.outer[path] = {}
        self._own.add(path)


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
