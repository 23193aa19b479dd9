"""The graph of a vault's links."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from notehop.indexing.graph.resolve import Status
from notehop.indexing.stores.rows import LinkRow, NoteRow

if TYPE_CHECKING:
    import networkx as nx


_OF_A_NOTE = ("title", "tags", "page_type", "modified")
_OF_A_LINK = (
    ("kind", "kind"), ("source_chunk", "chunk_id"), ("line", "line"), ("fragment", "fragment"),
    ("sentence", "sentence"), ("target_chunk", "target_chunk_id"), ("via", "via"),
    ("status", "status"), ("ordinal", "ordinal"),
)  # fmt: skip
"""Attributes of nodes and edges, and the fields that they are."""


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
        graph.add_node(note.path, **{name: getattr(note, name) for name in _OF_A_NOTE})
    for link in links:
        leads = link.status in (Status.RESOLVED, Status.AMBIGUOUS)
        if leads and link.path in graph and link.target_path in graph:
            said = {name: getattr(link, field) for name, field in _OF_A_LINK}
            graph.add_edge(link.path, link.target_path, link.ordinal, **said)
    return graph
