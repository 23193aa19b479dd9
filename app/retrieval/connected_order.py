"""Owns the choice of connected notes as a rule: which links are followed, and for which place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Literal

from notehop.indexing.stores.model import ChunkId, LinkRow

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
