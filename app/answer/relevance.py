"""How well a passage answers a query: its share of the query's words, and its likeness to it.

The constants were set on 270 questions of HotpotQA, 2WikiMultihopQA and MuSiQue, and 270 put to a
vault that cannot answer them, with the measures of docs/evaluation.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from notehop.app.answer.passages import Passage, SentenceSpans, passages
from notehop.app.models import Source

HEAD_SHARE = 0.4
"""What a query word counts that stands in the note's names or heading and not in the passage: the
passage is about it, but so is all of the note."""

LEAD_SHARE = 0.8
"""The same for a word of the line above a list: it was written for all items of the list."""

ABOUT = 0.6
"""Least word score of the first passage below names and heading that hold the whole query: who asks
for a note by its name is answered by its beginning."""

PRIOR = 0.03
"""What the rank of the source adds at most: it settles near ties and no more."""

COMPARED = 8
"""Passages whose vectors are compared, best by words: with :data:`BRIDGED` as good as the best 12
without, and vectors are most of the time that an answer takes."""

BRIDGED = 2
"""Passages beside them, of notes that the best of them name: what a question asks for in a second
note shares few words with it."""

LONGEST = 240
"""Characters of a passage that its vector is made of: what a longer sentence is about is said."""

NAMING = 3
"""Passages, best first, that are looked at for such names."""

NEWS = 1.0
"""What a passage counts more that names what a question for news is about, in the newest note with
news of it; half of that in the second newest, and so on: what was true last is what was asked for,
and who writes it down repeats no word of the question."""

ENOUGH = 0.65
"""Least score of a passage that is said to answer. Of 270 questions put to a vault that knows
nothing of them 56 % stay below it, of 270 that it can answer 0.4 %."""

MISSING = 0.25
"""What is asked for more, as a share, of a query none of whose words is in a note. With 1 a small
vault that says it in other words is silent too often."""

ENOUGH_WORDS = 0.35
"""The same where no vectors can be compared: 0.35 at most, and 95 % above 0.34."""


Vectors = NDArray[np.float32]
Compare = Callable[[str, Sequence[str]], tuple[Vectors, Vectors]]


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
    say something, each once. ``vectors``: (query, texts) -> their vectors of length 1, shapes (d,)
    and (n, d); None where no model is at hand. ``language`` is that of the notes, ``small`` holds
    its words that say nothing, as ``words`` gives them. ``named`` tells whether a note of the vault
    goes by a name.
    """

    words: Callable[[str], Sequence[str]]
    terms: Callable[[str], Sequence[Term]]
    sentences: SentenceSpans
    vectors: Compare | None = None
    language: str = "en"
    small: frozenset[str] = frozenset()
    named: Callable[[str], bool] | None = None

    @property
    def likeness(self) -> Callable[[str, Sequence[str]], list[float]] | None:
        """(query, texts) -> the cosine of each; None where no model is at hand."""
        vectors = self.vectors
        if vectors is None:
            return None

        def compare(query: str, texts: Sequence[str]) -> list[float]:
            asked, rows = vectors(query, texts)
            found: list[float] = (rows @ asked).tolist()
            return found

        return compare


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
    news to one more. ``likeness`` is the cosine to the query that is part of it, ``vector`` the
    passage's own; 0 and None without a model. ``names`` are sources of other notes that the passage
    names, and the query does not.
    """

    source: int
    order: int
    passage: Passage
    words: frozenset[str]
    score: float
    likeness: float = 0.0
    vector: Vectors | None = None
    names: frozenset[int] = frozenset()


def score(
    query: str, terms: Sequence[Term], sources: Sequence[Named], reading: Reading
) -> list[Candidate]:
    """Return the passages that may answer, best first, ties by place.

    :param terms: of the query.
    :param sources: best first.
    :returns: with a model at hand no more than :data:`COMPARED` and :data:`BRIDGED`.
    """
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
    found = _naming(sorted(found, key=_best_first), sources, terms, reading)
    if reading.vectors is None or not found:
        return found
    best = _compared(query, found[:COMPARED], sources, reading.vectors)
    named = frozenset().union(*(one.names for one in best[:NAMING]))
    others = [one for one in found[COMPARED:] if one.source in named]
    others.sort(key=lambda one: (one.order, *_best_first(one)))
    bridged = _compared(query, others[:BRIDGED], sources, reading.vectors)
    return sorted([*best, *bridged], key=_best_first)


def _naming(
    found: Sequence[Candidate],
    sources: Sequence[Named],
    terms: Sequence[Term],
    reading: Reading,
) -> list[Candidate]:
    """The candidates with the sources whose notes they name."""
    asked = {term.word for term in terms}
    names = [
        (at, named.source.path, words)
        for at, named in enumerate(sources)
        for words in {frozenset(reading.words(name)) for name in (named.source.title, *named.names)}
        if words and not words <= asked
    ]
    return [
        replace(
            one,
            names=frozenset(
                at
                for at, path, words in names
                if words <= one.words and path != sources[one.source].source.path
            ),
        )
        for one in found
    ]


def _compared(
    query: str, found: Sequence[Candidate], sources: Sequence[Named], vectors: Compare
) -> list[Candidate]:
    """The candidates with their likeness to the query in the score, best first.

    A passage is read under the title of its note, which says who "she" is.
    """
    if not found:
        return []
    texts = [
        f"{sources[one.source].source.title}: {one.passage.lead} {one.passage.text}"[:LONGEST]
        for one in found
    ]
    asked, rows = vectors(query, texts)
    summed = [
        replace(one, score=one.score + max(0.0, like), likeness=like, vector=row)
        for one, row, like in zip(found, rows, (rows @ asked).tolist(), strict=True)
    ]
    return sorted(summed, key=_best_first)


def enough(terms: Sequence[Term], reading: Reading) -> float:
    """Return the least score of a passage that answers.

    A query for words that no note holds needs the more of everything else: see :data:`MISSING`.
    """
    total = sum(term.weight for term in terms)
    missing = sum(term.weight for term in terms if term.missing)
    base = ENOUGH_WORDS if reading.vectors is None else ENOUGH
    return base * (1.0 + (MISSING * missing / total if total > 0 else 0.0))


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
