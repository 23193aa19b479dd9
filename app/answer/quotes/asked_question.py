"""A question as passages are held against it, and a passage that may answer it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from notehop.app.answer.facts import YEAR, Facts, facts_of
from notehop.app.answer.names import names_of
from notehop.app.answer.quotes import by_language
from notehop.app.answer.quotes.blocks import Passage
from notehop.app.answer.quotes.exact import DIGITS, fits, has_date, numbered, said_otherwise
from notehop.app.answer.quotes.question import COMPARATIVE, Question, form_words, says_form
from notehop.app.answer.quotes.reading import NAMING, Named, Reading, Term
from notehop.app.retrieval.intents import NEWEST
from notehop.indexing.tokens.words import fold, joined_words
from notehop.indexing.vault.dates import MONTH_NUMBERS
from notehop.indexing.vault.properties import BETWEEN

EVERYDAY = 0.6  # what an everyday word weighs that no note has: they may well have another for it
RARER = 1.4  # how much rarer the word is that a question turns on


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage, that in ``order`` of those ``read`` of a source, both counted from 0, with its words, its
    features and its score.

    Scores of one query compare. ``likeness`` is the cosine to the query, 0 without a model. ``fresh``
    counts the words that the query does not have, ``held`` are those of the chunk, its title and headings;
    ``covered`` is the weighted share of the query's words that stand in it, beside it and above it.
    """

    source: int
    named: Named
    read: Sequence[Passage]
    order: int
    words: frozenset[str]
    features: Mapping[str, float]
    score: float = 0.0
    likeness: float = 0.0
    fresh: int = 0
    covered: float = 0.0
    held: frozenset[str] = frozenset()

    @property
    def passage(self) -> Passage:
        return self.read[self.order]

    @property
    def path(self) -> str:
        return self.named.source.path

    @property
    def heading(self) -> str:
        """The nearest heading above it."""
        return self.passage.heading or self.named.source.heading.split(" > ")[-1]


def is_asked(read: Sequence[Passage], at: int) -> bool:
    """Whether a passage is a question that the next one answers."""
    its, below = read[at], read[at + 1 : at + 2]
    asks = its.kind in ("prose", "item") and its.text.endswith("?")
    return asks and any(
        one.group == its.group and (its.kind == "prose" or one.depth > its.depth) for one in below
    )


# Numbers on one side of which lies what is asked for.
_BOUND = re.compile(
    r"(?i)\b(?:after|before|since|until|by|than|nach|vor|seit|bis|ab) (?:\w+ )?[\d./-]+"
)

_SAYINGS = frozenset(("ok", "okay", "fyi", "asap", "btw", "imo", "imho"))
"""Words in capitals that name nothing."""

_COSTS = frozenset(("cost", *said_otherwise("cost").split()))
_DEGREE = re.compile(r"\b(?:how|wie|hoe|hur) (\w+)")

_ENDS = " .?!"
_PAST = by_language("past_")


class Asked:
    """A question, read once for all passages."""

    def __init__(self, question: Question, reading: Reading, phrases: Sequence[str] = ()) -> None:
        """:param phrases: what a passage that answers is to hold, as it stands in quotes in the question."""
        self._phrases = [joined_words(one) for one in phrases]
        self.question = question
        self.reading = reading
        terms = tuple(
            replace(one, weight=one.weight * EVERYDAY) if one.common else one
            for one in reading.terms(question.text)
        )
        # What no note has, and only says what kind of answer is wanted, is no word of it.
        degree = {one.plain for one in terms if one.missing and says_form(one.written)}
        if self.about:
            # "What does it stand for" has no word that a definition has, but what is to be defined.
            form = form_words(question.text)
            asked = (
                one
                for one in terms
                if one.word in self.about or not (says_form(one.written) or one.plain in form)
            )
            terms = tuple(asked) or terms
        # "How high is the rent" is for no height, what it costs is told by an amount, and the latest one
        # need not say that it is.
        degree |= {one for one in _DEGREE.findall(question.plain) if says_form(one)}
        if self.is_newest:
            degree.update(" ".join(NEWEST.findall(question.plain)).split())
        if question.measure == "money":
            degree |= _COSTS
        if question.compared:
            degree.update(" ".join(COMPARATIVE.findall(question.plain)).split())
        self.terms = tuple(one for one in terms if one.plain not in degree) or terms
        self.words = frozenset(term.word for term in self.terms)
        self.all_words = frozenset(reading.words(question.text))
        self.total = sum(term.weight for term in self.terms)
        self.numbers = frozenset(DIGITS.findall(question.text))
        self._numbered = numbered(_BOUND.sub("", question.text))
        # A language that gives every noun a capital says nothing by one.
        said = names_of(question.text) if question.language != "de" else []
        self.names = frozenset(word for name in said for word in reading.words(name)) & self.words

    @cached_property
    def has_unknown_name(self) -> bool:
        """Whether a name or a year in the question stands in no note."""
        return any(
            term.missing
            and (
                term.word in self.names
                or any(letter.isupper() for letter in term.written[1:])
                or re.fullmatch(YEAR, term.written)
            )
            and term.written.casefold() not in _SAYINGS
            for term in self.terms
        )

    @cached_property
    def is_past(self) -> bool:
        """Whether it asks for what came to pass."""
        past = _PAST.get(self.question.language)
        return past is not None and bool(past.search(self.question.plain))

    @cached_property
    def is_newest(self) -> bool:
        """Whether it asks for the newest of what was noted, of whatever day."""
        newest = NEWEST.search(self.question.text)
        return (
            newest is not None and "comparison" not in self.question.forms and not self.facts.days
        )

    def is_of_another(self, passage: Passage, named: Named, read: Sequence[Passage]) -> bool:
        """Whether a passage, its paragraph and what stands above it name another year than is asked for."""
        if not self._numbered:
            return False
        group, note = passage.group if passage.kind == "prose" else None, named.source
        text = [one.text for one in read if one is passage or one.group == group]
        text += (note.title, note.heading, passage.heading, passage.lead)
        there = numbered(" | ".join(text))
        right = {kind for kind, _ in self._numbered & there}
        return bool({one for one, _ in self._numbered} & {one for one, _ in there} - right)

    @cached_property
    def rarest(self) -> tuple[Term, ...]:
        """The word that it turns on: far rarer than the others that any note has."""
        # One that is written with digits has several terms.
        ranked = sorted(
            (one for one in self.terms if not one.absent), key=lambda one: (one.weight, one.word)
        )
        there = sorted(
            {one.written: one for one in ranked}.values(), key=lambda one: (one.weight, one.word)
        )
        far = len(there) > 1 and there[-2].weight * RARER < there[-1].weight
        return (there[-1],) if far else ()

    @cached_property
    def facts(self) -> Facts:
        """The numbers and days in the question."""
        return facts_of(self.question.text, self.reading.language)

    @cached_property
    def about(self) -> frozenset[str]:
        """The words of what is to be defined."""
        words = frozenset(self.reading.words(self.question.about))
        return words - self.reading.small or words  # "CA" is written as a small word is.

    def called(self, named: Named) -> list[frozenset[str]]:
        """The words of each name of a note, of its title first."""
        return [frozenset(self.reading.words(name)) for name in named.called]

    def name_words(self, named: Named) -> frozenset[str]:
        """The words that a note is called by."""
        return frozenset[str]().union(*self.called(named))

    def is_named(self, named: Named) -> bool:
        return any(bool(name) and name <= self.all_words for name in self.called(named))

    def agreement(self, name: str) -> tuple[bool, int]:
        """Whether the question has all words of a name of something, without a doubt, and how many words,
        numbers and days they have in common; "Mar" is March."""
        words = frozenset(self.reading.words(name)) - self.reading.small
        said = self.all_words.union(*(one.met for one in self.terms))
        own, facts = self.facts, facts_of(name, self.reading.language)
        numbers = sum(
            bool(one.readings & other.readings) and one.kind[:6] == other.kind[:6]
            for one in own.numbers
            for other in facts.numbers
        )
        days = sum(one.agrees(other) for one in own.days for other in facts.days)
        month = None if facts.days else MONTH_NUMBERS.get(name.strip(" .").casefold())
        of_it = month is not None and any(one.month == month for one in own.days)
        count = len(words & said) + numbers + days + of_it
        # Who writes "cancel?" calls nothing so.
        whole = bool(words) and words <= said and not name.rstrip().endswith("?")
        return whole or of_it or days > 0, count

    def is_told_more(self, one: Candidate) -> bool:
        """Whether a passage says anything that the question does not."""
        if self.is_meant(one.passage):
            return True
        if one.passage.kind == "property":
            return not one.features["bare"] or one.features["title_share"] >= 1
        if one.passage.kind not in ("prose", "item"):
            return True
        if self.question.form == "yesno" and one.features["task"]:
            return True  # Its box says whether it is done.
        if "list" in self.question.forms:
            return one.fresh > 0
        plain = fold(one.passage.text).casefold().rstrip(_ENDS)
        if self.question.form != "open" and plain.endswith(self.question.plain.rstrip(_ENDS)):
            return is_asked(one.read, one.order)  # not "Find out who leads the guild."
        label = one.features["bare"] and not self.has_phrase(one.passage.text)
        return bool(one.features["title_tells"]) or (one.fresh > 0 and not label)

    def is_meant(self, passage: Passage) -> bool:
        """Whether a passage has a phrase of the question, or is a part of one."""
        said = joined_words(passage.text) if self._phrases else ""
        return any(one in said or (said.strip() and said in one) for one in self._phrases)

    def is_told_when(self, passage: Passage, named: Named) -> bool:
        """Whether its note tells by its name when what a passage says was, where that is asked for."""
        when = "date" in self.question.forms and (self.is_past or self.is_newest)
        told = named.day is not None or has_date(passage.heading)
        return when and told and passage.kind != "property"

    def fits(self, one: Candidate) -> bool:
        """Whether a passage has what an answer must have in it, or its note tells it by its name."""
        exact = self.question.exact
        if exact == "date" and self.is_told_when(one.passage, one.named):
            return True
        own = one.features["text_share"]
        if exact == "birthday" and self.facts.days:
            days = facts_of(one.passage.text, self.reading.language).days
            if not any(it.agrees(day) for it in self.facts.days for day in days):
                return False  # "Whose birthday is in May?"
        heading = one.heading if own or exact != "birthday" else ""
        # A line is named by what its note is called: "Mum 3 March" of "Birthdays".
        title = one.named.source.title if own and exact != "count" else ""
        words, known, above = self.reading.words, self.numbers, f"{title} {heading}"
        return fits(self.question, exact, one.passage, above, words, known)

    def told_beside_names(self, one: Candidate) -> float:
        """The share of the question, without the words of a note's name, that a passage has, or its
        properties but those that name it."""
        if one.passage.kind != "property":
            return one.features["beside_title_share"]
        own = (each for each in one.passage.text.split(f"{BETWEEN} ") if not NAMING.match(each))
        return self.share(self.reading.words(" ".join(own)))

    def has_phrase(self, text: str) -> bool:
        """Whether a text has all that is searched for, several words, as it is written."""
        return self._phrase is not None and self._phrase.search(fold(text)) is not None

    @cached_property
    def _phrase(self) -> re.Pattern[str] | None:
        words = re.findall(r"\w+", fold(self.question.text))
        several = len(words) > 1 and len(self.terms) > 1
        row = r"\W+".join(words)
        return re.compile(rf"\b{row}\b", re.IGNORECASE) if several else None

    def share(self, words: Iterable[str]) -> float:
        """The weighted share of the question's words that are among these, 0 to 1."""
        held = frozenset(words)
        there = sum(term.weight * term.share_in(held) for term in self.terms)
        return there / self.total if self.total > 0 else 0.0

    def share_beside(self, known: frozenset[str], words: frozenset[str]) -> float:
        """The same of the words that are not known from the note's name; 1 if all are."""
        rest = [term for term in self.terms if term.word not in known]
        total = sum(term.weight for term in rest)
        there = sum(term.weight * term.share_in(words) for term in rest)
        return there / total if total > 0 else 1.0

    def share_of_names(self, words: frozenset[str]) -> float:
        """The share of the names in the question that are among these words; 1 if it has none."""
        return len(self.names & words) / len(self.names) if self.names else 1.0
