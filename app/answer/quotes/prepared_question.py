"""A question as passages are held against it, and a passage that may answer it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from notehop.app.answer.facts import YEAR_PATTERN, Facts, facts_of
from notehop.app.answer.names import capitalized_names
from notehop.app.answer.quotes import by_language
from notehop.app.answer.quotes.blocks import Passage
from notehop.app.answer.quotes.exact_values import (
    DIGITS,
    has_date,
    has_exact_value,
    numbered_names,
    synonyms_of,
)
from notehop.app.answer.quotes.question import COMPARATIVE, Question, form_words, is_form_word
from notehop.app.answer.quotes.text_analyzer import NAMING_PROPERTY, QuotableSource, Term, TextAnalyzer
from notehop.app.retrieval.intents import ASKS_FOR_NEWEST
from notehop.indexing.tokens.words import fold, joined_words
from notehop.indexing.vault.dates import MONTH_NUMBERS
from notehop.indexing.vault.properties import BETWEEN

EVERYDAY_WORD_WEIGHT = 0.6
"""Weight of an everyday word that no note has: they may well have another for it."""

MIN_RARITY_RATIO = 1.4  # how much rarer the word is that a question turns on


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that may answer: the one at ``order``, from 0, of the ``passages`` of the source at
    ``source_index``, with its words, its features and its score.

    Scores of one query compare. ``likeness`` is the cosine to the query, 0 without a model.
    ``new_word_count`` counts the words that the query does not have, ``chunk_words`` are those of the chunk,
    its title and headings;
    ``coverage`` is the weighted share of the query's words that stand in it, beside it and above it.
    """

    source_index: int
    quotable: QuotableSource
    passages: Sequence[Passage]
    order: int
    words: frozenset[str]
    features: Mapping[str, float]
    score: float = 0.0
    likeness: float = 0.0
    new_word_count: int = 0
    coverage: float = 0.0
    chunk_words: frozenset[str] = frozenset()

    @property
    def passage(self) -> Passage:
        return self.passages[self.order]

    @property
    def path(self) -> str:
        return self.quotable.source.path

    @property
    def heading(self) -> str:
        """The nearest heading above it."""
        return self.passage.heading or self.quotable.source.heading.split(" > ")[-1]


def is_answered_question(passages: Sequence[Passage], at: int) -> bool:
    """Whether a passage is a question that the next one answers."""
    passage, below = passages[at], passages[at + 1 : at + 2]
    asks = passage.kind in ("prose", "item") and passage.text.endswith("?")
    return asks and any(
        one.group == passage.group and (passage.kind == "prose" or one.depth > passage.depth) for one in below
    )


# Numbers on one side of which lies what is asked for.
_BOUND = re.compile(r"(?i)\b(?:after|before|since|until|by|than|nach|vor|seit|bis|ab) (?:\w+ )?[\d./-]+")

_CAPITAL_ABBREVIATIONS = frozenset(("ok", "okay", "fyi", "asap", "btw", "imo", "imho"))
"""Words in capitals that name nothing."""

_COST_WORDS = frozenset(("cost", *synonyms_of("cost").split()))
_DEGREE = re.compile(r"\b(?:how|wie|hoe|hur) (\w+)")

_ENDS = " .?!"
_PAST = by_language("past_")


class PreparedQuestion:
    """A parsed question with its weighted terms, names and numbers, made once for all passages."""

    def __init__(self, parsed: Question, analyzer: TextAnalyzer, phrases: Sequence[str] = ()) -> None:
        """:param phrases: what a passage that answers is to hold, as it stands in quotes in the question."""
        self._phrases = [joined_words(one) for one in phrases]
        self.parsed = parsed
        self.analyzer = analyzer
        terms = tuple(
            replace(one, weight=one.weight * EVERYDAY_WORD_WEIGHT) if one.common else one
            for one in analyzer.terms(parsed.text)
        )
        # What no note has, and only says what kind of answer is wanted, is no word of it.
        ignored = {one.folded for one in terms if one.missing and is_form_word(one.as_typed)}
        if self.defined_words:
            # "What does it stand for" has no word that a definition has, but what is to be defined.
            form = form_words(parsed.text)
            kept_terms = (
                one
                for one in terms
                if one.word in self.defined_words or not (is_form_word(one.as_typed) or one.folded in form)
            )
            terms = tuple(kept_terms) or terms
        # "How high is the rent" is for no height, what it costs is told by an amount, and the latest one
        # need not say that it is.
        ignored |= {one for one in _DEGREE.findall(parsed.folded) if is_form_word(one)}
        if self.asks_for_newest:
            ignored.update(" ".join(ASKS_FOR_NEWEST.findall(parsed.folded)).split())
        if parsed.measure == "money":
            ignored |= _COST_WORDS
        if parsed.compared_kind:
            ignored.update(" ".join(COMPARATIVE.findall(parsed.folded)).split())
        self.terms = tuple(one for one in terms if one.folded not in ignored) or terms
        self.words = frozenset(term.word for term in self.terms)
        self.all_words = frozenset(analyzer.words(parsed.text))
        self.total_weight = sum(term.weight for term in self.terms)
        self.numbers = frozenset(DIGITS.findall(parsed.text))
        self._numbered_names = numbered_names(_BOUND.sub("", parsed.text))
        # A language that gives every noun a capital says nothing by one.
        names = capitalized_names(parsed.text) if parsed.language != "de" else []
        self.names = frozenset(word for name in names for word in analyzer.words(name)) & self.words

    @cached_property
    def has_unknown_name(self) -> bool:
        """Whether a name or a year in the question stands in no note."""
        return any(
            term.missing
            and (
                term.word in self.names
                or any(letter.isupper() for letter in term.as_typed[1:])
                or re.fullmatch(YEAR_PATTERN, term.as_typed)
            )
            and term.as_typed.casefold() not in _CAPITAL_ABBREVIATIONS
            for term in self.terms
        )

    @cached_property
    def asks_about_past(self) -> bool:
        """Whether it asks for what came to pass."""
        past = _PAST.get(self.parsed.language)
        return past is not None and bool(past.search(self.parsed.folded))

    @cached_property
    def asks_for_newest(self) -> bool:
        """Whether it asks for the newest of what was noted, of whatever day."""
        newest = ASKS_FOR_NEWEST.search(self.parsed.text)
        return newest is not None and "comparison" not in self.parsed.forms and not self.facts.days

    def names_another_number(
        self, passage: Passage, quotable: QuotableSource, passages: Sequence[Passage]
    ) -> bool:
        """Whether a passage, its paragraph and headings name another year or number than is asked for."""
        if not self._numbered_names:
            return False
        group, note = passage.group if passage.kind == "prose" else None, quotable.source
        text = [one.text for one in passages if one is passage or one.group == group]
        text += (note.title, note.heading, passage.heading, passage.lead)
        numbers = numbered_names(" | ".join(text))
        right_kinds = {kind for kind, _ in self._numbered_names & numbers}
        return bool({one for one, _ in self._numbered_names} & {one for one, _ in numbers} - right_kinds)

    @cached_property
    def rarest_term(self) -> tuple[Term, ...]:
        """The term that is far rarer in the notes than all others; empty for none."""
        # One that is written with digits has several terms.
        ranked = sorted((one for one in self.terms if not one.absent), key=lambda one: (one.weight, one.word))
        there = sorted({one.as_typed: one for one in ranked}.values(), key=lambda one: (one.weight, one.word))
        far = len(there) > 1 and there[-2].weight * MIN_RARITY_RATIO < there[-1].weight
        return (there[-1],) if far else ()

    @cached_property
    def facts(self) -> Facts:
        """The numbers and days in the question."""
        return facts_of(self.parsed.text, self.analyzer.language)

    @cached_property
    def defined_words(self) -> frozenset[str]:
        """The words of what is to be defined."""
        words = frozenset(self.analyzer.words(self.parsed.defined_term))
        return words - self.analyzer.function_words or words  # "CA" is written as a small word is.

    def name_word_sets(self, quotable: QuotableSource) -> list[frozenset[str]]:
        """The words of each name of a note, of its title first."""
        return [frozenset(self.analyzer.words(name)) for name in quotable.all_names]

    def name_words(self, quotable: QuotableSource) -> frozenset[str]:
        """The words that a note is called by."""
        return frozenset[str]().union(*self.name_word_sets(quotable))

    def is_named(self, quotable: QuotableSource) -> bool:
        return any(bool(name) and name <= self.all_words for name in self.name_word_sets(quotable))

    def agreement(self, name: str) -> tuple[bool, int]:
        """Whether the question has all words of a name of something, without a doubt, and how many words,
        numbers and days they have in common; "Mar" is March."""
        words = frozenset(self.analyzer.words(name)) - self.analyzer.function_words
        query_words = self.all_words.union(*(one.variants for one in self.terms))
        own, facts = self.facts, facts_of(name, self.analyzer.language)
        numbers = sum(
            bool(one.values & other.values) and one.kind[:6] == other.kind[:6]
            for one in own.numbers
            for other in facts.numbers
        )
        days = sum(one.agrees(other) for one in own.days for other in facts.days)
        month = None if facts.days else MONTH_NUMBERS.get(name.strip(" .").casefold())
        of_it = month is not None and any(one.month == month for one in own.days)
        count = len(words & query_words) + numbers + days + of_it
        # Who writes "cancel?" calls nothing so.
        whole = bool(words) and words <= query_words and not name.rstrip().endswith("?")
        return whole or of_it or days > 0, count

    def says_more(self, candidate: Candidate) -> bool:
        """Whether a passage says anything that the question does not."""
        if self.has_quoted_phrase(candidate.passage):
            return True
        if candidate.passage.kind == "property":
            return not candidate.features["bare"] or candidate.features["title_share"] >= 1
        if candidate.passage.kind not in ("prose", "item"):
            return True
        if self.parsed.form == "yesno" and candidate.features["task"]:
            return True  # Its box says whether it is done.
        if "list" in self.parsed.forms:
            return candidate.new_word_count > 0
        plain = fold(candidate.passage.text).casefold().rstrip(_ENDS)
        if self.parsed.form != "open" and plain.endswith(self.parsed.folded.rstrip(_ENDS)):
            return is_answered_question(
                candidate.passages, candidate.order
            )  # not "Find out who leads the guild."
        label = candidate.features["bare"] and not self.has_whole_query(candidate.passage.text)
        return bool(candidate.features["title_tells"]) or (candidate.new_word_count > 0 and not label)

    def has_quoted_phrase(self, passage: Passage) -> bool:
        """Whether a passage has a phrase of the question, or is a part of one."""
        text = joined_words(passage.text) if self._phrases else ""
        return any(one in text or (text.strip() and text in one) for one in self._phrases)

    def is_dated_by_note(self, passage: Passage, quotable: QuotableSource) -> bool:
        """Whether the question asks when, and the name of the passage's note or its heading has the date."""
        asks_when = "date" in self.parsed.forms and (self.asks_about_past or self.asks_for_newest)
        has_date_above = quotable.day is not None or has_date(passage.heading)
        return asks_when and has_date_above and passage.kind != "property"

    def has_exact_value(self, candidate: Candidate) -> bool:
        """Whether a passage has what an answer must have in it, or its note tells it by its name."""
        exact = self.parsed.exact_kind
        if exact == "date" and self.is_dated_by_note(candidate.passage, candidate.quotable):
            return True
        text_share = candidate.features["text_share"]
        if exact == "birthday" and self.facts.days:
            days = facts_of(candidate.passage.text, self.analyzer.language).days
            if not any(found.agrees(day) for found in self.facts.days for day in days):
                return False  # "Whose birthday is in May?"
        heading = candidate.heading if text_share or exact != "birthday" else ""
        # A line is named by what its note is called: "Mum 3 March" of "Birthdays".
        title = candidate.quotable.source.title if text_share and exact != "count" else ""
        words, known, above = self.analyzer.words, self.numbers, f"{title} {heading}"
        return has_exact_value(self.parsed, exact, candidate.passage, above, words, known)

    def share_beside_names(self, candidate: Candidate) -> float:
        """The share of the question, without the words of a note's name, that a passage has, or its
        properties but those that name it."""
        if candidate.passage.kind != "property":
            return candidate.features["beside_title_share"]
        own = (
            each for each in candidate.passage.text.split(f"{BETWEEN} ") if not NAMING_PROPERTY.match(each)
        )
        return self.share(self.analyzer.words(" ".join(own)))

    def has_whole_query(self, text: str) -> bool:
        """Whether a text has all that is searched for, several words, as it is written."""
        return self._phrase is not None and self._phrase.search(fold(text)) is not None

    @cached_property
    def _phrase(self) -> re.Pattern[str] | None:
        words = re.findall(r"\w+", fold(self.parsed.text))
        several = len(words) > 1 and len(self.terms) > 1
        row = r"\W+".join(words)
        return re.compile(rf"\b{row}\b", re.IGNORECASE) if several else None

    def share(self, words: Iterable[str]) -> float:
        """The weighted share of the question's words that are among these, 0 to 1."""
        held_words = frozenset(words)
        there = sum(term.weight * term.share_in(held_words) for term in self.terms)
        return there / self.total_weight if self.total_weight > 0 else 0.0

    def share_beside(self, known: frozenset[str], words: frozenset[str]) -> float:
        """The weighted share of the words not known from the note's name, 0 to 1; 1 if all are known."""
        rest = [term for term in self.terms if term.word not in known]
        total = sum(term.weight for term in rest)
        there = sum(term.weight * term.share_in(words) for term in rest)
        return there / total if total > 0 else 1.0

    def share_of_names(self, words: frozenset[str]) -> float:
        """The share of the names in the question that are among these words; 1 if it has none."""
        return len(self.names & words) / len(self.names) if self.names else 1.0
