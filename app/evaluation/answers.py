"""How well answers do against known ones: does what is said hold it, and could it? Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from notehop.app.evaluation.gold_strings import first_words, held_in, kind_of, normalised
from notehop.app.evaluation.question import Question

CONTAINS = "answer.contains"
"""Whether the answer holds the known one."""

BUDGETS = (50, 100)
"""Words of an answer that are looked at: a longer one holds more, and is worth less for it."""

ANSWERS = (
    CONTAINS,
    *(f"answer.in{most}" for most in BUDGETS),
    "answer.choice",
    "answer.by_alias",
    "answer.yes_no",
    "answer.cites_all",
    "answer.silent",
    "answer.sources",
    "answer.context",
)
"""Measures of answers, each from 0 to 1, over questions whose answer is known.

``contains`` and its budgets, ``sources`` (its ceiling) and ``context`` (what a language model would
be shown: connected notes, too) are over the questions of the kind ``open``; ``choice`` is
``contains`` over those of that kind. ``by_alias``: over those with several answers, whether it is
not the first that is held. ``cites_all``: every gold note is cited; ``yes_no``: the same over the
questions of that kind. ``silent``: it says that the vault does not say.
"""


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer as it is measured.

    ``text``: what it says, with the names of the notes it quotes; empty where it says that the
    vault does not say. ``cited``: paths. ``sources`` and ``connected``: their names and text.
    """

    text: str
    cited: frozenset[str] = frozenset()
    sources: str = ""
    connected: str = ""

    @property
    def words(self) -> int:
        """Its length."""
        return len(self.text.split())


def answer_values(question: Question, answered: Answered) -> list[float]:
    """Measure an answer: the values of :data:`ANSWERS`, NaN for what does not apply."""
    kind = kind_of(question.text, question.answers)
    text, sources = normalised(answered.text), normalised(answered.sources)
    found = float(held_in(text, question.answers))
    held = float(held_in(sources, question.answers))
    linked = held or float(held_in(normalised(answered.connected), question.answers))
    budgets = [
        float(held_in(normalised(first_words(answered.text, most)), question.answers))
        for most in BUDGETS
    ]
    is_open = kind == "open"
    alias = len(question.answers) > 1 and kind != "yes_no"
    other = float(found > 0 and not held_in(text, question.answers[:1]))
    cites_all = float(question.notes <= answered.cited)
    return [
        found if is_open else nan,
        *(value if is_open else nan for value in budgets),
        found if kind == "choice" else nan,
        other if alias else nan,
        cites_all if kind == "yes_no" else nan,
        cites_all,
        float(not answered.text),
        held if is_open else nan,
        linked if is_open else nan,
    ]


def refusal(question: Question, answered: Answered) -> float:
    """Whether a question that the vault cannot answer was left unanswered.

    :returns: 1 or 0; NaN where the sources hold the answer all the same.
    """
    open_kind = kind_of(question.text, question.answers) == "open"
    if open_kind and held_in(normalised(answered.sources), question.answers):
        return nan
    return float(not answered.text)


def drawn(questions: Sequence[Question], most: int, seed: int) -> list[Question]:
    """At most so many of some questions, in their order; the same ones for the same seed."""
    if len(questions) <= most:
        return list(questions)
    places = np.random.default_rng(seed).choice(len(questions), most, replace=False)
    return [questions[at] for at in sorted(places.tolist())]


def strangers(questions: Sequence[Question], notes: frozenset[str]) -> list[Question]:
    """The questions whose answer is known and none of whose gold notes is among ``notes``."""
    return [one for one in questions if one.answers and not one.notes & notes]
