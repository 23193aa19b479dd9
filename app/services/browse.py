"""Lists what lies around some notes in the graph of links: the notes, or the passages linked; and counts
what the notes of a vault can be filtered by.

Touches: index (reads), vault-read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import PurePosixPath
from posixpath import dirname
from typing import Literal

from notehop.app.answer.material import open_uri
from notehop.app.models import (
    BrowsedLink,
    BrowsedNote,
    BrowsedSeed,
    BrowseQuery,
    BrowseResult,
    PropertyUse,
    VaultOverview,
)
from notehop.app.retrieval.filters.apply import Allowed
from notehop.app.retrieval.filters.narrowing import narrow
from notehop.app.retrieval.filters.parse import of_fields
from notehop.app.retrieval.linked_notes import Direction
from notehop.app.services.current_notes import CurrentNotes, in_a_line
from notehop.app.services.find_note import listed, notes_meant, shown
from notehop.app.services.open_vault import Place
from notehop.indexing.enrich.summaries import Summaries, Summary
from notehop.indexing.graph.model import Status
from notehop.indexing.stores.catalog_read import CatalogReads
from notehop.indexing.stores.labels import DATE, TAG, TYPE, label_rows, property_key
from notehop.indexing.stores.model import ChunkId, ChunkRow, LinkRow, NoteRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.vault.plain import words_of

LINKS = 5
"""Links of a note that are named; the rest is counted."""


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """What may be listed: a note or, where ``chunk`` is one, the passage that links meet in it."""

    path: str
    depth: int
    steps: tuple[Step, ...]
    chunk: ChunkId | None = None


def browse(
    view: Snapshot, catalog: CatalogReads, place: Place, tokenizer: Tokenizer, query: BrowseQuery
) -> BrowseResult:
    """List what lies around the seeds.

    Filters choose what is listed; the way there may lead through any note.

    :raises NoteMissing: if a seed is no note.
    :raises QueryError: if a filter makes no sense.
    """
    now = CurrentNotes(view, place)
    seeds, warnings = _seeds(view, catalog, now, place.name, query.seeds)
    reached = around(
        view, [seed.path for seed in seeds], depth=query.depth, direction=query.direction
    )
    entries = entries_of(reached, query.results)
    if any(of_fields(query.filters)):
        narrowed = narrow("", query.filters, view, tokenizer, now.any_of, literal=True)
        warnings += narrowed.warnings
        allowed = None if narrowed.nothing else narrowed.allowed
        entries = _left(entries, allowed, view)
    ordered, scores = ranked(entries, _score(view, entries, query.rank))
    notes, gone = _standing(view, now, place, ordered, scores, query.max)
    return BrowseResult(
        seeds=seeds,
        notes=notes,
        total=len(entries) - gone,
        warnings=[*warnings, *now.reply_warnings()],
        generation=view.generation,
    )


def entries_of(reached: Iterable[Reached], results: Literal["notes", "chunks"]) -> list[Entry]:
    """What may be listed of the notes that were reached."""
    if results == "notes":
        return [Entry(one.path, one.depth, one.steps) for one in reached]
    entries: list[Entry] = []
    for one in reached:
        by_chunk: dict[ChunkId, list[Step]] = {}
        for step in one.steps:
            by_chunk.setdefault(step.shown, []).append(step)
        entries += [
            Entry(one.path, one.depth, tuple(steps), chunk) for chunk, steps in by_chunk.items()
        ]
    return entries


def ranked(
    entries: Sequence[Entry], score: Callable[[Entry], float]
) -> tuple[list[Entry], Mapping[Entry, float]]:
    """The entries by score, ties by depth, then links, then path and text order; their scores."""
    scores = {entry: score(entry) for entry in entries}
    ordered = sorted(
        entries,
        key=lambda entry: (-scores[entry], entry.depth, -len(entry.steps), entry.path),
    )
    return ordered, scores


def _seeds(
    view: Snapshot, catalog: CatalogReads, now: CurrentNotes, vault: str, asked: Iterable[str]
) -> tuple[list[BrowsedSeed], list[str]]:
    seeds: dict[str, BrowsedSeed] = {}
    warnings: list[str] = []
    for said in asked:
        rows = now.notes_at(notes_meant(view, catalog, now, said))
        if len(rows) > 1:
            warnings.append(
                f"{shown(said)}: {len(rows)} notes: {listed(list(rows))}; all are taken"
            )
        for path, row in rows.items():
            seeds.setdefault(
                path,
                BrowsedSeed(asked=said, path=path, title=row.title, uri=open_uri(vault, path)),
            )
    return list(seeds.values()), warnings


def _left(entries: Sequence[Entry], allowed: Allowed | None, view: Snapshot) -> list[Entry]:
    """The entries that filters leave; of a note, any of its passages."""
    if allowed is None:
        return []
    ids = [[entry.chunk] if entry.chunk else view.chunk_ids_of(entry.path) for entry in entries]
    left = set(allowed.among(list(dict.fromkeys(chain.from_iterable(ids)))))
    return [entry for entry, own in zip(entries, ids, strict=True) if not left.isdisjoint(own)]


def _score(view: Snapshot, entries: Sequence[Entry], rank: str) -> Callable[[Entry], float]:
    if rank == "edges":
        return lambda entry: float(len(entry.steps))
    if rank == "recency":
        rows = view.notes_at(dict.fromkeys(entry.path for entry in entries))
        return lambda entry: rows[entry.path].modified if entry.path in rows else 0.0
    pagerank = view.pagerank
    return lambda entry: pagerank.get(entry.path, 0.0)


def _standing(
    view: Snapshot,
    now: CurrentNotes,
    place: Place,
    ordered: Sequence[Entry],
    scores: Mapping[Entry, float],
    most: int,
) -> tuple[list[BrowsedNote], int]:
    """The first entries that stand in the vault, and how many before the last do not."""
    vault, layout = place.name, place.layout
    found: list[BrowsedNote] = []
    gone = 0
    left = iter(ordered)
    while len(found) < most and (part := list(islice(left, most - len(found)))):
        notes = now.notes_at(dict.fromkeys(entry.path for entry in part))
        changed = now.changed(notes)
        chunks = now.chunks(
            id_ for entry in part if entry.path in notes for id_ in _ids(entry, view, changed)
        )
        links = _links(now, part)
        fresh = [row for path, row in notes.items() if path not in changed]
        stored = {} if part[0].chunk else Summaries(layout).of(fresh)
        for entry in part:
            note = notes.get(entry.path)
            chunk = next((chunks[id_] for id_ in _ids(entry, view, changed) if id_ in chunks), None)
            steps = [step for step in entry.steps if _key(step.link) in links]
            if note is None or not steps or (chunk is None and entry.chunk is not None):
                gone += 1
                continue
            note_is_old = entry.path in changed
            found.append(
                _browsed(
                    entry,
                    note,
                    chunk,
                    steps,
                    links,
                    scores[entry],
                    vault,
                    old=note_is_old,
                    stored=stored.get(entry.path),
                )
            )
    return found, gone


def _ids(entry: Entry, view: Snapshot, changed: Collection[str]) -> Sequence[ChunkId]:
    """The chunks of which the first that stands is shown."""
    if entry.chunk is not None:
        return (entry.chunk,)
    ids = view.chunk_ids_of(entry.path)
    return ids if entry.path in changed else ids[:1]


def _key(link: LinkRow) -> tuple[str, int]:
    return link.path, link.ordinal


def _links(now: CurrentNotes, entries: Iterable[Entry]) -> dict[tuple[str, int], LinkRow]:
    every = [step.link for entry in entries for step in entry.steps]
    return {_key(link): link for link in now.current_links(every)}


def _browsed(
    entry: Entry,
    note: NoteRow,
    chunk: ChunkRow | None,
    steps: Sequence[Step],
    links: Mapping[tuple[str, int], LinkRow],
    score: float,
    vault: str,
    *,
    old: bool,
    stored: Summary | None,
) -> BrowsedNote:
    text, lines = ("", (1, 1)) if chunk is None else (chunk.text, _lines(chunk))
    headings = chunk.heading_path if chunk is not None and entry.chunk else ()
    said = Summary(text)
    if not entry.chunk:
        said = in_a_line({} if old else note.front_matter, text, stored)
    telling = sorted(steps, key=lambda step: not step.link.sentence)
    return BrowsedNote(
        path=entry.path,
        title=note.title,
        folder=dirname(entry.path),
        heading=" > ".join(headings),
        lines=lines,
        text=said.text,
        depth=entry.depth,
        way=way(steps),
        edges=len(steps),
        score=score,
        modified=note.modified,
        links=[_browsed_link(links[_key(step.link)]) for step in telling[:LINKS]],
        uri=open_uri(vault, entry.path, headings),
        written_by=said.model,
    )


def _lines(chunk: ChunkRow) -> tuple[int, int]:
    return chunk.first_line, chunk.last_line


def _browsed_link(link: LinkRow) -> BrowsedLink:
    return BrowsedLink(
        source=link.path,
        target=str(link.target_path),
        line=link.line,
        sentence=words_of(link.sentence),
        fragment=link.fragment,
    )


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


@dataclass(frozen=True, slots=True)
class Reached:
    """A note some links away, by its shortest way; ``steps`` are all links to nearer notes."""

    path: str
    depth: int
    steps: tuple[Step, ...]


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
    path = link.target_path
    if path is None or link.status not in LEADING or not view.chunk_ids_of(path):
        return None
    return path


def way(steps: Sequence[Step]) -> Literal["forward", "backward", "both"]:
    """In which directions the links go."""
    forward = {step.forward for step in steps}
    if len(forward) == 2:
        return "both"
    return "forward" if True in forward else "backward"


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


VALUES = 5
"""Values of a property that are named."""


def overview(view: Snapshot, place: Place) -> VaultOverview:
    """Count tags, folders, types and properties over the notes that are in the vault now."""
    now = CurrentNotes(view, place)
    return overview_of(place.name, now.notes_at(view.paths()).values()).model_copy(
        update={"warnings": now.reply_warnings(), "generation": view.generation}
    )


def overview_of(name: str, notes: Iterable[NoteRow]) -> VaultOverview:
    """The same of the rows of notes, as of generation 0. Pure."""
    counts: dict[str, Counter[str]] = {TAG: Counter(), TYPE: Counter(), DATE: Counter()}
    folders: Counter[str] = Counter()
    having: Counter[str] = Counter()
    total = 0
    for note in notes:
        total += 1
        folders.update(str(one) for one in PurePosixPath(note.path).parents if one.name)
        labels = label_rows(note)
        having.update({label for label, _ in labels})
        for label, value in labels:
            counts.setdefault(label, Counter())[value] += 1
    days = sorted(moment[:10] for moment in counts[DATE])
    return VaultOverview(
        name=name,
        notes=total,
        first=days[0] if days else None,
        last=days[-1] if days else None,
        folders=_most_first(folders),
        tags=_most_first(counts[TAG]),
        types=_most_first(counts[TYPE]),
        properties={
            key: PropertyUse(
                notes=number, values=[one for one in _most_first(counts[label]) if one][:VALUES]
            )
            for label, number in _most_first(having).items()
            if (key := property_key(label)) is not None
        },
        generation=0,
    )


def _most_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
