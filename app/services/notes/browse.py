"""What lies around notes in the graph of links, listed or laid out as a picture; and what the notes of a
vault can be filtered by.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain, islice
from pathlib import PurePosixPath
from typing import Any

from notehop.app import models
from notehop.app.models.query import Direction
from notehop.app.retrieval.filters import apply_filters, conditions_of_fields, keep_allowed
from notehop.app.services.notes.current_notes import CurrentNotes
from notehop.app.services.notes.find_note import seeds_meant
from notehop.config.errors import QueryError
from notehop.indexing.graph.resolve import Status
from notehop.indexing.stores import filter_labels
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.rows import LinkRow
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.vault.plain import words_of

LINKS = 5  # links of a note that are named; the rest is counted

LEADING = frozenset({Status.RESOLVED.value, Status.AMBIGUOUS.value})
"""What links lead somewhere; an excluded target is not for anybody to see."""


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """A note some links away, by its shortest way; ``links`` are all that connect it with nearer notes."""

    path: str
    depth: int
    links: tuple[LinkRow, ...]


def browse(now: CurrentNotes, tokenizer: Tokenizer, query: models.BrowseQuery) -> models.BrowseResult:
    """List what lies around the seeds; the way to what filters choose may lead through any note."""
    view = now.indexed
    seeds, warnings = seeds_meant(now, query.seeds)
    entries = around(view, list(seeds), depth=query.depth, direction=query.direction)
    if any(conditions_of_fields(query.filters)):
        narrowed = apply_filters("", query.filters, view, tokenizer, now.any_of, literal=True)
        warnings += narrowed.warnings
        ids = chain.from_iterable(view.chunk_ids_of(one.path) for one in entries)
        left = {view.path_of(one) for one in keep_allowed(ids, narrowed.allowed)}
        entries = [one for one in entries if one.path in left]
    ranks: Mapping[str, float] = view.pagerank if query.rank == "pagerank" else {}
    if query.rank == "recency":
        rows = view.notes_at([entry.path for entry in entries])
        ranks = {path: row.modified for path, row in rows.items()}

    def score(entry: Reached) -> float:
        return float(len(entry.links)) if query.rank == "edges" else ranks.get(entry.path, 0.0)

    entries.sort(key=lambda one: (-score(one), one.depth, -len(one.links), one.path))
    found: list[models.BrowsedNote] = []
    gone, waiting = 0, iter(entries)
    while len(found) < query.max and (part := list(islice(waiting, query.max - len(found)))):
        standing = _standing(now, part, score)
        gone += len(part) - len(standing)
        found += standing
    return models.BrowseResult(
        seeds=[
            models.BrowsedSeed(asked=seeds[path], path=path, title=row.title, uri=now.uri(path))
            for path, row in now.notes_at(seeds).items()
        ],
        notes=found,
        total=len(entries) - gone,
        warnings=[*warnings, *now.reply_warnings()],
        generation=view.generation,
    )


def _standing(
    now: CurrentNotes, entries: Sequence[Reached], score: Callable[[Reached], float]
) -> list[models.BrowsedNote]:
    """Those of the entries that stand in the vault, as they are there."""
    rows = now.notes_at(entry.path for entry in entries)
    linked: dict[str, tuple[Reached, list[LinkRow]]] = {}
    for entry in entries:
        if entry.path in rows and (own := now.current_links(entry.links)):
            linked[entry.path] = entry, own
    chunks = now.first_chunks(linked)
    said = now.in_a_line(
        {path: rows[path] for path in linked}, {path: one.text for path, one in chunks.items()}
    )
    found: list[models.BrowsedNote] = []
    for path, (entry, own) in linked.items():
        chunk, ways = chunks.get(path), {link.path != path for link in own}
        way: Direction = "both" if len(ways) == 2 else "forward" if True in ways else "backward"
        found.append(
            models.BrowsedNote(
                **now.place_of(rows[path]),
                lines=(1, 1) if chunk is None else (chunk.first_line, chunk.last_line),
                text=said[path].text,
                depth=entry.depth,
                way=way,
                edges=len(own),
                score=score(entry),
                modified=rows[path].modified,
                links=[
                    models.BrowsedLink(
                        source=link.path,
                        target=str(link.target_path),
                        line=link.line,
                        sentence=words_of(link.sentence),
                        fragment=link.fragment,
                    )
                    for link in sorted(own, key=lambda link: not link.sentence)[:LINKS]
                ],
                written_by=said[path].model,
            )
        )
    return found


def around(view: Snapshot, seeds: Sequence[str], *, depth: int, direction: Direction) -> list[Reached]:
    """Return the notes at most ``depth`` links from the seeds, nearest first, then by path.

    :returns: never a seed; of the links of each those to it first, then by their place.
    """
    reached = set(seeds)
    frontier = list(dict.fromkeys(seeds))
    found: list[Reached] = []
    for away in range(1, depth + 1):
        ring: dict[str, list[LinkRow]] = {}
        for link in view.links_from(frontier) if direction != "backward" else ():
            target = leads(view, link)
            if target is not None and target not in reached:
                ring.setdefault(target, []).append(link)
        for link in view.links_to(frontier) if direction != "forward" else ():
            held = view.chunk_ids_of(link.path) and leads(view, link) is not None
            if held and link.path not in reached:
                ring.setdefault(link.path, []).append(link)
        frontier = sorted(ring)
        reached.update(frontier)
        found += [Reached(path, away, tuple(ring[path])) for path in frontier]
    return found


def leads(view: Snapshot, link: LinkRow) -> str | None:
    """The indexed note that a link leads to; None for any other link."""
    path = link.target_path if link.status in LEADING else None
    return path if path is not None and view.chunk_ids_of(path) else None


MOST = 300  # notes of a picture: more are no picture
SPRINGS = 60  # steps of the layout; a graph of this size has settled by then
APART = 1  # strength of the spring between parts that no link connects; that of a link is 1 to 3


def graph_view(now: CurrentNotes, asked: Sequence[str], *, depth: int, most: int) -> models.GraphView:
    """Lay out the notes around some, those nearest first, then the best by PageRank."""
    if not (1 <= depth <= 2 and 1 <= most <= MOST):
        raise QueryError(f"depth is {depth} (1 to 2) and most is {most} (1 to {MOST})")
    view = now.indexed
    seeds, warnings = seeds_meant(now, asked)
    ranks = view.pagerank
    if seeds:
        reached = around(view, list(seeds), depth=depth, direction="both")
        near = sorted(reached, key=lambda one: (one.depth, -ranks.get(one.path, 0.0), one.path))
        wanted = [*seeds, *(one.path for one in near)]
        total = len(wanted)
    else:
        every = view.paths()
        wanted = nsmallest(2 * most, every, key=lambda path: (-ranks.get(path, 0.0), path))
        total = len(every)
    rows = now.notes_at(wanted[: 2 * most])
    paths = [path for path in wanted if path in rows][:most]
    shown = set(paths)
    edges: Counter[tuple[str, str]] = Counter()
    degrees: Counter[str] = Counter()
    for outward, links in ((True, view.links_from(paths)), (False, view.links_to(paths))):
        for link in links:
            target = leads(view, link)
            if target is not None and target != link.path:
                degrees[link.path if outward else target] += 1
                if outward and target in shown:
                    edges[link.path, target] += 1
    places = laid_out(paths, edges)
    return models.GraphView(
        nodes=[
            models.GraphNode(
                **now.place_of(rows[path]),
                x=places[path][0],
                y=places[path][1],
                degree=degrees[path],
                pagerank=ranks.get(path, 0.0),
                seed=path in seeds,
            )
            for path in paths
        ],
        edges=[
            models.GraphEdge(source=source, target=target, count=count)
            for (source, target), count in sorted(edges.items())
        ],
        total=total,
        warnings=[*warnings, *now.reply_warnings()],
        generation=view.generation,
    )


def laid_out(paths: Sequence[str], edges: Mapping[tuple[str, str], int]) -> dict[str, tuple[float, float]]:
    """Where each note is drawn, between -1 and 1; the same for the same graph. Pure.

    :param edges: (source, target) -> how many links; none of a note to itself.

    Linked notes lie near each other. Springs on a circle to begin with, so that chance decides
    nothing; a part that no link connects with the rest hangs on a weak spring, or it would fly off.
    """
    import networkx as nx
    import numpy as np

    if not paths:
        return {}
    graph = nx.Graph()
    graph.add_nodes_from(paths)
    for (source, target), links in sorted(edges.items()):
        known = graph.get_edge_data(source, target, {"weight": 0})["weight"]
        graph.add_edge(source, target, weight=min(known + links, 3))
    for part in [*nx.connected_components(graph)]:
        if paths[0] not in part:
            graph.add_edge(paths[0], min(part, key=paths.index), weight=APART)
    start = nx.circular_layout(graph)
    found = nx.spring_layout(
        graph, pos=start, k=1.6 / len(paths) ** 0.5, iterations=SPRINGS, seed=0, method="force"
    )
    # Moved and stretched so that they fill the square.
    places = np.array([found[path] for path in paths])
    low, high = places.min(axis=0), places.max(axis=0)
    fitted = (places - (low + high) / 2) / np.where(high > low, (high - low) / 2, 1.0)
    return {path: (x, y) for path, (x, y) in zip(paths, fitted.round(4).tolist(), strict=True)}


VALUES = 5  # values of a property that are named

_LINK_SIGNS = re.compile(r"[\[\]|#]+")


def overview(now: CurrentNotes) -> models.VaultOverview:
    """Count tags, folders, types and properties over the notes that are in the vault now."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    folders: Counter[str] = Counter()
    having: Counter[str] = Counter()
    spelled: defaultdict[str, Counter[str]] = defaultdict(Counter)
    notes = now.notes_at(now.paths()).values()
    for note in notes:
        folders.update(str(one) for one in PurePosixPath(note.path).parents if one.name)
        rows = filter_labels.label_rows(note)
        having.update({label for label, _ in rows})
        for label, value in rows:
            counts[label][value] += 1
        for text in _texts([note.page_type, note.front_matter]):
            spelled[filter_labels.value_label(text)][text[: filter_labels.LENGTH]] += 1

    def as_written(value: str) -> str:
        return next(iter(_most_first(spelled[value])), value)

    days = sorted(moment[:10] for moment in counts[filter_labels.DATE])
    return models.VaultOverview(
        name=now.place.name,
        notes=len(notes),
        first=days[0] if days else None,
        last=days[-1] if days else None,
        folders=_most_first(folders),
        tags=_most_first(counts[filter_labels.TAG]),
        types={as_written(one): count for one, count in _most_first(counts[filter_labels.TYPE]).items()},
        properties={
            key: models.PropertyUse(
                notes=number,
                # What a link names stands beside it.
                values=[
                    as_written(one) for one in _most_first(counts[label]) if one and not one.startswith("[[")
                ][:VALUES],
            )
            for label, number in _most_first(having).items()
            # ``created: {{date}}`` of a template is a mapping to YAML.
            if (key := filter_labels.property_key(label)) is not None and "{" not in key
        },
        warnings=now.reply_warnings(),
        generation=now.generation,
    )


def _most_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def _texts(values: Any) -> Iterator[str]:
    """The texts in a value of front matter as they are written, and what its links name."""
    if isinstance(values, str):
        yield from dict.fromkeys(part.strip() for part in (values, *_LINK_SIGNS.split(values)))
    elif isinstance(values, Mapping | list | tuple):
        for one in values.values() if isinstance(values, Mapping) else values:
            yield from _texts(one)
