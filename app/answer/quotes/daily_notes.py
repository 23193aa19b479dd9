"""Finds what daily notes tell of whom or what a question names: what came to pass, and the newest. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from itertools import chain

from notehop.app.answer.quotes.prepared_question import Candidate, PreparedQuestion
from notehop.app.answer.quotes.text_analyzer import QuotableSource
from notehop.app.retrieval.relevance import MIN_LINE_SHARE

_TIMELESS_FORMS = ("howto", "reason", "list", "definition", "comparison")
"""Forms of questions that ask for nothing that may have changed since."""

SHARE_TOLERANCE = 0.05  # of the words of a question, by weight
MIN_NEWEST_SHARE = 0.6
"""Share, by weight, of the words of a question that notes have, which the newest has."""

MAX_SCORE_LOSS, MAX_LIKENESS_LOSS = 3.0, 0.15
"""Score, and likeness to the question, by which what another day tells of the same may be behind."""


class EventSelector:
    """Finds what is told elsewhere of what a question names by its note, where it asks for the past, and
    what the newest notes of a day tell."""

    def __init__(self, question: PreparedQuestion, sources: Sequence[QuotableSource]) -> None:
        self.question, self.sources, self.words = question, sources, question.analyzer.words
        self.name_by_path: dict[str, str] = {}
        """Path of a note that is named -> the shortest of its names that the question has."""
        for quotable in (one for one in sources if one.day is None):
            if names := [one for one in _spoken_names(quotable) if self._has(question.all_words, one)]:
                self.name_by_path[quotable.source.path] = min(names, key=len)

    def _has(self, words_there: frozenset[str], name: str) -> bool:
        return bool(words := frozenset(self.words(name))) and words <= words_there

    def _share(self, candidate: Candidate) -> float:
        """The share of the question that a passage has, of the card of a name with that name."""
        name = self.name_by_path.get(candidate.path, "")
        return self.question.share(candidate.words.union(self.words(f"{candidate.passage.lead} {name}")))

    def find_events(self, ranked: Sequence[Candidate]) -> list[Candidate]:
        """Return what a daily note tells of what is named, or another begins with, with most of the question;
        none where its own note is not the best, or has more of it."""
        cards = [one for one in ranked if one.path in self.name_by_path]
        if not self.question.asks_about_past or not cards or cards[0] is not ranked[0]:
            return []
        unknown = {one.word for one in self.question.terms if one.missing}
        rest = self.question.words.difference(unknown, *map(self.words, self.name_by_path.values()))
        names = "|".join(map(re.escape, self.name_by_path.values()))
        says = re.compile(rf"(?:{names})(?![\w'’])", re.IGNORECASE)
        most = max(map(self._share, cards)) - SHARE_TOLERANCE
        # Where no note has what is asked for, only what it says is as near.
        events = [
            one
            for one in ranked
            if one not in cards
            and one.passage.kind != "property"
            and self._share(one) >= most
            and not (rest and rest.isdisjoint(one.words))
            and (says.match(one.passage.text) or (self._is_daily_mention(one) and (rest or not unknown)))
        ]
        return sorted(events, key=self._share, reverse=True)[:1]

    def find_newest(self, ranked: Sequence[Candidate]) -> list[Candidate]:
        """Return what daily notes say that have most of a question for the newest, newest first; none where
        the best has more."""
        dated = [one for one in ranked if self._is_daily_mention(one) and not one.features["task"]]
        most = max(map(self._share, dated), default=0.0)
        known = sum(one.weight for one in self.question.terms if not one.missing)
        is_too_little = not most or most * self.question.total_weight < MIN_NEWEST_SHARE * known
        if not self.question.asks_for_newest or is_too_little or self._share(ranked[0]) > most:
            return []
        meet = [one for one in dated if self._share(one) >= most * MIN_LINE_SHARE]
        near = [one for one in meet if one.score >= meet[0].score - MAX_SCORE_LOSS]
        # Of a name alone, whatever is told of it is as near.
        titles = (one.source.title for one in self.sources if one.source.path in self.name_by_path)
        if not self.question.words <= {*chain(*map(self.words, titles))}:
            near = self._as_like(meet[0], near)
        return sorted(near, key=self._day, reverse=True)

    def find_later(self, best: Candidate, ranked: Sequence[Candidate]) -> list[int]:
        """Return the sources of later days that tell the same as a daily note's passage, newest first; what
        it says of what is named may hold no longer. Empty where the question is for what came to pass."""
        form = self.question.parsed.form
        may_have_changed = form == "yesno" or (
            not self.question.asks_about_past and form not in _TIMELESS_FORMS
        )
        if not self.name_by_path or not may_have_changed or best.likeness <= 0 or self._day(best) == date.min:
            return []
        later = [one for one in ranked if self._day(one) > self._day(best) and self._is_daily_mention(one)]
        return [one.source_index for one in sorted(self._as_like(best, later), key=self._day, reverse=True)]

    def _as_like(self, best: Candidate, ranked: Sequence[Candidate]) -> list[Candidate]:
        return [one for one in ranked if one.likeness >= best.likeness - MAX_LIKENESS_LOSS]

    def _is_daily_mention(self, candidate: Candidate) -> bool:
        """Whether a passage is of a daily note and has the name of what the question names, if any."""
        names = self.name_by_path.values()
        has_name = not names or any(self._has(candidate.words, name) for name in names)
        return has_name and candidate.passage.kind != "property" and self._day(candidate) > date.min

    def _day(self, candidate: Candidate) -> date:
        return candidate.quotable.day or date.min


def _spoken_names(quotable: QuotableSource) -> list[str]:
    """Return what people call a note: its names, and the first word of two that somebody may have."""
    first, _, last = quotable.source.title.partition(" ")
    short = [first] if last[:1].isupper() and " " not in last else []
    return [*quotable.all_names, *short]
