"""Answers without a language model: the passages of the sources that answer best, quoted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from notehop.app.answer.layout import Part, laid_out
from notehop.app.answer.passages import Passage, passages
from notehop.app.answer.pointing import points_back
from notehop.app.answer.relevance import Candidate, Named, Reading, enough, score
from notehop.app.answer.stretch import Range
from notehop.app.models import Source

KEEP = 0.6
"""A further passage needs this share of the best one's score, and of its likeness to the query;
less is padding."""

OVERLAP = 0.7
"""Two passages that share this part of the shorter one's words say the same."""

SAME_AGAIN = 0.3
"""What a passage counts less by its likeness to one that is quoted already (maximal marginal
relevance, Carbonell and Goldstein, SIGIR 1998)."""

BRIDGE = 0.25
"""What a passage counts more if one that is quoted already names its note: a question that needs
two notes names only the first."""

LONGEST_BEFORE = 200
"""Characters of a sentence that is quoted only because the next one points back to it."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of one source, passages in the order in which they stand there.

    ``text`` is Markdown: prose is one line, list items, table rows and code keep their lines.
    ``ranges`` are half-open ranges of characters of the source's text, in order, whose words, white
    space and list and quote marks aside, are those of the quote.
    """

    source: Source
    text: str
    ranges: tuple[Range, ...] = ()


def quotes(query: str, sources: Sequence[Named], reading: Reading, limit: int) -> list[Quote]:
    """Return what answers ``query``, the source of the best passage first.

    :param sources: best first.
    :param limit: how many passages at most.
    :returns: empty when nothing in the sources answers.
    """
    terms = reading.terms(query)
    chosen = _choose(score(query, terms, sources, reading), enough(terms, reading), limit)
    by_source: dict[int, list[Candidate]] = {}
    for candidate in chosen:
        by_source.setdefault(candidate.source, []).append(candidate)
    wanted = frozenset(term.word for term in terms)
    return [_quote(sources[at].source, found, wanted, reading) for at, found in by_source.items()]


def _choose(ranked: Sequence[Candidate], least: float, limit: int) -> list[Candidate]:
    """The best that are near enough to the first and say something that none before them said."""
    if not ranked or ranked[0].score < least:
        return []
    chosen = [ranked[0]]
    likest = max(one.likeness for one in ranked)
    least = max(least, KEEP * ranked[0].score)
    left = list(ranked[1:])
    while left and len(chosen) < limit:
        best = max(left, key=lambda one: (_worth(one, chosen), -one.source, -one.order))
        left.remove(best)
        bridged = _bridged(best, chosen)
        if best.score + BRIDGE * bridged < least:
            continue
        if best.likeness < KEEP * likest and not bridged:
            continue
        if not any(_same(best.words, other.words) for other in chosen):
            chosen.append(best)
    return chosen


def _worth(candidate: Candidate, chosen: Sequence[Candidate]) -> float:
    vector = candidate.vector
    again = (
        0.0
        if vector is None
        else max(float(vector @ other.vector) for other in chosen if other.vector is not None)
    )
    return candidate.score + BRIDGE * _bridged(candidate, chosen) - SAME_AGAIN * again


def _bridged(candidate: Candidate, chosen: Sequence[Candidate]) -> bool:
    return any(candidate.source in other.names for other in chosen)


def _same(left: frozenset[str], right: frozenset[str]) -> bool:
    shorter = min(len(left), len(right))
    return shorter > 0 and len(left & right) >= OVERLAP * shorter


def _quote(
    source: Source, found: list[Candidate], wanted: frozenset[str], reading: Reading
) -> Quote:
    """The passages in text order, each with what it makes no sense without.

    The line above a list is quoted with its items when it holds a word of the query that the item
    lacks: without it the reader cannot see what the item answers.
    """
    read = passages(source.text, reading.sentences)
    parts: dict[int, Part] = {}
    for candidate in sorted(found, key=lambda candidate: candidate.order):
        at, passage = candidate.order, candidate.passage
        before = read[at - 1] if at else None
        if before is not None and _points_back(passage, before, reading):
            parts.setdefault(at - 1, Part(at - 1, before, lead=False))
        lead = passage.kind in ("row", "code") or bool(
            wanted & (frozenset(reading.words(passage.lead)) - candidate.words)
        )
        parts[at] = Part(at, passage, lead)
    text, ranges = laid_out([parts[at] for at in sorted(parts)])
    return Quote(source, text, ranges)


def _points_back(passage: Passage, before: Passage, reading: Reading) -> bool:
    """Whether a sentence begins with a word that stands for something in the one before."""
    if passage.kind != "prose" or passage.block != before.block:
        return False
    if len(before.text) > LONGEST_BEFORE or points_back(before.text, reading.language):
        return False
    return points_back(passage.text, reading.language)
