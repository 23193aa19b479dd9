"""Quotes what a question asks of a note by its name: properties, and fields, which are short sections below a
heading, as "Town" with a name below. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from notehop.app.answer.draft import Quote
from notehop.app.answer.names import capitalized_names
from notehop.app.answer.quotes import WORD_LISTS
from notehop.app.answer.quotes.blocks import Passage
from notehop.app.answer.quotes.exact_values import FILING_DATE, WORD, has_date, is_agent_noun, is_day
from notehop.app.answer.quotes.passages import split_properties
from notehop.app.answer.quotes.prepared_question import Candidate, PreparedQuestion
from notehop.app.answer.quotes.sections import word_count
from notehop.app.answer.quotes.text_analyzer import NAMING_PROPERTY, QuotableSource
from notehop.indexing.tokens.words import fold
from notehop.indexing.vault.plain import LABELLED
from notehop.indexing.vault.properties import BETWEEN

TYPED_VALUE_FEATURES = ("number_there", "date_there", "name_there", "place_there")
"""Features of a passage that has a value of the kind that is asked for."""

MAX_WORDS_BESIDE_KEY = 1
"""Words that a question may have beside the note's name and the key of one of its properties, to ask
for no more than that."""

OPEN_FORMS = ("open", "comparison")
"""Forms of questions that may ask for a property by another word than its key: "in what state is it?"."""

MAX_FIELD_ITEMS, MAX_FIELD_WORDS = 14, 60  # of the longest section that is a field

_FORMS_WITHOUT_FIELD = ("comparison", "howto", "reason", "yesno")
"""Forms of questions that no field answers."""

_CAUSE = frozenset(WORD_LISTS["cause"])
"""Words of a heading that says why something is so."""

_PLACE = frozenset(WORD_LISTS["places"])


class PropertySelector:
    """The properties of some sources, for one question."""

    def __init__(self, question: PreparedQuestion, sources: Sequence[QuotableSource]) -> None:
        self.question, self.sources = question, sources
        self.words, parsed = question.analyzer.words, question.parsed
        self.form, self.forms = parsed.form, frozenset(parsed.forms)
        self.query_words = self.words(parsed.text)
        # What a follow-up carries stands in brackets behind it.
        self.inner_words = {*self.words(parsed.text.partition(" (")[0])[1:-1]}

    def _listed(self, quotable: QuotableSource) -> list[Passage]:
        """The properties of a note; where it is asked how or why, not when, those that are no day alone."""
        days = self.form in ("howto", "reason") and "date" not in self.forms
        every = split_properties(quotable.source.text)
        return [one for one in every if not (days and is_day(one.text.partition(":")[2]))]

    def says_something(self, quotable: QuotableSource) -> bool:
        """Whether any property of a note, but its names and dates of filing, has a value with a word that
        neither the question has nor its names."""
        known = self.question.all_words | self.question.name_words(quotable)
        return any(
            not known.issuperset(self.words(each.text.partition(":")[2]))
            for each in self._listed(quotable)
            if self._asked_key_words(each) or not self._is_filing(each)
        )

    def _asked_key_words(self, passage: Passage) -> frozenset[str]:
        """The words by which a question asks for a property, those of its key or of what somebody does; else
        none."""
        key = frozenset(self.words(_property_key(passage)))
        # Who went to Canada is not whom a letter is "to"; "who is it to?" asks for that.
        small = key <= self.question.analyzer.function_words
        if key <= self.question.all_words - (self.inner_words if small else set()):
            return key
        if "person" not in self.forms:
            return frozenset()
        noun, query_words = (
            fold(_property_key(passage)).casefold(),
            WORD.findall(self.question.parsed.folded),
        )
        return frozenset(self.words(" ".join(word for word in query_words if is_agent_noun(noun, (word,)))))

    def _asked_places(self, quotable: QuotableSource) -> list[Passage]:
        """The properties that say where a note's subject is, if a question asks that and no more."""
        only = self.form == "place" and self.question.words <= self.question.name_words(quotable)
        every = self._listed(quotable) if only else ()
        return [one for one in every if not _PLACE.isdisjoint(_property_key(one).casefold().split())]

    def _is_filing(self, one: Passage) -> bool:
        """Whether a property names its note, or tells when it was made, which is not asked for."""
        is_filing_date = "date" not in self.forms and FILING_DATE.search(one.text) is not None
        return is_filing_date or NAMING_PROPERTY.match(one.text) is not None

    def has_asked_key(self, one: Candidate) -> bool:
        """Whether a question has the key of one of the properties of a note."""
        return any(map(self._asked_key_words, self._listed(one.quotable)))

    def is_asked_by_key(self, candidate: Candidate) -> bool:
        """Whether a question asks for a property of a note, by its key and the note's name."""
        quotable = candidate.quotable
        if candidate.passage.kind == "property" and self._asked_places(quotable):
            return True
        asked_keys = [*filter(None, map(self._asked_key_words, self._listed(quotable)))]
        if candidate.passage.kind != "property" or not asked_keys:
            return False
        names = self.question.name_words(quotable)
        left = self.question.words.difference(*asked_keys)
        if self.question.is_named(quotable):
            # The "uptime target" is another than the target; "current" only asks for news.
            before = {word for key in asked_keys for word in self._word_before_key(key)}
            return quotable.is_news_subject or not (before & left) - names - {
                *self.words(candidate.passage.text)
            }
        if left and left <= names:
            return True
        # A key of two words is as good as a name, where no other note is named.
        others = frozenset[str]().union(*map(self.question.name_words, self.sources)) - names
        return left.isdisjoint(others) and any(len(key) > 1 for key in asked_keys)

    def _word_before_key(self, key: frozenset[str]) -> list[str]:
        """The word of the question before a key."""
        return [one for one, word in pairwise(self.query_words) if word in key and one not in key]

    def has_asked_value(self, one: Candidate) -> bool:
        """Whether properties have what is asked for: a value of its kind under a key that the question
        has, or a name in the note that it names."""
        if one.passage.kind != "property" or not has_typed_value(one):
            return False
        is_named = self.form in ("person", "place") and self.question.is_named(one.quotable)
        return is_named or self.has_asked_key(one)

    def may_be_asked(self, candidate: Candidate) -> bool:
        """Whether a question may be for the properties of a note: it has one of their keys, or they a
        value of the kind that it asks for. An open question may call a key otherwise."""
        left = self.question.words - self.question.name_words(candidate.quotable)
        if self.form in OPEN_FORMS:
            return bool(left)
        listed = [each for each in self._listed(candidate.quotable) if not NAMING_PROPERTY.match(each.text)]
        texts = (each.text if self.form == "yesno" else _property_key(each) for each in listed)
        if left.intersection(self.words(" ".join(texts))):
            return True
        share = self.question.share({*self.words(" ".join(each.text for each in listed))})
        tells = share or self.has_asked_key(candidate) or self.question.is_named(candidate.quotable)
        if self.form == "person" and not tells:
            return False  # Who is named there did not do what a tag or a title says.
        if self.form in ("person", "place"):
            # Whom the question names is known; what begins a sentence is no name by its capital.
            values = (part for each in listed for part in each.text.partition(":")[2].split(","))
            return any(
                capitalized_names(f"of{part}") and self.question.all_words.isdisjoint(self.words(part))
                for part in values
            )
        has_value = any(candidate.features.get(name) for name in ("number_there", "date_there"))
        return has_value and not candidate.features.get("measure_not_there")

    def has_further_word(self, quotable: QuotableSource, one: Passage) -> bool:
        """Whether a property has a word of the question that its note is not called by."""
        return self.question.share({*self.words(one.text)} - self.question.name_words(quotable)) > 0

    def make_quote(self, quotable: QuotableSource, *, beside: bool = False) -> Quote:
        """Quote the properties that are asked for by their keys, and the others that say something of the
        note where more is asked: "who wrote it" does not ask for its author by the key. Beside a better
        quote only those that have more of the question."""
        every = self._listed(quotable) or [*split_properties(quotable.source.text)]
        more = [it for it in every if self.has_further_word(quotable, it)]
        dated = [it for it in every if "date" in self.forms and has_date(it.text)]
        listed = [it for it in every if it in [*more, *dated]] if beside and more else every
        shown = self._asked_places(quotable) or [one for one in listed if self._asked_key_words(one)]
        known_words = self.question.name_words(quotable).union(
            *(self.words(_property_key(one)) for one in shown)
        )
        if not shown or len(self.question.words - known_words) > MAX_WORDS_BESIDE_KEY:
            rest = [one for one in listed if one not in shown and not self._is_filing(one)]
            shown += sorted(rest, key=lambda one: -self.question.share(self.words(one.text)))
        shown = shown or list(listed)
        text = f"{BETWEEN} ".join(one.text for one in shown)
        return Quote(quotable.source, text, tuple(place for one in shown for place in one.ranges))


def has_typed_value(one: Candidate) -> bool:
    """Whether a passage has a value of the kind that is asked for."""
    return any(one.features.get(name) for name in TYPED_VALUE_FEATURES)


def _property_key(one: Passage) -> str:
    return one.text.partition(":")[0].replace("_", " ")


def is_below_cause_heading(one: Candidate) -> bool:
    """Whether a passage stands under a heading that says that a cause does."""
    return not _CAUSE.isdisjoint(re.findall(r"\w+", fold(one.heading).casefold()))


def section_positions(one: Candidate) -> list[int]:
    """Return the positions of the passages under the heading of one."""
    own = one.passage.headings
    return [at for at, each in enumerate(one.passages) if each.headings == own]


_IMPORTED = re.compile(r"(?i)metadata$|((full|document) )?(title|tags|category)\b|last highlighted")


def is_imported_property(one: Candidate) -> bool:
    """Whether a passage is of a list of properties, as importers write them."""
    its = [one.passages[at] for at in section_positions(one)]
    listed = all(each.kind == "item" and LABELLED.match(each.text) for each in its)
    return listed and any(map(_IMPORTED.match, (one.heading, *(each.text for each in its))))


class FieldSelector:
    """The fields of the notes that a question names: lists or lines under a heading each."""

    def __init__(self, question: PreparedQuestion) -> None:
        self.question = question

    def find_first(self, ranked: Sequence[Candidate]) -> Candidate | None:
        """Return the beginning of the field that is asked for by its heading; None for none.

        :param ranked: best first, what is a link alone among them.
        """
        parsed = self.question.parsed
        if not ranked or parsed.form in _FORMS_WITHOUT_FIELD:
            return None
        most = max(one.coverage for one in ranked) - 1e-6
        fields = [one for one in ranked if one.coverage >= most and self._is_field(one)]
        fields = [one for one in fields if self._is_asked(one)]
        if not fields:
            return None
        field = max(fields, key=lambda one: (len(self._heading_words(one)), one.likeness))
        return replace(field, order=min(section_positions(field)), score=ranked[0].score + 1.0)

    def _is_asked(self, one: Candidate) -> bool:
        """Whether a question has the words of a heading: who holds something is its *Holder*."""
        left = self.question.words - self.question.name_words(one.quotable)
        doing = tuple(word for word in left if len(word) > 2)
        return all(word.startswith(doing) for word in self._heading_words(one) - self.question.all_words)

    def _is_field(self, one: Candidate) -> bool:
        names = self.question.is_named(one.quotable)
        if one.passage.kind != "item" or not self._heading_words(one) or not names:
            return False
        under = [one.passages[at] for at in section_positions(one)]
        listed = all(each.kind == "item" for each in under)
        return listed and len(under) <= MAX_FIELD_ITEMS and word_count(under) <= MAX_FIELD_WORDS

    def _heading_words(self, one: Candidate) -> frozenset[str]:
        """The words of the heading above a passage that the note is not called by."""
        words = frozenset(self.question.analyzer.words(one.heading)) - self.question.analyzer.function_words
        return words - self.question.name_words(one.quotable)
