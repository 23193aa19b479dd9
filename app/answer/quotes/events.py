"""What came to pass, and the newest of it: what notes of days tell of whom or what a question names. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from itertools import chain

from notehop.app.answer.quotes.asked_question import Asked, Candidate
from notehop.app.answer.quotes.reading import Named
from notehop.app.retrieval.relevance import MEETS

_NO_STATE = ("howto", "reason", "list", "definition", "comparison")
"""Forms of questions that ask for nothing that may have changed since."""

NEARLY = 0.05  # of the words of a question, by weight
ENOUGH = 0.6  # of the words of a question that notes have, by weight, which the newest has
LESS, FARTHER = 3.0, 0.15
"""How much less likely, and like the question, what another day tells of the same may be."""


class AskedEvents:
    """What is told elsewhere of what a question names by its note, where it asks for what came to pass, and
    what the newest notes of a day tell."""

    def __init__(self, asked: Asked, sources: Sequence[Named]) -> None:
        self.asked, self.sources, self.words = asked, sources, asked.reading.words
        self.cards: dict[str, str] = {}
        """Path of a note that is named -> the shortest of its names that the question has."""
        for named in (one for one in sources if one.day is None):
            if names := [one for one in _called(named) if self._has(asked.all_words, one)]:
                self.cards[named.source.path] = min(names, key=len)

    def _has(self, held: frozenset[str], name: str) -> bool:
        return bool(words := frozenset(self.words(name))) and words <= held

    def _share(self, one: Candidate) -> float:
        """The share of the question that a passage has, of the card of a name with that name."""
        name = self.cards.get(one.path, "")
        return self.asked.share(one.words.union(self.words(f"{one.passage.lead} {name}")))

    def told(self, found: Sequence[Candidate]) -> list[Candidate]:
        """What a note of a day tells of what is named, or another as what it says, with most of the question;
        none where its own note is not the best, or has more of it."""
        cards = [one for one in found if one.path in self.cards]
        if not self.asked.is_past or not cards or cards[0] is not found[0]:
            return []
        unknown = {one.word for one in self.asked.terms if one.missing}
        rest = self.asked.words.difference(unknown, *map(self.words, self.cards.values()))
        names = "|".join(map(re.escape, self.cards.values()))
        says = re.compile(rf"(?:{names})(?![\w'’])", re.IGNORECASE)
        most = max(map(self._share, cards)) - NEARLY
        # Where no note has what is asked for, only what it says is as near.
        told = [
            one
            for one in found
            if one not in cards
            and one.passage.kind != "property"
            and self._share(one) >= most
            and not (rest and rest.isdisjoint(one.words))
            and (says.match(one.passage.text) or (self._names(one) and (rest or not unknown)))
        ]
        return sorted(told, key=self._share, reverse=True)[:1]

    def newest(self, found: Sequence[Candidate]) -> list[Candidate]:
        """Of a question for the newest what notes of a day say that have most of it, newest first; none where
        the best has more."""
        dated = [one for one in found if self._names(one) and not one.features["task"]]
        most = max(map(self._share, dated), default=0.0)
        known = sum(one.weight for one in self.asked.terms if not one.missing)
        few = not most or most * self.asked.total < ENOUGH * known
        if not self.asked.is_newest or few or self._share(found[0]) > most:
            return []
        meet = [one for one in dated if self._share(one) >= most * MEETS]
        near = [one for one in meet if one.score >= meet[0].score - LESS]
        # Of a name alone, whatever is told of it is as near.
        titles = (one.source.title for one in self.sources if one.source.path in self.cards)
        if not self.asked.words <= {*chain(*map(self.words, titles))}:
            near = self._alike(meet[0], near)
        return sorted(near, key=self._day, reverse=True)

    def later(self, best: Candidate, found: Sequence[Candidate]) -> list[int]:
        """The sources of later days that tell of the same as a passage of a note of a day, newest first: what
        it says of what is named may hold no longer. None where the question is for what came to pass."""
        form = self.asked.question.form
        state = form == "yesno" or (not self.asked.is_past and form not in _NO_STATE)
        if not self.cards or not state or best.likeness <= 0 or self._day(best) == date.min:
            return []
        later = [one for one in found if self._day(one) > self._day(best) and self._names(one)]
        return [one.source for one in sorted(self._alike(best, later), key=self._day, reverse=True)]

    def _alike(self, best: Candidate, found: Sequence[Candidate]) -> list[Candidate]:
        return [one for one in found if one.likeness >= best.likeness - FARTHER]

    def _names(self, one: Candidate) -> bool:
        """Whether a passage of a note of a day has the name of what is named, if anything is."""
        names = self.cards.values()
        named = not names or any(self._has(one.words, name) for name in names)
        return named and one.passage.kind != "property" and self._day(one) > date.min

    def _day(self, one: Candidate) -> date:
        return one.named.day or date.min


def _called(named: Named) -> list[str]:
    """What people call a note by: its names, and the first word of two that somebody may have."""
    first, _, last = named.source.title.partition(" ")
    short = [first] if last[:1].isupper() and " " not in last else []
    return [*named.called, *short]
