"""The graph of a vault's links."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from notehop.indexing.graph.resolve import Status
from notehop.indexing.stores.model import LinkRow, NoteRow

if TYPE_CHECKING:
    import networkx as nx


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
