from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nsmallest
from posixpath import dirname

from notehop.app.models import GraphEdge, GraphNode, GraphView
from notehop.app.services.notes.browse import around, leads
from notehop.app.services.notes.current_notes import CurrentNotes
from notehop.app.services.notes.find_note import seeds_meant
from notehop.config.errors import QueryError
from notehop.indexing.stores.reader import Snapshot

MOST = 300
"""Notes of a picture: more are no picture."""

DEEPEST = 2

SPRINGS = 60
"""Steps of the layout; a graph of this size has settled by then."""

APART = 1
"""Strength of the spring between parts that no link connects; that of a link is 1 to 3."""

Pairs = Mapping[tuple[str, str], int]
"""(source, target) -> how many links."""


def graph_view(
    now: CurrentNotes, asked: Sequence[str], *, depth: int = 1, most: int = 60
) -> GraphView:
    """Lay out the notes around some, or the best of all.

    Shown are the seeds, then those nearest, and of these the best by PageRank.

    :param asked: names of notes; none takes the best of the vault by PageRank.
    :raises NoteMissing: if one is no note.
    :raises QueryError: if ``depth`` or ``most`` is out of range.
    """
    if not (1 <= depth <= DEEPEST and 1 <= most <= MOST):
        raise QueryError(f"depth is {depth} (1 to {DEEPEST}) and most is {most} (1 to {MOST})")
    view = now.indexed
    seeds, warnings = seeds_meant(now, asked)
    ranks = view.pagerank
    if seeds:
        reached = around(view, list(seeds), depth=depth, direction="both")
        near = sorted(reached, key=lambda one: (one.depth, -ranks.get(one.path, 0.0), one.path))
        wanted = [*seeds, *(one.path for one in near)]
    else:
        total = view.paths()
        wanted = nsmallest(2 * most, total, key=lambda path: (-ranks.get(path, 0.0), path))
    count = len(wanted) if seeds else len(total)
    rows = now.notes_at(wanted[: 2 * most])
    paths = [path for path in wanted if path in rows][:most]
    edges, degrees = _edges(view, paths)
    places = laid_out(paths, edges)
    return GraphView(
        nodes=[
            GraphNode(
                path=path,
                title=rows[path].title,
                folder=dirname(path),
                x=places[path][0],
                y=places[path][1],
                degree=degrees[path],
                pagerank=ranks.get(path, 0.0),
                seed=path in seeds,
                uri=now.uri(path),
            )
            for path in paths
        ],
        edges=[
            GraphEdge(source=source, target=target, count=links)
            for (source, target), links in sorted(edges.items())
        ],
        total=count,
        themes=now.place.settings.themes.enabled,
        warnings=[*warnings, *now.reply_warnings()],
        generation=view.generation,
    )


def laid_out(paths: Sequence[str], edges: Pairs) -> dict[str, tuple[float, float]]:
    """Where each note is drawn, between -1 and 1; the same for the same graph. Pure.

    Linked notes lie near each other. Springs on a circle to begin with, so that chance decides
    nothing; a part that no link connects with the rest hangs on a weak spring, or it would fly off.
    """
    import networkx as nx

    if not paths:
        return {}
    if len(paths) == 1:
        return {paths[0]: (0.0, 0.0)}
    graph = nx.Graph()
    graph.add_nodes_from(paths)
    for (source, target), links in sorted(edges.items()):
        if source != target:
            known = graph.get_edge_data(source, target, {"weight": 0})["weight"]
            graph.add_edge(source, target, weight=min(known + links, 3))
    first = {path: at for at, path in enumerate(paths)}
    parts = [min(part, key=first.__getitem__) for part in nx.connected_components(graph)]
    for head in sorted(parts, key=first.__getitem__)[1:]:
        graph.add_edge(paths[0], head, weight=APART)
    start = nx.circular_layout(graph)
    found = nx.spring_layout(
        graph, pos=start, k=1.6 / len(paths) ** 0.5, iterations=SPRINGS, seed=0, method="force"
    )
    return _fitted({path: (float(at[0]), float(at[1])) for path, at in found.items()})


def _fitted(places: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """The places, moved and stretched so that they fill the square from -1 to 1."""
    found: list[list[float]] = []
    for axis in (0, 1):
        values = [at[axis] for at in places.values()]
        low, high = min(values), max(values)
        middle, half = (low + high) / 2, (high - low) / 2 or 1.0
        found.append([round((value - middle) / half, 4) for value in values])
    return dict(zip(places, zip(*found, strict=True), strict=True))


def _edges(view: Snapshot, paths: Sequence[str]) -> tuple[Pairs, Mapping[str, int]]:
    """The links between the notes, and how many each has in the vault."""
    shown_notes = set(paths)
    edges: Counter[tuple[str, str]] = Counter()
    degrees: Counter[str] = Counter()
    for link in view.links_from(paths):
        target = leads(view, link)
        if target is None or target == link.path:
            continue
        degrees[link.path] += 1
        if target in shown_notes:
            edges[link.path, target] += 1
    for link in view.links_to(paths):
        if leads(view, link) is not None and link.path != link.target_path:
            degrees[str(link.target_path)] += 1
    return edges, degrees
