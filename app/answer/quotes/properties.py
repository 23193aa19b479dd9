"""What of a note a question asks for by its name: properties, and fields, which are short sections below a
heading, as "Town" with a name below. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from notehop.app.answer.draft import Quote
from notehop.app.answer.names import names_of
from notehop.app.answer.quotes import WORD_LISTS
from notehop.app.answer.quotes.asked_question import Asked, Candidate
from notehop.app.answer.quotes.blocks import Passage
from notehop.app.answer.quotes.exact import FILED_ON, WORD, has_date, is_doer
from notehop.app.answer.quotes.passages import properties
from notehop.app.answer.quotes.reading import NAMING, Named
from notehop.app.answer.quotes.sections import length_of
from notehop.indexing.tokens.words import fold
from notehop.indexing.vault.plain import LABELLED
from notehop.indexing.vault.properties import BETWEEN

TYPED = ("number_there", "date_there", "name_there", "place_there")
"""Features of a passage that has a value of the kind that is asked for."""

BESIDE_A_KEY = 1
"""Words that a question may have beside the note's name and the key of one of its properties, to ask
for no more than that."""

OPEN = ("open", "comparison")
"""Forms of questions that may ask for a property by another word than its key: "in what state is it?"."""

ITEMS, WORDS = 14, 60  # of the longest section that is a field

_NO_FIELD = ("comparison", "howto", "reason", "yesno")
"""Forms of questions that no field answers."""

_CAUSE = frozenset(WORD_LISTS["cause"])
"""Words of a heading that says why something is so."""

_PLACE = frozenset(WORD_LISTS["places"])


class AskedProperties:
    """The properties of some sources, for one question."""

    def __init__(self, asked: Asked, sources: Sequence[Named]) -> None:
        self.asked, self.sources = asked, sources
        self.words, question = asked.reading.words, asked.question
        self.form, self.forms = question.form, frozenset(question.forms)

    def tells(self, named: Named) -> bool:
        """Whether any property of a note, but its names and dates of filing, has a value with a word that
        neither the question has nor its names."""
        known = self.asked.all_words | self.asked.name_words(named)
        return any(
            not known.issuperset(self.words(each.text.partition(":")[2]))
            for each in properties(named.source.text)
            if self._asked_key(each) or not self._is_filing(each)
        )

    def _asked_key(self, one: Passage) -> frozenset[str]:
        """The words by which a question asks for a property, those of its key or of what somebody does; else
        none."""
        key = frozenset(self.words(_key(one)))
        if key <= self.asked.all_words:
            return key
        if "person" not in self.forms:
            return frozenset()
        noun, said = fold(_key(one)).casefold(), WORD.findall(self.asked.question.plain)
        return frozenset(self.words(" ".join(word for word in said if is_doer(noun, (word,)))))

    def _places(self, named: Named) -> list[Passage]:
        """The properties that say where a note's subject is, if a question asks that and no more."""
        only = self.form == "place" and self.asked.words <= self.asked.name_words(named)
        every = properties(named.source.text) if only else ()
        return [one for one in every if not _PLACE.isdisjoint(_key(one).casefold().split())]

    def _is_filing(self, one: Passage) -> bool:
        """Whether a property names its note, or tells when it was made, which is not asked for."""
        filed = "date" not in self.forms and FILED_ON.search(one.text) is not None
        return filed or NAMING.match(one.text) is not None

    def has_asked(self, one: Candidate) -> bool:
        """Whether a question has the key of one of the properties of a note."""
        return any(map(self._asked_key, properties(one.named.source.text)))

    def is_named(self, one: Candidate) -> bool:
        """Whether a question asks for a property of a note, by its key and the note's name."""
        named = one.named
        if one.passage.kind == "property" and self._places(named):
            return True
        asked = [*filter(None, map(self._asked_key, properties(named.source.text)))]
        if one.passage.kind != "property" or not asked:
            return False
        names = self.asked.name_words(named)
        left = self.asked.words.difference(*asked)
        if self.asked.is_named(named):
            # The "uptime target" is another than the target; "current" only asks for news.
            before = {word for key in asked for word in self._before(key)}
            return named.subject or not (before & left) - names - {*self.words(one.passage.text)}
        if left and left <= names:
            return True
        # A key of two words is as good as a name, where no other note is named.
        others = frozenset[str]().union(*map(self.asked.name_words, self.sources)) - names
        return left.isdisjoint(others) and any(len(key) > 1 for key in asked)

    def _before(self, key: frozenset[str]) -> list[str]:
        """The word of the question before a key."""
        said = self.words(self.asked.question.text)
        return [one for one, word in pairwise(said) if word in key and one not in key]

    def is_typed(self, one: Candidate) -> bool:
        """Whether properties have what is asked for: a value of its kind under a key that the question
        has, or a name in the note that it names."""
        if one.passage.kind != "property" or not has_typed(one):
            return False
        named = self.form in ("person", "place") and self.asked.is_named(one.named)
        return named or self.has_asked(one)

    def may_be_asked(self, one: Candidate) -> bool:
        """Whether a question may be for the properties of a note: it has one of their keys, or they a
        value of the kind that it asks for. An open question may call a key otherwise."""
        left = self.asked.words - self.asked.name_words(one.named)
        if self.form in OPEN:
            return bool(left)
        listed = [each for each in properties(one.named.source.text) if not NAMING.match(each.text)]
        said = (each.text if self.form == "yesno" else _key(each) for each in listed)
        if left.intersection(self.words(" ".join(said))):
            return True
        if self.form in ("person", "place"):
            # Whom the question names is known; what begins a sentence is no name by its capital.
            values = (part for each in listed for part in each.text.partition(":")[2].split(","))
            return any(
                names_of(f"of{part}") and self.asked.all_words.isdisjoint(self.words(part))
                for part in values
            )
        typed = any(one.features.get(name) for name in ("number_there", "date_there"))
        return typed and not one.features.get("measure_not_there")

    def has_more(self, named: Named, one: Passage) -> bool:
        """Whether a property has a word of the question that its note is not called by."""
        return self.asked.share({*self.words(one.text)} - self.asked.name_words(named)) > 0

    def quoted(self, named: Named, *, beside: bool = False) -> Quote:
        """The properties that are asked for by their keys, and the others that say something of the
        note where more is asked: "who wrote it" does not ask for its author by the key. Beside a better
        quote only those that have more of the question."""
        every = properties(named.source.text)
        more = [it for it in every if self.has_more(named, it)]
        dated = [it for it in every if "date" in self.forms and has_date(it.text)]
        listed = [it for it in every if it in [*more, *dated]] if beside and more else every
        shown = self._places(named) or [one for one in listed if self._asked_key(one)]
        known = self.asked.name_words(named).union(*(self.words(_key(one)) for one in shown))
        if not shown or len(self.asked.words - known) > BESIDE_A_KEY:
            rest = [one for one in listed if one not in shown and not self._is_filing(one)]
            shown += sorted(rest, key=lambda one: -self.asked.share(self.words(one.text)))
        shown = shown or list(listed)
        text = f"{BETWEEN} ".join(one.text for one in shown)
        return Quote(named.source, text, tuple(place for one in shown for place in one.ranges))


def has_typed(one: Candidate) -> bool:
    """Whether a passage has a value of the kind that is asked for."""
    return any(one.features.get(name) for name in TYPED)


def _key(one: Passage) -> str:
    return one.text.partition(":")[0].replace("_", " ")


def is_cause(one: Candidate) -> bool:
    """Whether a passage stands under a heading that says that a cause does."""
    return not _CAUSE.isdisjoint(re.findall(r"\w+", fold(one.heading).casefold()))


def section(one: Candidate) -> list[int]:
    """The places of what stands under the heading of a passage."""
    own = one.passage.headings
    return [at for at, each in enumerate(one.read) if each.headings == own]


_IMPORTED = re.compile(r"(?i)metadata$|((full|document) )?(title|tags|category)\b|last highlighted")


def is_imported(one: Candidate) -> bool:
    """Whether a passage is of a list of properties, as importers write them."""
    its = [one.read[at] for at in section(one)]
    listed = all(each.kind == "item" and LABELLED.match(each.text) for each in its)
    return listed and any(map(_IMPORTED.match, (one.heading, *(each.text for each in its))))


class AskedFields:
    """The fields of the notes that a question names: lists or lines under a heading each."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked

    def first(self, ranked: Sequence[Candidate]) -> Candidate | None:
        """The beginning of the field that is asked for by its heading.

        :param ranked: best first, what is a link alone among them.
        """
        question = self.asked.question
        if not ranked or question.form in _NO_FIELD:
            return None
        most = max(one.covered for one in ranked) - 1e-6
        fields = [one for one in ranked if one.covered >= most and self._is_field(one)]
        fields = [one for one in fields if self._is_asked(one)]
        if not fields:
            return None
        found = max(fields, key=lambda one: (len(self._heading(one)), one.likeness))
        return replace(found, order=min(section(found)), score=ranked[0].score + 1.0)

    def _is_asked(self, one: Candidate) -> bool:
        """Whether a question has the words of a heading: who holds something is its *Holder*."""
        asked = self.asked.words - self.asked.name_words(one.named)
        doing = tuple(word for word in asked if len(word) > 2)
        return all(word.startswith(doing) for word in self._heading(one) - self.asked.all_words)

    def _is_field(self, one: Candidate) -> bool:
        names = self.asked.is_named(one.named)
        if one.passage.kind != "item" or not self._heading(one) or not names:
            return False
        under = [one.read[at] for at in section(one)]
        listed = all(each.kind == "item" for each in under)
        return listed and len(under) <= ITEMS and length_of(under) <= WORDS

    def _heading(self, one: Candidate) -> frozenset[str]:
        """The words of the heading above a passage that the note is not called by."""
        words = frozenset(self.asked.reading.words(one.heading)) - self.asked.reading.small
        return words - self.asked.name_words(one.named)
