"""How far the sources say what a sentence says: by its words, its meaning, and to the letter.

Pure, but for the embedding model behind the reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter

from notehop.app.answer.facts import Facts, contradicted, denied, facts_of, lacking, turned
from notehop.app.answer.material import STATING, Unit, bare, units
from notehop.app.answer.names import first_word, names_of, unnamed
from notehop.app.answer.quotes.reading import Reading, Term
from notehop.app.models import Source, Support

WORDS = 0.55
"""What the share of the sentence's words counts in its score; its likeness counts the rest."""

HIGH = 0.60
"""Least score of a sentence that its source says. Of 60 true ones put otherwise 47 reach it; of
112 ones made up, or cited to another passage or note, none; of 201 that a model invented 3
(docs/answers.md)."""

PARTIAL = 0.45  # least score of one that it says in part

HIGH_WORDS, PARTIAL_WORDS = 0.65, 0.5
"""The same for the share of words, where no vectors can be compared."""

LIKENED = 4
"""Units of a source whose vectors are compared with a sentence, best by words first: each takes
some milliseconds, once."""

MOST = 3  # units of a source that a sentence may be put together from
GAIN = 0.12  # share of a sentence's words that a further unit has to bring

_LISTED = re.compile(
    r"(?:> ?)*(?:(?:[-*+]|\(?\d{1,3}[.)])\s+(?!\w+ (?:19|20|21)\d\d)(?:\[[ xX]\]\s+)?"
    r"|(?:step|schritt|étape|paso|passo|stap) \d{1,2}(?:[:.)]| [-–—])\s+)+",
    re.IGNORECASE,
)
"""The mark of a list item, or the number of a step: the answer's own, no source has to have it."""

LEVELS: tuple[Support, ...] = ("none", "partial", "high")


class Stated:
    """A sentence of an answer, read once for all its sources."""

    def __init__(self, text: str, reading: Reading) -> None:
        self.reading = reading
        self.text = _LISTED.sub("", bare(text), count=1)
        self.terms: Sequence[Term] = reading.terms(self.text)
        self.facts = facts_of(self.text, reading.language)
        # A language that gives every noun a capital says nothing by one.
        self.names = [] if reading.language == "de" else _names(self.text, reading)
        self.first = first_word(self.text)
        self.denied = denied(self.text, reading.words, reading.small)
        self.order = tuple(reading.words(self.text))

    @cached_property
    def begins_with_name(self) -> bool:
        """Whether a note goes by its first word: a capital alone says nothing there."""
        return self.first in self.reading.named([self.first])

    def share(self, words: frozenset[str]) -> float:
        """The weighted share of its words that are among ``words``, 0 to 1."""
        total = sum(term.weight for term in self.terms)
        held = sum(term.weight for term in self.terms if term.word in words)
        return held / total if total > 0 else 0.0


class Known:
    """A source as sentences are held against it, read once for all of them."""

    def __init__(self, source: Source, names: Sequence[str], reading: Reading) -> None:
        """:param names: other names of its note."""
        self.source = source
        self._reading = reading
        head = " ".join((source.title, source.heading, *names))
        self.head = frozenset(reading.words(head))
        self._head_text = f"{head}\n{source.path}"

    @cached_property
    def units(self) -> list[Unit]:
        """What of it can be quoted, in order."""
        found = units(self.source.text, self._reading.sentences)
        stating = [one for one in found if one.kind in STATING]
        # A note of headings or code alone can still be quoted.
        return stating or [one for one in found if one.kind != "rule"]

    @cached_property
    def texts(self) -> list[str]:
        """The units' text as it is compared."""
        return [bare(self.source.text[one.start : one.end]) for one in self.units]

    @cached_property
    def words(self) -> list[frozenset[str]]:
        return [frozenset(self._reading.words(text)) for text in self.texts]

    @cached_property
    def order(self) -> tuple[str, ...]:
        """All its words as they stand there."""
        return tuple(self._reading.words(bare(self.source.text)))

    @cached_property
    def all_words(self) -> frozenset[str]:
        """Its words with those of its title, headings, path and other names."""
        return frozenset((*self.order, *self._reading.words(self._head_text), *self.head))

    @cached_property
    def facts(self) -> Facts:
        """Its numbers and dates, those of title and headings included."""
        return facts_of(f"{bare(self.source.text)}\n{self._head_text}", self._reading.language)

    def facts_at(self, at: Iterable[int]) -> Facts:
        """Those of some units together."""
        return _facts(facts_of(self.texts[one], self._reading.language) for one in at)

    @cached_property
    def head_facts(self) -> Facts:
        """Those of title, headings and path alone."""
        return facts_of(self._head_text, self._reading.language)

    def joined(self, at: Sequence[int]) -> str:
        """Some units as one text."""
        return " ".join(self.texts[one] for one in sorted(at))


@dataclass(frozen=True, slots=True)
class Found:
    """How a sentence stands to a source.

    ``units`` are those that support it, best first; ``words`` what of its terms stands there,
    ``share`` their weight of 0 to 1, ``likeness`` the cosine (None: not compared).
    """

    known: Known
    units: tuple[int, ...] = ()
    words: frozenset[str] = frozenset()
    share: float = 0.0
    likeness: float | None = None
    verbatim: bool = False

    @property
    def score(self) -> float:
        """Its words and its likeness together, 0 to 1."""
        if self.likeness is None:
            return self.share
        return WORDS * self.share + (1 - WORDS) * max(0.0, self.likeness)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far sources support a sentence, and what it states that they lack."""

    support: Support
    lacks: tuple[str, ...] = ()


def held_against(stated: Stated, known: Known, *, liken: bool = True) -> Found:
    """Find what of a source supports a sentence.

    :param liken: whether vectors are compared.
    :raises Exception: what the embedding model raises.
    """
    if not known.units or not stated.order:
        return Found(known)
    run = _verbatim(stated, known)
    if run:
        words = frozenset(term.word for term in stated.terms)
        return Found(known, run, words, 1.0, 1.0, verbatim=True)
    shares = [stated.share(words | known.head) for words in known.words]
    ranked = sorted(range(len(shares)), key=lambda at: (-shares[at], at))
    likeness: dict[int, float] = {}
    if liken:
        some = ranked[:LIKENED]
        texts = [known.texts[at] for at in some]
        likeness = dict(zip(some, _likeness(stated, known, texts), strict=True))
        ranked.sort(
            key=lambda at: (
                -Found(known, share=shares[at], likeness=likeness.get(at, 0.0)).score,
                at,
            )
        )
    picked = _put_together(stated, known, ranked)
    held = known.head.union(*(known.words[at] for at in picked))
    near = max((likeness[at] for at in picked if at in likeness), default=None)
    if near is not None and len(picked) > 1:
        near = max(near, *_likeness(stated, known, [known.joined(picked)]))
    words = frozenset(term.word for term in stated.terms if term.word in held)
    return Found(known, picked, words, stated.share(held), near)


def judged(stated: Stated, found: Sequence[Found]) -> Verdict:
    """Say how far some sources together support a sentence.

    Its score says how far; a number, date, name or negation that they lack takes it down: below
    high, and where a source has another value in that place, to none.
    """
    found = [one for one in found if one.units]
    if not found:
        return Verdict("none")
    reading = stated.reading
    said = [denied(one.known.joined(one.units), reading.words, reading.small) for one in found]
    against = bool(stated.terms) and all(turned(stated.denied, one) for one in said)
    # Words quoted from behind a "not" do not say what the source says.
    if not against and any(one.verbatim for one in found):
        return Verdict("high")
    words = frozenset().union(*(one.words for one in found))
    likeness = max((one.likeness for one in found if one.likeness is not None), default=None)
    together = replace(found[0], words=words, share=stated.share(words), likeness=likeness)
    high, partial = (HIGH, PARTIAL) if likeness is not None else (HIGH_WORDS, PARTIAL_WORDS)
    level = (together.score >= partial) + (together.score >= high)
    sources = _facts(one.known.facts for one in found)
    near = _facts(
        part for one in found for part in (one.known.facts_at(one.units), one.known.head_facts)
    )
    wrong = lacking(stated.facts, sources)
    known = frozenset().union(*(one.known.all_words for one in found))
    names = unnamed(stated.names, known, reading.words)
    if unnamed([stated.first], known, reading.words) and stated.begins_with_name:
        names = [stated.first, *names]
    mark = [stated.denied.mark or said[0].mark] if against and level else []
    if contradicted(stated.facts, near):
        level = 0
        wrong = wrong or lacking(stated.facts, near)
    elif wrong or names or against or lacking(stated.facts, near):
        level = min(level, 1)
    return Verdict(LEVELS[level], tuple(dict.fromkeys([*wrong, *names, *mark])))


def _put_together(stated: Stated, known: Known, ranked: Sequence[int]) -> tuple[int, ...]:
    """The best unit, and those that bring more of the sentence's words or numbers."""
    picked = [ranked[0]]
    while len(picked) < MOST:
        held = known.head.union(*(known.words[at] for at in picked))
        before = stated.share(held)
        missing = len(lacking(stated.facts, known.facts_at(picked)))
        gains = [
            (
                stated.share(held | known.words[at])
                - before
                + GAIN * (len(lacking(stated.facts, known.facts_at([*picked, at]))) < missing),
                at,
            )
            for at in ranked
            if at not in picked
        ]
        gain, at = max(gains, key=itemgetter(0), default=(0.0, 0))
        if gain < GAIN:
            break
        picked.append(at)
    return tuple(picked)


def _verbatim(stated: Stated, known: Known) -> tuple[int, ...]:
    """The units that hold the sentence word for word, if it says a few words at least."""
    size = len(stated.order)
    if size < 3:
        return ()
    places = range(len(known.order) - size + 1)
    if not any(known.order[at : at + size] == stated.order for at in places):
        return ()
    wanted = frozenset(stated.order)
    held = [at for at, words in enumerate(known.words) if words & wanted]
    # The shortest run of units that together hold its words.
    runs = [
        list(range(first, last + 1))
        for first in held
        for last in held
        if first <= last
        and wanted <= frozenset().union(*(known.words[at] for at in range(first, last + 1)))
    ]
    shortest = min(runs, key=len, default=held[:MOST])
    return tuple(shortest)


def _likeness(stated: Stated, known: Known, texts: Sequence[str]) -> list[float]:
    """The cosine of each text of a note to a sentence; alone it may not say what it is about."""
    title = known.source.title
    titled = [f"{title}: {text}" if title else text for text in texts]
    asked, rows = stated.reading.vectors(stated.text, titled)
    found: list[float] = (rows @ asked).tolist()
    return found


def _facts(parts: Iterable[Facts]) -> Facts:
    found = list(parts)
    return Facts(
        tuple(number for one in found for number in one.numbers),
        tuple(day for one in found for day in one.days),
    )


def _names(text: str, reading: Reading) -> list[str]:
    """The names of a text; "It's" and "There's" are words that say nothing, and no owners."""
    return [
        name
        for name in names_of(text)
        if (owner := re.sub(r"['’]s$", "", name)) == name
        or not reading.small.issuperset(reading.words(owner))
    ]
