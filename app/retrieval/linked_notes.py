"""The links around sources with their similarities, their order, and the places they take."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log
from typing import Literal

from notehop.app.retrieval.nodes import Vector
from notehop.indexing.stores.model import ChunkId, LinkRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.vector_index import VectorIndex

Direction = Literal["forward", "backward", "both"]
"""Along the links a note holds, along those that lead to it, or both."""

DIRECTIONS: tuple[Direction, ...] = ("forward", "backward", "both")

Order = Literal["context", "rank"]
"""``context``: by hit, linking sentence and target together; ``rank``: by hit, then text."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note one link away from a source.

    ``path`` is that note and ``chunk_id`` the chunk of it that would be shown. ``hit_rank`` counts
    the sources from 1; ``forward`` is False for a link that leads to the source. Similarities are
    cosines to the query, of the sentence that holds the link and of the note's best chunk; None
    where there is no vector. ``repeats`` counts the other notes that link there in much the same
    words.
    """

    path: str
    chunk_id: ChunkId
    link: LinkRow
    hit_rank: int
    forward: bool
    sentence_similarity: float | None = None
    target_similarity: float | None = None
    repeats: int = 0

    @property
    def telling(self) -> float:
        """What the link says of the place it stands in, from 1 down: what several notes say alike
        ("Open Settings.") is about none of them. As an inverse document frequency, it falls with
        the logarithm of how many others do; one other is chance."""
        return 1 / (1 + log(max(1, self.repeats)))

    @property
    def evidence(self) -> float | None:
        """The larger of the two similarities, that of the sentence as far as it is telling; None
        without either."""
        sentence, target = self.sentence_similarity, self.target_similarity
        known = [] if sentence is None else [sentence * self.telling]
        return max([*known, *([] if target is None else [target])], default=None)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its score; None in order ``rank``, which only counts."""

    candidate: Candidate
    score: float | None


@dataclass(frozen=True, slots=True)
class Taken:
    """A connected note in its place, and the similarity it had to reach (None: no bar)."""

    ranked: Ranked
    bar: float | None


@dataclass(frozen=True, slots=True)
class Places:
    """Who is in the context: ``sources`` are positions in the list of hits, from 0, ascending.

    ``gated`` counts the candidates that no place was given to for lack of evidence.
    """

    sources: tuple[int, ...]
    connected: tuple[Taken, ...]
    gated: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """What the choice asks of a hit: its note, its chunk and its cosine to the query, if known."""

    path: str | None
    chunk_id: ChunkId
    similarity: float | None


def by_rank(candidates: Sequence[Candidate]) -> list[Ranked]:
    """Return the candidates as they come, each note once: order ``rank``.

    :param candidates: by hit, then as their links stand.
    """
    first: dict[str, Ranked] = {}
    for candidate in candidates:
        first.setdefault(candidate.path, Ranked(candidate, None))
    return list(first.values())


def by_context(candidates: Sequence[Candidate], k: int = 10) -> list[Ranked]:
    """Return the candidates by reciprocal rank fusion, each note once, by its best link.

    Three rankings vote: the rank of the hit, which its links share; the similarity of the sentence
    that holds the link; the similarity of the note, which stands there once however many links lead
    to it. A candidate without a similarity stands last in that ranking and gets no vote of it. The
    first two count as far as the link is :attr:`Candidate.telling`.

    :param candidates: by hit, then as their links stand, which is how ties break.
    :param k: rank offset, in ranks. 10 instead of the 60 of large rankings: there are tens of
        candidates, and with 60 the first would hardly weigh more than the last.
    :raises ValueError: if ``k`` < 1.
    """
    if k < 1:
        raise ValueError(f"k is {k}; the rank offset must be at least 1")
    sentence_rank = _sentence_ranks(candidates)
    note_rank = _note_ranks(candidates)
    scores: list[float] = []
    for at, candidate in enumerate(candidates):
        of_link = (candidate.hit_rank, sentence_rank.get(at))
        votes = [candidate.telling / (k + rank) for rank in of_link if rank is not None]
        of_note = note_rank.get(candidate.path)
        scores.append(sum(votes) + (0.0 if of_note is None else 1.0 / (k + of_note)))
    best: dict[str, Ranked] = {}
    for at in sorted(range(len(candidates)), key=lambda at: (-scores[at], at)):
        best.setdefault(candidates[at].path, Ranked(candidates[at], scores[at]))
    return list(best.values())


def share_places(
    hits: Sequence[Hit],
    ranked: Sequence[Ranked],
    *,
    top_k: int,
    places: int,
    most: int,
    gate: float,
    fill: bool = True,
) -> Places:
    """Share the places of the context between sources and connected notes.

    The first ``top_k`` hits are sources. Each place after them goes to the first connected note
    whose evidence is at least ``gate`` times the similarity of the hit that would stand there; what
    cannot be compared (the hit or its vector is missing) is no bar. Places left over go to the next
    hits whose note is not there as a connected one.

    :param ranked: distinct notes, best first, none of them among the first ``top_k`` hits.
    :param places: how many there are in all; with fewer than ``top_k`` the sources fill them.
    :param most: how many connected notes at most.
    :param gate: 0 or less switches the comparison off.
    :param fill: False leaves places that no connected note took empty.
    """
    sources = list(range(min(top_k, places, len(hits))))
    waiting = list(ranked)
    taken: list[Taken] = []
    for place in range(top_k, places):
        if len(taken) == most or not waiting:
            break
        similarity = hits[place].similarity if place < len(hits) else None
        bar = None if gate <= 0 or similarity is None else gate * similarity
        fit = next((one for one in waiting if _reaches(one, bar)), None)
        if fit is not None:
            waiting.remove(fit)
            taken.append(Taken(fit, bar))
    if fill:
        there = {one.ranked.candidate.path for one in taken}
        for at in range(len(sources), len(hits)):
            if len(sources) + len(taken) >= places:
                break
            if hits[at].path not in there:
                sources.append(at)
    gated = len(waiting) if len(taken) < min(most, places - top_k) else 0
    return Places(tuple(sources), tuple(taken), gated)


def _reaches(ranked: Ranked, bar: float | None) -> bool:
    if bar is None:
        return True
    evidence = ranked.candidate.evidence
    return evidence is not None and evidence >= bar


def _sentence_ranks(candidates: Sequence[Candidate]) -> dict[int, int]:
    """Return position -> rank from 1 of each candidate whose link stands in a sentence."""
    known = [
        (-candidate.sentence_similarity, at)
        for at, candidate in enumerate(candidates)
        if candidate.sentence_similarity is not None
    ]
    return {at: rank for rank, (_, at) in enumerate(sorted(known), start=1)}


def _note_ranks(candidates: Sequence[Candidate]) -> dict[str, int]:
    """Return path -> rank from 1 of each note that has a similarity."""
    known = {
        candidate.path: -candidate.target_similarity
        for candidate in candidates
        if candidate.target_similarity is not None
    }
    # The sort is stable: equal notes stand in the order of their first links.
    return {path: rank for rank, path in enumerate(sorted(known, key=known.__getitem__), start=1)}


Scope = Literal["chunk", "note"]
"""``chunk``: the links in the source's own chunk and the properties of its note; ``note``: after
those, the links elsewhere in its note as well."""


ALIKE = 0.5
"""Share of their words (Jaccard) that two sentences with a link to the same note have in common
when they say much the same."""

_WORD = re.compile(r"\w+")

WORDS_KEPT = 4_096
"""Sentences and names whose words are remembered, some 8 MB: the same notes are linked to again and
again, and to read those words anew took a tenth of a search."""


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
    view: Snapshot,
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


def _repeats(view: Snapshot, links: Sequence[LinkRow]) -> dict[tuple[str, int], int]:
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
    return words_of(link.sentence) - words_of(link.display or link.raw_target)


@lru_cache(maxsize=WORDS_KEPT)
def words_of(text: str) -> frozenset[str]:
    """The words of a sentence or a name; those asked for last are remembered."""
    return frozenset(_WORD.findall(text.casefold()))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sentences share :data:`ALIKE` of their words; two without any say the same."""
    return len(one & other) >= ALIKE * len(one | other)


def known_similarities(table: VectorIndex, query: Vector, ids: Sequence[str]) -> dict[str, float]:
    """Return the cosine to the query of each id that has a vector."""
    distinct = list(dict.fromkeys(ids))
    if not distinct:
        return {}
    values = table.similarities(query, distinct).tolist()
    return {id_: value for id_, value in zip(distinct, values, strict=True) if value == value}


def _forward(view: Snapshot, paths: Sequence[str], passed: Counter[str]) -> Iterator[_Step]:
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


def _backward(view: Snapshot, paths: Sequence[str], passed: Counter[str]) -> Iterator[_Step]:
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
    view: Snapshot, steps: Sequence[_Step], query: Vector | None, besides: Sequence[ChunkId]
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
