"""Which short sections of a note a question asks for by their headings, as "Town" with a name below. Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from notehop.app.answer.facts import names_of
from notehop.app.answer.passages import Passage
from notehop.app.answer.properties import AskedProperties
from notehop.app.answer.relevance import Asked, Candidate, Named
from notehop.indexing.tokens.words import fold

ITEMS, WORDS = 14, 60  # of the longest section that is a field
BRIEF = 15  # words of the longest that may be asked for by other words than its heading
NEARER = 0.05
"""How much nearer to the question, as a cosine, a field is than all else, where it has no word of the
heading: who holds something is its holder."""

_OTHERS = ("comparison", "howto", "reason", "yesno")
"""Forms of questions that no field answers."""


@cache
def _headings() -> Mapping[str, frozenset[str]]:
    text = Path(__file__).with_name("headings.toml").read_text("utf-8")
    return {name: frozenset(words) for name, words in tomllib.loads(text).items()}


_LACKS = ("number_not_there", "date_not_there", "measure_not_there")
"""Features of a passage that has no value of the kind that is asked for."""


class AskedFields:
    """The fields of the notes that a question names: lists or lines under a heading each."""

    def __init__(self, asked: Asked, sources: Sequence[Named], properties: AskedProperties) -> None:
        self.asked, self.sources, self.properties = asked, sources, properties

    def first(self, ranked: Sequence[Candidate]) -> Candidate | None:
        """The beginning of the field that is asked for, by its heading or, of a note whose others have no
        more of the question, by what it is like.

        :param ranked: best first, what is a link alone among them.
        """
        question = self.asked.question
        if not ranked or question.form in _OTHERS:
            return None
        most = max(one.covered for one in ranked) - 1e-6
        fields = [one for one in ranked if one.covered >= most and self._is_field(one)]
        found, surely = None, 1.0
        if called := [one for one in fields if self._heading(one) <= self.asked.all_words]:
            found = max(called, key=lambda one: (len(self._heading(one)), one.likeness))
        elif fields and not (question.form == "definition" and fields[0].features["in_its_note"]):
            found, surely = self._likest(fields, ranked), 0.0
        if found is None:
            return None
        order = min(self.section(found))
        passage = self._passages(found)[order]
        return replace(found, order=order, passage=passage, score=ranked[0].score + surely)

    def is_cause(self, one: Candidate) -> bool:
        """Whether a passage stands under a heading that says that a cause does."""
        heading = one.passage.heading or self.sources[one.source].source.heading.split(" > ")[-1]
        return not _headings()["cause"].isdisjoint(fold(heading).casefold().split())

    def section(self, one: Candidate) -> list[int]:
        """The places of what stands under the heading of a passage."""
        own = one.passage.headings
        return [at for at, each in enumerate(self._passages(one)) if each.headings == own]

    def _passages(self, one: Candidate) -> Sequence[Passage]:
        return self.sources[one.source].passages(self.asked.reading.sentences)

    def _likest(self, fields: Sequence[Candidate], ranked: Sequence[Candidate]) -> Candidate | None:
        """The field that is nearest to the question, by more than what comes first and all that is none."""
        may = [one for one in fields if self._length(one) <= BRIEF and not self._lacks(one)]
        if not may:
            return None
        found = max(may, key=lambda one: one.likeness)
        apart = [ranked[0], *(one for one in ranked if one not in fields)]
        nearest = max((one.likeness for one in apart if not one.features["bare"]), default=0.0)
        return found if found.likeness >= nearest + NEARER else None

    def _lacks(self, one: Candidate) -> bool:
        """Whether a passage has no value of the kind that is asked for, or says what the question does. A
        name may stand alone, where its capital says nothing."""
        text = one.passage.text
        unnamed = one.features.get("name_not_there") and names_of(f"of {text}") != [text]
        return bool(unnamed) or not one.fresh or any(map(one.features.get, _LACKS))

    def _is_field(self, one: Candidate) -> bool:
        named = self.sources[one.source]
        if one.passage.kind != "item" or not self._heading(one) or not self.properties.names(named):
            return False
        section = [self._passages(one)[at] for at in self.section(one)]
        listed = all(each.kind == "item" for each in section)
        return listed and len(section) <= ITEMS and self._length(one) <= WORDS

    def _length(self, one: Candidate) -> int:
        read = self._passages(one)
        return sum(len(read[at].text.split()) for at in self.section(one))

    def _heading(self, one: Candidate) -> frozenset[str]:
        """The words of the heading above a passage that the note is not called by."""
        named, words = self.sources[one.source], self.asked.reading.words
        heading = one.passage.heading or named.source.heading.split(" > ")[-1]
        names = words(" ".join((named.source.title, *named.names)))
        return frozenset(words(heading)) - self.asked.reading.small - {*names}
