"""The links around sources with their similarities, their order, and the places they take."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from math import log
from typing import Literal

from notehop.app.retrieval.nodes import HitPlace, Vector
from notehop.indexing.stores.model import ChunkId, LinkRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.served.chroma_vectors import ChunkVectors

Direction = Literal["forward", "backward", "both"]
"""Along the links a note holds, along those that lead to it, or both."""

Order = Literal["context", "rank"]
"""``context``: by hit, linking sentence and target together; ``rank``: by hit, then text."""


@dataclass(frozen=True, slots=True)
class LinkedNote:
    """A note one link away from a source.

    ``path`` is that note and ``chunk_id`` the chunk of it that would be shown. ``hit_rank`` counts
    the sources from 1; ``forward`` is False for a link that leads to the source. Similarities are
    cosines to the query, of the sentence that holds the link and of the note's best chunk; None
    where there is no vector. ``repeats`` counts the other notes that link there in much the same
    words. ``score`` is that of :func:`by_context`, ``bar`` the similarity that it had to reach for
    its place (None: no bar).
    """

    path: str
    chunk_id: ChunkId
    link: LinkRow
    hit_rank: int
    forward: bool
    sentence_similarity: float | None = None
    target_similarity: float | None = None
    repeats: int = 0
    score: float | None = None
    bar: float | None = None

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
        sentence = self.sentence_similarity
        both = (None if sentence is None else sentence * self.telling, self.target_similarity)
        return max((one for one in both if one is not None), default=None)


@dataclass(frozen=True, slots=True)
class Places:
    """Who is in the context: ``sources`` are positions in the list of hits, from 0, ascending;
    ``gated`` counts the candidates that no place was given to for lack of evidence."""

    sources: tuple[int, ...]
    connected: tuple[LinkedNote, ...]
    gated: int = 0


def by_rank(candidates: Sequence[LinkedNote]) -> list[LinkedNote]:
    """Return the candidates as they come, each note once: order ``rank``.

    :param candidates: by hit, then as their links stand.
    """
    first: dict[str, LinkedNote] = {}
    for candidate in candidates:
        first.setdefault(candidate.path, candidate)
    return list(first.values())


def by_context(candidates: Sequence[LinkedNote], k: int = 10) -> list[LinkedNote]:
    """Return the candidates by reciprocal rank fusion, each note once, by its best link.

    Three rankings vote: the rank of the hit, which its links share; the similarity of the sentence
    that holds the link; the similarity of the note, which stands there once however many links lead
    to it. A candidate without a similarity stands last in that ranking and gets no vote of it. The
    first two count as far as the link is :attr:`LinkedNote.telling`.

    :param candidates: by hit, then as their links stand, which is how ties break.
    :param k: rank offset, in ranks. 10 instead of the 60 of large rankings: there are tens of
        candidates, and with 60 the first would hardly weigh more than the last.
    """
    sentence_rank = ranks_of([one.sentence_similarity for one in candidates])
    notes = {one.path: one.target_similarity for one in candidates}
    note_rank = dict(zip(notes, ranks_of(notes.values()), strict=True))
    scored: list[LinkedNote] = []
    for candidate, of_sentence in zip(candidates, sentence_rank, strict=True):
        of_link = (candidate.hit_rank, of_sentence)
        votes = [candidate.telling / (k + rank) for rank in of_link if rank is not None]
        of_note = note_rank[candidate.path]
        score = sum(votes) + (0.0 if of_note is None else 1.0 / (k + of_note))
        scored.append(replace(candidate, score=score))
    return by_rank(sorted(scored, key=lambda one: -(one.score or 0.0)))


def ranks_of(values: Iterable[float | None]) -> list[int | None]:
    """Return the rank of each value from 1, the largest first; ties as they stand; None has none."""
    given = list(values)
    known = sorted((-value, at) for at, value in enumerate(given) if value is not None)
    ranks: list[int | None] = [None] * len(given)
    for rank, (_, at) in enumerate(known, start=1):
        ranks[at] = rank
    return ranks


def share_places(
    hits: Sequence[tuple[str | None, float | None]],
    ranked: Sequence[LinkedNote],
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

    :param hits: note and cosine to the query of each, as far as they are known.
    :param ranked: distinct notes, best first, none of them among the first ``top_k`` hits.
    :param places: how many there are in all; with fewer than ``top_k`` the sources fill them.
    :param most: how many connected notes at most.
    :param gate: 0 or less switches the comparison off.
    :param fill: False leaves places that no connected note took empty.
    """
    sources = list(range(min(top_k, places, len(hits))))
    waiting = list(ranked)
    taken: list[LinkedNote] = []
    for place in range(top_k, places):
        if len(taken) == most or not waiting:
            break
        similarity = hits[place][1] if place < len(hits) else None
        bar = None if gate <= 0 or similarity is None else gate * similarity
        fit = next(
            (
                one
                for one in waiting
                if bar is None or (one.evidence is not None and one.evidence >= bar)
            ),
            None,
        )
        if fit is not None:
            waiting.remove(fit)
            taken.append(replace(fit, bar=bar))
    if fill:
        there = {one.path for one in taken}
        for at in range(len(sources), len(hits)):
            if len(sources) + len(taken) >= places:
                break
            if hits[at][0] not in there:
                sources.append(at)
    gated = len(waiting) if len(taken) < min(most, places - top_k) else 0
    return Places(tuple(sources), tuple(taken), gated)


Scope = Literal["chunk", "note"]
"""``chunk``: the links in the source's own chunk and the properties of its note; ``note``: after
those, the links elsewhere in its note as well."""


ALIKE = 0.5
"""Share of their words (Jaccard) that two sentences with a link to the same note have in common
when they say much the same."""

_WORD = re.compile(r"\w+")

WORDS_KEPT = 10_000
"""Sentences and names whose words are remembered, some 20 MB: the same notes are linked to again and
again, and to read those words anew took a tenth of a search."""


@dataclass(frozen=True, slots=True)
class LinkedNotes:
    """What lies one link away: an entry a link, and counts of links passed over, by reason.

    ``similarities`` are the cosines to the query of all chunks that were compared.
    """

    candidates: Sequence[LinkedNote] = ()
    passed: Mapping[str, int] = field(default_factory=dict)
    similarities: Mapping[ChunkId, float] = field(default_factory=dict)


def linked_candidates(
    view: Snapshot,
    sources: Sequence[HitPlace | None],
    query: Vector | None,
    *,
    direction: Direction,
    scope: Scope,
    besides: Sequence[ChunkId] = (),
    gate: float = 0.0,
) -> LinkedNotes:
    """Return the notes one link away from the sources, an entry a link.

    A link belongs to the source that holds it, else to the best source of its note. It brings the
    chunk it names or its target's first; a backlink brings the chunk that holds it.

    :param sources: best first; None for one that is of no note of the index.
    :param query: None leaves all similarities unknown.
    :param besides: chunks that are compared with the query as well, if there are any candidates.
    :param gate: share of the similarity of the last of them that a note has to reach to be of use:
        how telling the links of others are is not looked up. 0 looks all up.
    :returns: by source, forward links before backlinks, those in the source's chunk before others,
        then in text order (backlinks by path first).
    """
    ranked = [(rank, one) for rank, one in enumerate(sources, start=1) if one is not None]
    by_chunk = {one.chunk_id: rank for rank, one in reversed(ranked)}
    by_path = {one.path: rank for rank, one in reversed(ranked)}
    paths = list(dict.fromkeys(one.path for _, one in ranked))
    passed: Counter[str] = Counter()
    found: list[tuple[tuple[int, bool, bool, str, int], LinkRow, str, ChunkId]] = []
    for link, forward, far, shown in _links(view, paths, direction, passed):
        near = link.path if forward else str(link.target_path)
        near_chunk = link.chunk_id if forward else link.target_chunk_id
        # A property belongs to all of its note.
        own = by_path[near] if near_chunk is None else by_chunk.get(near_chunk)
        if own is None and scope == "chunk":
            passed["elsewhere_in_note"] += 1
            continue
        place = (own or by_path[near], not forward, own is None, link.path, link.ordinal)
        found.append((place, link, far, shown))
    if not found:
        return LinkedNotes(passed=dict(sorted(passed.items())))
    found.sort(key=lambda one: one[0])
    notes = {far: view.chunk_ids_of(far) for _, _, far, _ in found}
    sentences: Mapping[str, float] = {}
    chunks: Mapping[ChunkId, float] = {}
    if query is not None:
        ids = [link.sentence_id for _, link, _, _ in found if link.sentence_id]
        sentences = view.sentence_similarities(query, ids)
        chunks = known_similarities(view.chunk_vectors, query, [*besides, *chain(*notes.values())])
    nearest = {
        path: max((chunks[one] for one in ids if one in chunks), default=None)
        for path, ids in notes.items()
    }
    bar = gate * min((chunks.get(one, 0.0) for one in besides), default=0.0)
    reach = {far: max(0.0, nearest[far] or 0.0) for far in notes}
    for _, link, far, _ in found:
        reach[far] = max(reach[far], sentences.get(link.sentence_id or "", 0.0))
    useful = [link for place, link, far, _ in found if not place[1] and reach[far] >= bar]
    repeats = _repeats(view, useful)
    candidates = [
        LinkedNote(
            path=far,
            chunk_id=shown,
            link=link,
            hit_rank=place[0],
            forward=not place[1],
            sentence_similarity=sentences.get(link.sentence_id or ""),
            target_similarity=nearest[far],
            repeats=repeats.get((link.path, link.ordinal), 0),
        )
        for place, link, far, shown in found
    ]
    return LinkedNotes(candidates, dict(sorted(passed.items())), chunks)


def _links(
    view: Snapshot, paths: Sequence[str], direction: Direction, passed: Counter[str]
) -> Iterator[tuple[LinkRow, bool, str, ChunkId]]:
    """Yield each link between these notes and another, whether it leads there, that note, and the
    chunk that shows it; those that show nothing new are counted."""
    for link in view.links_from(paths) if direction != "backward" else ():
        if link.target_path in paths:
            passed["source_already"] += 1
        elif link.target_path is None:
            passed[link.status] += 1
        elif link.target_chunk_id is None:
            # An attachment, an excluded note, or a note without text: there is nothing to show.
            passed["no_text"] += 1
        else:
            yield link, True, link.target_path, link.target_chunk_id
    for link in view.links_to(paths) if direction != "forward" else ():
        shown = link.chunk_id or next(iter(view.chunk_ids_of(link.path)), None)
        if link.path in paths:
            passed["source_already"] += 1
        elif shown is None or link.target_path is None:
            passed["no_text"] += 1
        else:
            yield link, False, link.path, shown


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


def known_similarities(table: ChunkVectors, query: Vector, ids: Sequence[str]) -> dict[str, float]:
    """Return the cosine to the query of each id that has a vector."""
    distinct = list(dict.fromkeys(ids))
    if not distinct:
        return {}
    values = table.similarities(query, distinct).tolist()
    return {id_: value for id_, value in zip(distinct, values, strict=True) if value == value}
