"""Decides how far the sources say what a sentence says: by its words, its meaning, and to the letter.

Pure, but for the embedding model behind the analyzer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter

from notehop.app.answer.facts import (
    Facts,
    facts_of,
    find_negations,
    has_contradicting_value,
    is_negation_reversed,
    missing_facts,
)
from notehop.app.answer.material import STATING_KINDS, Unit, split_into_units, strip_markers
from notehop.app.answer.names import capitalized_names, first_word, missing_names
from notehop.app.answer.quotes.text_analyzer import Term, TextAnalyzer
from notehop.app.models import Source, Support

WORD_SHARE_WEIGHT = 0.55
"""Weight of the share of the sentence's words in its score; its likeness has the rest."""

MIN_HIGH_SCORE = 0.60
"""Least score of a sentence that its source says. Of 60 true ones put otherwise 47 reach it; of
112 ones made up, or cited to another passage or note, none; of 201 that a model invented 3
(docs/answers.md)."""

MIN_PARTIAL_SCORE = 0.45  # least score of one that it says in part

MIN_HIGH_WORD_SHARE, MIN_PARTIAL_WORD_SHARE = 0.65, 0.5
"""Least shares of words for the same, where no vectors can be compared."""

MAX_COMPARED_UNITS = 4
"""Units of a source whose vectors are compared with a sentence, best by words first: each takes
some milliseconds, once."""

MAX_COMBINED_UNITS = 3  # units of a source that a sentence may be put together from
MIN_SHARE_GAIN = 0.12  # share of a sentence's words that a further unit has to bring

_LIST_MARK = re.compile(
    r"(?:> ?)*(?:(?:[-*+]|\(?\d{1,3}[.)])\s+(?!\w+ (?:19|20|21)\d\d)(?:\[[ xX]\]\s+)?"
    r"|(?:step|schritt|étape|paso|passo|stap) \d{1,2}(?:[:.)]| [-–—])\s+)+",
    re.IGNORECASE,
)
"""The mark of a list item, or the number of a step: the answer's own, no source has to have it."""

SUPPORT_LEVELS: tuple[Support, ...] = ("none", "partial", "high")


class ClaimText:
    """A sentence of an answer with its terms, facts and names, found once for all its sources."""

    def __init__(self, text: str, analyzer: TextAnalyzer) -> None:
        self.analyzer = analyzer
        self.text = _LIST_MARK.sub("", strip_markers(text), count=1)
        self.terms: Sequence[Term] = analyzer.terms(self.text)
        self.facts = facts_of(self.text, analyzer.language)
        # A language that gives every noun a capital says nothing by one.
        self.names = [] if analyzer.language == "de" else _claim_names(self.text, analyzer)
        self.first_word = first_word(self.text)
        self.negations = find_negations(self.text, analyzer.words, analyzer.function_words)
        self.words_in_order = tuple(analyzer.words(self.text))

    @cached_property
    def begins_with_name(self) -> bool:
        """Whether a note goes by its first word: a capital alone says nothing there."""
        return self.first_word in self.analyzer.known_names([self.first_word])

    def share(self, words: frozenset[str]) -> float:
        """The weighted share of its words that are among ``words``, 0 to 1."""
        total = sum(term.weight for term in self.terms)
        found = sum(term.weight for term in self.terms if term.word in words)
        return found / total if total > 0 else 0.0


class SourceText:
    """A source with its units, words and facts, found once for all sentences."""

    def __init__(self, source: Source, aliases: Sequence[str], analyzer: TextAnalyzer) -> None:
        """:param aliases: other names of its note."""
        self.source = source
        self._analyzer = analyzer
        head = " ".join((source.title, source.heading, *aliases))
        self.head_words = frozenset(analyzer.words(head))
        self._head_text = f"{head}\n{source.path}"

    @cached_property
    def units(self) -> list[Unit]:
        """The units of it that can be quoted, in order."""
        found = split_into_units(self.source.text, self._analyzer.sentences)
        stating = [one for one in found if one.kind in STATING_KINDS]
        # A note of headings or code alone can still be quoted.
        return stating or [one for one in found if one.kind != "rule"]

    @cached_property
    def texts(self) -> list[str]:
        """The units' text as it is compared."""
        return [strip_markers(self.source.text[one.start : one.end]) for one in self.units]

    @cached_property
    def words(self) -> list[frozenset[str]]:
        return [frozenset(self._analyzer.words(text)) for text in self.texts]

    @cached_property
    def words_in_order(self) -> tuple[str, ...]:
        """All its words as they stand there."""
        return tuple(self._analyzer.words(strip_markers(self.source.text)))

    @cached_property
    def all_words(self) -> frozenset[str]:
        """Its words with those of its title, headings, path and other names."""
        return frozenset((*self.words_in_order, *self._analyzer.words(self._head_text), *self.head_words))

    @cached_property
    def facts(self) -> Facts:
        """Its numbers and dates, those of title and headings included."""
        return facts_of(f"{strip_markers(self.source.text)}\n{self._head_text}", self._analyzer.language)

    def facts_at(self, at: Iterable[int]) -> Facts:
        """Return the numbers and dates of some units together."""
        return _merge_facts(facts_of(self.texts[one], self._analyzer.language) for one in at)

    @cached_property
    def head_facts(self) -> Facts:
        """The numbers and dates of title, headings and path alone."""
        return facts_of(self._head_text, self._analyzer.language)

    def joined(self, at: Sequence[int]) -> str:
        """Some units as one text."""
        return " ".join(self.texts[one] for one in sorted(at))


@dataclass(frozen=True, slots=True)
class SupportMatch:
    """What of a source supports a sentence.

    ``units`` are those that support it, best first; ``words`` what of its terms stands there,
    ``share`` their weight of 0 to 1, ``likeness`` the cosine (None: not compared).
    """

    source: SourceText
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
        return WORD_SHARE_WEIGHT * self.share + (1 - WORD_SHARE_WEIGHT) * max(0.0, self.likeness)


@dataclass(frozen=True, slots=True)
class ClaimSupport:
    """How far sources support a sentence, and what it states that they lack."""

    support: Support
    lacks: tuple[str, ...] = ()


def compare_with_source(claim: ClaimText, source: SourceText, *, with_vectors: bool = True) -> SupportMatch:
    """Find what of a source supports a sentence.

    :param with_vectors: whether vectors are compared.
    :raises Exception: what the embedding model raises.
    """
    if not source.units or not claim.words_in_order:
        return SupportMatch(source)
    run = _verbatim_units(claim, source)
    if run:
        words = frozenset(term.word for term in claim.terms)
        return SupportMatch(source, run, words, 1.0, 1.0, verbatim=True)
    shares = [claim.share(words | source.head_words) for words in source.words]
    ranked = sorted(range(len(shares)), key=lambda at: (-shares[at], at))
    likeness: dict[int, float] = {}
    if with_vectors:
        compared = ranked[:MAX_COMPARED_UNITS]
        texts = [source.texts[at] for at in compared]
        likeness = dict(zip(compared, _unit_likenesses(claim, source, texts), strict=True))
        ranked.sort(
            key=lambda at: (-SupportMatch(source, share=shares[at], likeness=likeness.get(at, 0.0)).score, at)
        )
    picked = _combine_units(claim, source, ranked)
    held_words = source.head_words.union(*(source.words[at] for at in picked))
    best_likeness = max((likeness[at] for at in picked if at in likeness), default=None)
    if best_likeness is not None and len(picked) > 1:
        best_likeness = max(best_likeness, *_unit_likenesses(claim, source, [source.joined(picked)]))
    words = frozenset(term.word for term in claim.terms if term.word in held_words)
    return SupportMatch(source, picked, words, claim.share(held_words), best_likeness)


def decide_support(claim: ClaimText, matches: Sequence[SupportMatch]) -> ClaimSupport:
    """Say how far some sources together support a sentence.

    Its score says how far; a number, date, name or negation that they lack takes it down: below
    high, and where a source has another value in that place, to none.
    """
    matches = [one for one in matches if one.units]
    if not matches:
        return ClaimSupport("none")
    analyzer = claim.analyzer
    negations = [
        find_negations(one.source.joined(one.units), analyzer.words, analyzer.function_words)
        for one in matches
    ]
    is_reversed = bool(claim.terms) and all(is_negation_reversed(claim.negations, one) for one in negations)
    # Words quoted from behind a "not" do not say what the source says.
    if not is_reversed and any(one.verbatim for one in matches):
        return ClaimSupport("high")
    words = frozenset().union(*(one.words for one in matches))
    likeness = max((one.likeness for one in matches if one.likeness is not None), default=None)
    together = replace(matches[0], words=words, share=claim.share(words), likeness=likeness)
    high, partial = (
        (MIN_HIGH_SCORE, MIN_PARTIAL_SCORE)
        if likeness is not None
        else (MIN_HIGH_WORD_SHARE, MIN_PARTIAL_WORD_SHARE)
    )
    level = (together.score >= partial) + (together.score >= high)
    sources = _merge_facts(one.source.facts for one in matches)
    quoted_facts = _merge_facts(
        part for one in matches for part in (one.source.facts_at(one.units), one.source.head_facts)
    )
    wrong = missing_facts(claim.facts, sources)
    known_words = frozenset().union(*(one.source.all_words for one in matches))
    names = missing_names(claim.names, known_words, analyzer.words)
    if missing_names([claim.first_word], known_words, analyzer.words) and claim.begins_with_name:
        names = [claim.first_word, *names]
    mark = [claim.negations.negation or negations[0].negation] if is_reversed and level else []
    if has_contradicting_value(claim.facts, quoted_facts):
        level = 0
        wrong = wrong or missing_facts(claim.facts, quoted_facts)
    elif wrong or names or is_reversed or missing_facts(claim.facts, quoted_facts):
        level = min(level, 1)
    return ClaimSupport(SUPPORT_LEVELS[level], tuple(dict.fromkeys([*wrong, *names, *mark])))


def _combine_units(claim: ClaimText, source: SourceText, ranked: Sequence[int]) -> tuple[int, ...]:
    """The best unit, and those that bring more of the sentence's words or numbers."""
    picked = [ranked[0]]
    while len(picked) < MAX_COMBINED_UNITS:
        held_words = source.head_words.union(*(source.words[at] for at in picked))
        before = claim.share(held_words)
        missing = len(missing_facts(claim.facts, source.facts_at(picked)))
        gains = [
            (
                claim.share(held_words | source.words[at])
                - before
                + MIN_SHARE_GAIN
                * (len(missing_facts(claim.facts, source.facts_at([*picked, at]))) < missing),
                at,
            )
            for at in ranked
            if at not in picked
        ]
        gain, at = max(gains, key=itemgetter(0), default=(0.0, 0))
        if gain < MIN_SHARE_GAIN:
            break
        picked.append(at)
    return tuple(picked)


def _verbatim_units(claim: ClaimText, source: SourceText) -> tuple[int, ...]:
    """The units that hold the sentence word for word, if it says a few words at least."""
    size = len(claim.words_in_order)
    if size < 3:
        return ()
    places = range(len(source.words_in_order) - size + 1)
    if not any(source.words_in_order[at : at + size] == claim.words_in_order for at in places):
        return ()
    claim_words = frozenset(claim.words_in_order)
    places_with_words = [at for at, words in enumerate(source.words) if words & claim_words]
    # The shortest run of units that together hold its words.
    runs = [
        list(range(first, last + 1))
        for first in places_with_words
        for last in places_with_words
        if first <= last
        and claim_words <= frozenset().union(*(source.words[at] for at in range(first, last + 1)))
    ]
    shortest = min(runs, key=len, default=places_with_words[:MAX_COMBINED_UNITS])
    return tuple(shortest)


def _unit_likenesses(claim: ClaimText, source: SourceText, texts: Sequence[str]) -> list[float]:
    """The cosine of each text of a note to a sentence; alone it may not say what it is about."""
    title = source.source.title
    titled = [f"{title}: {text}" if title else text for text in texts]
    query, rows = claim.analyzer.vectors(claim.text, titled)
    likenesses: list[float] = (rows @ query).tolist()
    return likenesses


def _merge_facts(parts: Iterable[Facts]) -> Facts:
    found = list(parts)
    return Facts(
        tuple(number for one in found for number in one.numbers),
        tuple(day for one in found for day in one.days),
    )


def _claim_names(text: str, analyzer: TextAnalyzer) -> list[str]:
    """The names of a text; "It's" and "There's" are words that say nothing, and no owners."""
    return [
        name
        for name in capitalized_names(text)
        if (owner := re.sub(r"['’]s$", "", name)) == name
        or not analyzer.function_words.issuperset(analyzer.words(owner))
    ]
