"""Owns where connected notes come from: the links around the sources, with their similarities.

Touches: index.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from notehop.app.retrieval.connected_order import Candidate
from notehop.app.retrieval.expansion import Direction
from notehop.app.retrieval.index_view import IndexView, Vector, VectorRows
from notehop.indexing.stores.model import ChunkId, LinkRow

Scope = Literal["chunk", "note"]
"""``chunk``: the links in the source's own chunk and the properties of its note; ``note``: after
those, the links elsewhere in its note as well."""


ALIKE = 0.5
"""Share of their words (Jaccard) that two sentences with a link to the same note have in common
when they say much the same."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Source:
    """A chunk whose links are followed; ``rank`` counts from 1."""

    rank: int
    path: str
    chunk_id: ChunkId


@dataclass(frozen=True, slots=True)
class Linked:
    """What lies one link away: an entry a link, and counts of links passed over, by reason.

    ``similarities`` are the cosines to the query of all chunks that were compared.
    """

    candidates: Sequence[Candidate] = ()
    passed: Mapping[str, int] = field(default_factory=dict)
    similarities: Mapping[ChunkId, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Step:
    """One link between a source's note (``near``) and another (``far``, shown by ``shown``).

    ``near_chunk`` is the chunk at the source's end, None for a property of its note.
    """

    link: LinkRow
    near: str
    near_chunk: ChunkId | None
    far: str
    shown: ChunkId


def linked_candidates(
    view: IndexView,
    sources: Sequence[Source],
    query: Vector | None,
    *,
    direction: Direction,
    scope: Scope,
    besides: Sequence[ChunkId] = (),
) -> Linked:
    """Return the notes one link away from the sources, an entry a link.

    A link belongs to the source that holds it, else to the best source of its note. It brings the
    chunk it names or its target's first; a backlink brings the chunk that holds it.

    :param query: None leaves all similarities unknown.
    :param besides: chunks that are compared with the query as well, if there are any candidates.
    :returns: by source, forward links before backlinks, those in the source's chunk before others,
        then in text order (backlinks by path first).
    """
    paths = list(dict.fromkeys(source.path for source in sources))
    passed: Counter[str] = Counter()
    placed: list[tuple[tuple[int, bool, bool, str, int], _Step]] = []
    if paths and direction != "backward":
        placed += _placed(_forward(view, paths, passed), sources, scope, passed, backward=False)
    if paths and direction != "forward":
        placed += _placed(_backward(view, paths, passed), sources, scope, passed, backward=True)
    placed.sort(key=lambda pair: pair[0])
    steps = [step for _, step in placed]
    if not steps:
        return Linked(passed=dict(sorted(passed.items())))
    sentences, chunks = _similarities(view, steps, query, besides)
    repeats = _repeats(view, [step.link for step in steps if step.link.path == step.near])
    notes = {path: _best(view.chunk_ids_of(path), chunks) for path in {s.far for s in steps}}
    candidates = [
        Candidate(
            path=step.far,
            chunk_id=step.shown,
            link=step.link,
            hit_rank=place[0],
            forward=not place[1],
            sentence_similarity=sentences.get(step.link.sentence_id or ""),
            target_similarity=notes.get(step.far),
            repeats=repeats.get((step.link.path, step.link.ordinal), 0),
        )
        for place, step in placed
    ]
    return Linked(candidates, dict(sorted(passed.items())), chunks)


def _repeats(view: IndexView, links: Sequence[LinkRow]) -> dict[tuple[str, int], int]:
    """By (path, ordinal) of some links, how many other notes lead there in much the same words."""
    told: dict[str | None, dict[str, list[frozenset[str]]]] = {}
    for other in view.links_to(dict.fromkeys(str(link.target_path) for link in links)):
        notes = told.setdefault(other.target_path, {})
        notes.setdefault(other.path, []).append(_words_beside(other))
    found: dict[tuple[str, int], int] = {}
    for link in links:
        own = _words_beside(link)
        found[link.path, link.ordinal] = sum(
            path != link.path and any(_alike(own, words) for words in said)
            for path, said in told.get(link.target_path, {}).items()
        )
    return found


def _words_beside(link: LinkRow) -> frozenset[str]:
    """The words of the sentence that holds a link, without those of the link itself."""
    return _words(link.sentence) - _words(link.display or link.raw_target)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sentences share :data:`ALIKE` of their words; two without any say the same."""
    return len(one & other) >= ALIKE * len(one | other)


def known_similarities(table: VectorRows, query: Vector, ids: Sequence[str]) -> dict[str, float]:
    """Return the cosine to the query of each id that has a vector."""
    distinct = list(dict.fromkeys(ids))
    if not distinct:
        return {}
    values = table.similarities(query, distinct).tolist()
    return {id_: value for id_, value in zip(distinct, values, strict=True) if value == value}


def _forward(view: IndexView, paths: Sequence[str], passed: Counter[str]) -> Iterator[_Step]:
    for link in view.links_from(paths):
        if link.target_path in paths:
            passed["source_already"] += 1
        elif link.target_path is None:
            passed[link.status] += 1
        elif link.target_chunk_id is None:
            # An attachment, an excluded note, or a note without text: there is nothing to show.
            passed["no_text"] += 1
        else:
            yield _Step(link, link.path, link.chunk_id, link.target_path, link.target_chunk_id)


def _backward(view: IndexView, paths: Sequence[str], passed: Counter[str]) -> Iterator[_Step]:
    for link in view.links_to(paths):
        shown = link.chunk_id or next(iter(view.chunk_ids_of(link.path)), None)
        if link.path in paths:
            passed["source_already"] += 1
        elif shown is None or link.target_path is None:
            passed["no_text"] += 1
        else:
            yield _Step(link, link.target_path, link.target_chunk_id, link.path, shown)


def _placed(
    steps: Iterator[_Step],
    sources: Sequence[Source],
    scope: Scope,
    passed: Counter[str],
    *,
    backward: bool,
) -> Iterator[tuple[tuple[int, bool, bool, str, int], _Step]]:
    by_chunk = {source.chunk_id: source for source in reversed(sources)}
    by_path = {source.path: source for source in reversed(sources)}
    for step in steps:
        near_chunk = step.near_chunk
        own = by_path[step.near] if near_chunk is None else by_chunk.get(near_chunk)
        if own is None and scope == "chunk":
            passed["elsewhere_in_note"] += 1
            continue
        rank = (own or by_path[step.near]).rank
        yield (rank, backward, own is None, step.link.path, step.link.ordinal), step


def _similarities(
    view: IndexView, steps: Sequence[_Step], query: Vector | None, besides: Sequence[ChunkId]
) -> tuple[Mapping[str, float], Mapping[ChunkId, float]]:
    """Return the cosine of each sentence, and of each chunk of the far notes and ``besides``."""
    if query is None:
        return {}, {}
    sentence_ids = [step.link.sentence_id for step in steps if step.link.sentence_id]
    sentences = known_similarities(view.link_vectors, query, sentence_ids)
    far = dict.fromkeys(step.far for step in steps)
    chunk_ids = [chunk_id for path in far for chunk_id in view.chunk_ids_of(path)]
    return sentences, known_similarities(view.chunk_vectors, query, [*besides, *chunk_ids])


def _best(ids: Sequence[ChunkId], similarities: Mapping[ChunkId, float]) -> float | None:
    return max((similarities[one] for one in ids if one in similarities), default=None)
