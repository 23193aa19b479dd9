"""Lists what lies around some notes in the graph of links, or lays it out as a picture; and counts what
the notes of a vault can be filtered by.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain, islice
from pathlib import PurePosixPath
from posixpath import dirname
from typing import Any

from notehop.app import models
from notehop.app.retrieval.filter_syntax import of_fields
from notehop.app.retrieval.filters import among, narrow
from notehop.app.retrieval.linked_notes import Direction
from notehop.app.services.notes.current_notes import CurrentNotes
from notehop.app.services.notes.find_note import seeds_meant
from notehop.config.errors import QueryError
from notehop.indexing.enrich.store import Summary
from notehop.indexing.graph.resolve import Status
from notehop.indexing.stores.labels import (
    DATE,
    LENGTH,
    TAG,
    TYPE,
    label_rows,
    property_key,
    value_label,
)
from notehop.indexing.stores.model import ChunkId, LinkRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.vault.plain import words_of

LINKS = 5  # links of a note that are named; the rest is counted


def browse(
    now: CurrentNotes, tokenizer: Tokenizer, query: models.BrowseQuery
) -> models.BrowseResult:
    """List what lies around the seeds.

    Filters choose what is listed; the way there may lead through any note.

    :raises NoteMissing: if a seed is no note.
    :raises QueryError: if a filter makes no sense.
    """
    view = now.indexed
    seeds, warnings = seeds_meant(now, query.seeds)
    entries = around(view, list(seeds), depth=query.depth, direction=query.direction)
    if query.results == "chunks":
        entries = [part for entry in entries for part in _by_chunk(entry)]
    if any(of_fields(query.filters)):
        narrowed = narrow("", query.filters, view, tokenizer, now.any_of, literal=True)
        warnings += narrowed.warnings
        # Of a note, any of its passages may be left.
        ids = [[one.chunk] if one.chunk else view.chunk_ids_of(one.path) for one in entries]
        every = list(dict.fromkeys(chain.from_iterable(ids)))
        left = set(among(every, narrowed.allowed))
        entries = [one for one, own in zip(entries, ids, strict=True) if not left.isdisjoint(own)]
    score = _score(view, entries, query.rank)
    entries.sort(key=lambda one: (-score(one), one.depth, -len(one.steps), one.path))
    notes, gone = _standing(now, entries, score, query.max)
    return models.BrowseResult(
        seeds=[
            models.BrowsedSeed(asked=seeds[path], path=path, title=row.title, uri=now.uri(path))
            for path, row in now.notes_at(seeds).items()
        ],
        notes=notes,
        total=len(entries) - gone,
        warnings=[*warnings, *now.reply_warnings()],
        generation=view.generation,
    )


def _by_chunk(note: Reached) -> list[Reached]:
    """Of a note the passages that links meet in it, each with its links."""
    by_chunk: dict[ChunkId, list[Step]] = {}
    for step in note.steps:
        by_chunk.setdefault(step.shown, []).append(step)
    return [
        Reached(note.path, note.depth, tuple(steps), chunk) for chunk, steps in by_chunk.items()
    ]


def _score(view: Snapshot, entries: Sequence[Reached], rank: str) -> Callable[[Reached], float]:
    """What an entry is ranked by."""
    if rank == "edges":
        return lambda entry: float(len(entry.steps))
    if rank == "recency":
        rows = view.notes_at(dict.fromkeys(entry.path for entry in entries))
        return lambda entry: rows[entry.path].modified if entry.path in rows else 0.0
    ranks = view.pagerank
    return lambda entry: ranks.get(entry.path, 0.0)


def _standing(
    now: CurrentNotes, ordered: Sequence[Reached], score: Callable[[Reached], float], most: int
) -> tuple[list[models.BrowsedNote], int]:
    """The first entries that stand in the vault, and how many before the last do not."""
    found: list[models.BrowsedNote] = []
    gone = 0
    left = iter(ordered)
    while len(found) < most and (part := list(islice(left, most - len(found)))):
        notes = now.notes_at(dict.fromkeys(entry.path for entry in part))
        if part[0].chunk:
            said: Mapping[str, Summary] = {}
            chunks = now.chunks(
                entry.chunk for entry in part if entry.chunk and entry.path in notes
            )
        else:
            chunks = now.first_chunks(notes)
            said = now.in_a_line(notes, {path: chunk.text for path, chunk in chunks.items()})
        every = [step.link for entry in part for step in entry.steps]
        links = {_key(link): link for link in now.current_links(every)}
        for entry in part:
            note, chunk = notes.get(entry.path), chunks.get(entry.chunk or entry.path)
            steps = [step for step in entry.steps if _key(step.link) in links]
            if note is None or not steps or (chunk is None and entry.chunk is not None):
                gone += 1
                continue
            headings = chunk.heading_path if chunk is not None and entry.chunk else ()
            text = said.get(entry.path) or Summary("" if chunk is None else chunk.text)
            telling = sorted(steps, key=lambda step: not step.link.sentence)
            ways = {step.forward for step in steps}
            way: Direction = "both" if len(ways) == 2 else "forward" if True in ways else "backward"
            found.append(
                models.BrowsedNote(
                    path=entry.path,
                    title=note.title,
                    folder=dirname(entry.path),
                    heading=" > ".join(headings),
                    lines=(1, 1) if chunk is None else (chunk.first_line, chunk.last_line),
                    text=text.text,
                    depth=entry.depth,
                    way=way,
                    edges=len(steps),
                    score=score(entry),
                    modified=note.modified,
                    links=[
                        models.BrowsedLink(
                            source=link.path,
                            target=str(link.target_path),
                            line=link.line,
                            sentence=words_of(link.sentence),
                            fragment=link.fragment,
                        )
                        for link in (links[_key(step.link)] for step in telling[:LINKS])
                    ],
                    uri=now.uri(entry.path, headings),
                    written_by=text.model,
                )
            )
    return found, gone


def _key(link: LinkRow) -> tuple[str, int]:
    return link.path, link.ordinal


LEADING = frozenset({Status.RESOLVED.value, Status.AMBIGUOUS.value})
"""What links lead somewhere; an excluded target is not for anybody to see."""


@dataclass(frozen=True, slots=True)
class Step:
    """A link between a note and one that is nearer; ``forward`` leads to the farther one.

    ``shown`` is the chunk of the farther note at its end: the one that the link names, or the one
    that holds it.
    """

    link: LinkRow
    forward: bool
    far: str
    shown: ChunkId


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """A note some links away, by its shortest way; ``steps`` are all links to nearer notes.

    Where ``chunk`` is one, it is that passage of the note, with the links that meet in it.
    """

    path: str
    depth: int
    steps: tuple[Step, ...]
    chunk: ChunkId | None = None


def around(
    view: Snapshot, seeds: Sequence[str], *, depth: int, direction: Direction
) -> list[Reached]:
    """Return the notes at most ``depth`` links from the seeds, nearest first, then by path.

    :returns: never a seed; the steps of each forward ones first, then by the place of the link.
    """
    reached = set(seeds)
    frontier = list(dict.fromkeys(seeds))
    found: list[Reached] = []
    for away in range(1, depth + 1):
        ring: dict[str, list[Step]] = {}
        for step in _steps(view, frontier, direction):
            if step.far not in reached:
                ring.setdefault(step.far, []).append(step)
        frontier = sorted(ring)
        reached.update(frontier)
        found += [Reached(path, away, tuple(ring[path])) for path in frontier]
    return found


def leads(view: Snapshot, link: LinkRow) -> str | None:
    """The indexed note that a link leads to; None for any other link."""
    path = link.target_path if link.status in LEADING else None
    return path if path is not None and view.chunk_ids_of(path) else None


def _steps(view: Snapshot, paths: Sequence[str], direction: Direction) -> Iterator[Step]:
    if paths and direction != "backward":
        for link in view.links_from(paths):
            target = leads(view, link)
            if target is not None:
                shown = link.target_chunk_id or view.chunk_ids_of(target)[0]
                yield Step(link, True, target, shown)
    if paths and direction != "forward":
        for link in view.links_to(paths):
            ids = view.chunk_ids_of(link.path)
            if leads(view, link) is not None and ids:
                yield Step(link, False, link.path, link.chunk_id or ids[0])


MOST = 300  # notes of a picture: more are no picture
SPRINGS = 60  # steps of the layout; a graph of this size has settled by then
APART = 1  # strength of the spring between parts that no link connects; that of a link is 1 to 3

Pairs = Mapping[tuple[str, str], int]
"""(source, target) -> how many links."""


def graph_view(
    now: CurrentNotes, asked: Sequence[str], *, depth: int, most: int
) -> models.GraphView:
    """Lay out the notes around some, or the best of all.

    Shown are the seeds, then those nearest, and of these the best by PageRank.

    :param asked: names of notes; none takes the best of the vault by PageRank.
    :raises NoteMissing: if one is no note.
    :raises QueryError: if ``depth`` or ``most`` is out of range.
    """
    if not (1 <= depth <= 2 and 1 <= most <= MOST):
        raise QueryError(f"depth is {depth} (1 to 2) and most is {most} (1 to {MOST})")
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
    return models.GraphView(
        nodes=[
            models.GraphNode(
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
            models.GraphEdge(source=source, target=target, count=links)
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
    import numpy as np

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


VALUES = 5  # values of a property that are named

_LINK_SIGNS = re.compile(r"[\[\]|#]+")


def overview(now: CurrentNotes) -> models.VaultOverview:
    """Count tags, folders, types and properties over the notes that are in the vault now."""
    counts: dict[str, Counter[str]] = {TAG: Counter(), TYPE: Counter(), DATE: Counter()}
    folders: Counter[str] = Counter()
    having: Counter[str] = Counter()
    spelled: dict[str, Counter[str]] = {}
    notes = now.notes_at(now.paths()).values()
    for note in notes:
        folders.update(str(one) for one in PurePosixPath(note.path).parents if one.name)
        labels = label_rows(note)
        having.update({label for label, _ in labels})
        for label, value in labels:
            counts.setdefault(label, Counter())[value] += 1
        for text in _texts([note.page_type, note.front_matter]):
            spelled.setdefault(value_label(text), Counter())[text[:LENGTH]] += 1

    def as_written(value: str) -> str:
        return next(iter(_most_first(spelled.get(value, Counter()))), value)

    days = sorted(moment[:10] for moment in counts[DATE])
    return models.VaultOverview(
        name=now.place.name,
        notes=len(notes),
        first=days[0] if days else None,
        last=days[-1] if days else None,
        folders=_most_first(folders),
        tags=_most_first(counts[TAG]),
        types={as_written(one): count for one, count in _most_first(counts[TYPE]).items()},
        properties={
            key: models.PropertyUse(
                notes=number,
                values=[as_written(one) for one in _most_first(counts[label]) if one][:VALUES],
            )
            for label, number in _most_first(having).items()
            if (key := property_key(label)) is not None
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
