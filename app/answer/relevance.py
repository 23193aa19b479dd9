"""How well a passage answers a query: its share of the query's words, and its likeness to it.

The constants were set on questions of HotpotQA, 2WikiMultihopQA and MuSiQue over the first five
notes found (152 questions whose answer stands in them): three quotes hold the answer of 72, 77 and
48 % of these, against 68, 58 and 39 % by words alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.answer.passages import Passage, SentenceSpans, passages
from app.models import Source

HEAD_SHARE = 0.4
"""What a query word counts that stands in the note's names or heading and not in the passage: the
passage is about it, but so is all of the note."""

LEAD_SHARE = 0.8
"""The same for a word of the line above a list: it was written for all items of the list."""

ABOUT = 0.6
"""Least word score of the first passage below names and heading that hold the whole query: who asks
for a note by its name is answered by its beginning."""

PRIOR = 0.05
"""What the rank of the source adds at most: it settles near ties and no more."""

COMPARED = 12
"""Passages whose vectors are compared, best by words: the best 16 and 24 gave the same answers, and
each takes 3 ms."""

NEWS = 1.0
"""What a passage counts more that names what a question for news is about, in the newest note with
news of it; half of that in the second newest, and so on: what was true last is what was asked for,
and who writes it down repeats no word of the question."""

ENOUGH = 0.55
"""Least score of a passage that is said to answer. Questions put to a vault that knows nothing of
them reached 0.53 at most (164 questions), answered ones 0.66 at least (162)."""

ENOUGH_WORDS = 0.35
"""The same where no vectors can be compared: 0.35 at most, and 95 % above 0.34."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a query, folded and stemmed.

    ``weight`` is its rarity in the vault, above 0. ``missing``: no note holds it, although it is in
    the language of the notes.
    """

    word: str
    weight: float
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """How text is read: as the index reads it, so that words match here as they do there.

    ``words``: text -> its words, folded and stemmed. ``terms``: query -> those of its words that
    say something, each once. ``likeness``: (query, texts) -> the cosine of each; None where no
    model is at hand.
    """

    words: Callable[[str], Sequence[str]]
    terms: Callable[[str], Sequence[Term]]
    sentences: SentenceSpans
    likeness: Callable[[str, Sequence[str]], Sequence[float]] | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A source with the other names of its note, under which a query may know it.

    ``subject``: its note is what a question for news is about. ``news``: its rank, from 1, among
    the newest notes with news of that; 0 for none.
    """

    source: Source
    names: Sequence[str] = ()
    subject: bool = False
    news: int = 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage with its place, which counts from 0, its words and its score.

    Scores of one query compare; without a model they run to about 1, with one to about 2, those of
    news to one more.
    """

    source: int
    order: int
    passage: Passage
    words: frozenset[str]
    score: float


def score(query: str, sources: Sequence[Named], reading: Reading) -> list[Candidate]:
    """Return the passages that may answer, best first, ties by place.

    :param sources: best first.
    :returns: with a model at hand no more than :data:`COMPARED`.
    """
    terms = reading.terms(query)
    about = [
        frozenset(reading.words(name))
        for named in sources
        if named.subject
        for name in (named.source.title, *named.names)
    ]
    found = [
        candidate
        for at, named in enumerate(sources)
        for candidate in _by_words(at, named, terms, about, reading)
    ]
    found.sort(key=_best_first)
    if reading.likeness is None or not found:
        return found
    found = found[:COMPARED]
    texts = [f"{one.passage.lead} {one.passage.text}".lstrip() for one in found]
    likeness = reading.likeness(query, texts)
    summed = [
        Candidate(one.source, one.order, one.passage, one.words, one.score + max(0.0, float(like)))
        for one, like in zip(found, likeness, strict=True)
    ]
    return sorted(summed, key=_best_first)


def enough(query: str, reading: Reading) -> float:
    """Return the least score of a passage that answers.

    A query for words that no note holds needs the more of everything else: by its full share of
    missing words, twice the score.
    """
    terms = reading.terms(query)
    total = sum(term.weight for term in terms)
    missing = sum(term.weight for term in terms if term.missing)
    base = ENOUGH_WORDS if reading.likeness is None else ENOUGH
    return base * (1.0 + (missing / total if total > 0 else 0.0))


def _by_words(
    at: int,
    named: Named,
    terms: Sequence[Term],
    about: Sequence[frozenset[str]],
    reading: Reading,
) -> list[Candidate]:
    source = named.source
    head = frozenset(reading.words(" ".join((source.title, source.heading, *named.names))))
    prior = PRIOR / (at + 1)
    by_name = bool(terms) and all(term.word in head for term in terms)
    found: list[Candidate] = []
    for order, passage in enumerate(passages(source.text, reading.sentences)):
        words = frozenset(reading.words(passage.text))
        lead = frozenset(reading.words(passage.lead)) if passage.lead else frozenset()
        share = _share(terms, words, lead, head)
        if by_name and order == 0:
            share = max(share, ABOUT)
        if named.news and any(name and name <= words | lead for name in about):
            share += NEWS / named.news
        found.append(Candidate(at, order, passage, words, share + prior))
    return found


def _share(
    terms: Sequence[Term],
    words: frozenset[str],
    lead: frozenset[str],
    head: frozenset[str],
) -> float:
    """The weighted share of the terms in the passage, 0 to 1; 0 for a query without terms."""
    total = sum(term.weight for term in terms)
    if total <= 0:
        return 0.0
    held = 0.0
    for term in terms:
        if term.word in words:
            held += term.weight
        elif term.word in lead:
            held += term.weight * LEAD_SHARE
        elif term.word in head:
            held += term.weight * HEAD_SHARE
    return held / total


def _best_first(candidate: Candidate) -> tuple[float, int, int]:
    return -candidate.score, candidate.source, candidate.order
