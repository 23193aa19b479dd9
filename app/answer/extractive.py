"""Answers without a language model: the passages of the sources that answer best, quoted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.answer.relevance import Candidate, Named, Reading, enough, score
from app.models import Source

KEEP = 0.6
"""A further passage needs this share of the best one's score; less is padding."""

OVERLAP = 0.7
"""Two passages that share this part of the shorter one's words say the same."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of one source, passages in the order in which they stand there."""

    source: Source
    text: str


def quotes(query: str, sources: Sequence[Named], reading: Reading, limit: int) -> list[Quote]:
    """Return what answers ``query``, the source of the best passage first.

    :param sources: best first.
    :param limit: how many passages at most.
    :returns: empty when nothing in the sources answers.
    """
    chosen = _choose(score(query, sources, reading), enough(query, reading), limit)
    by_source: dict[int, list[Candidate]] = {}
    for candidate in chosen:
        by_source.setdefault(candidate.source, []).append(candidate)
    wanted = frozenset(term.word for term in reading.terms(query))
    return [
        Quote(sources[at].source, _joined(found, wanted, reading))
        for at, found in by_source.items()
    ]


def _choose(ranked: Sequence[Candidate], least: float, limit: int) -> list[Candidate]:
    """The best that are near enough to the first and say something that none before them said."""
    chosen: list[Candidate] = []
    if not ranked:
        return chosen
    least = max(least, KEEP * ranked[0].score)
    for candidate in ranked:
        if candidate.score < least or len(chosen) == limit:
            break
        if not any(_same(candidate.words, other.words) for other in chosen):
            chosen.append(candidate)
    return chosen


def _same(left: frozenset[str], right: frozenset[str]) -> bool:
    shorter = min(len(left), len(right))
    return shorter > 0 and len(left & right) >= OVERLAP * shorter


def _joined(found: list[Candidate], wanted: frozenset[str], reading: Reading) -> str:
    """The passages in text order, with an ellipsis where the note says something in between.

    The line above a list is quoted with its items when it holds a word of the query that the item
    lacks: without it the reader cannot see what the item answers.
    """
    found = sorted(found, key=lambda candidate: candidate.order)
    texts = [candidate.passage.text for candidate in found]
    parts: list[str] = []
    for at, candidate in enumerate(found):
        before = found[at - 1] if at else None
        if before is not None and not _adjacent(before, candidate):
            parts.append("…")
        lead = candidate.passage.lead
        missing = wanted & (frozenset(reading.words(lead)) - candidate.words)
        if missing and lead not in texts and lead not in parts:
            parts.append(lead)
        parts.append(candidate.passage.text)
    return " ".join(parts)


def _adjacent(before: Candidate, after: Candidate) -> bool:
    return before.order + 1 == after.order and before.passage.block == after.passage.block
