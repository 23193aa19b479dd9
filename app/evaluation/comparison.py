"""Holds settings to one another, question by question: means, gains, and whom each helped. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

import numpy as np

from notehop.app.evaluation.asking import Outcome
from notehop.app.evaluation.intervals import Estimate, mean, means
from notehop.app.evaluation.measures import MEASURES
from notehop.app.evaluation.question import Question, QuestionSet
from notehop.app.evaluation.variants import Variant
from notehop.config.errors import UsageError

SAME = 1e-9
"""Values nearer than this are the same: a gain of nothing is none."""


@dataclass(frozen=True, slots=True)
class Change:
    """A question, by id, that a setting answered better or worse than the one it is held to.

    ``before`` and ``after`` are values of the set's measure; ``found_before`` and ``found_after``
    the notes ranked first.
    """

    id: str
    before: float
    after: float
    found_before: tuple[str, ...]
    found_after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One setting: the mean of each measure, and its gain over ``against`` (None for no other).

    ``gains`` are means of paired differences. Measures that no question of the set can be held to
    are in neither. ``recall`` is that of notes at each cut-off from 1. ``values`` are those of the
    set's measure, in the order of the questions, None where it does not apply. ``milliseconds`` is
    the median until a context is there, ``passages`` the mean number in one. ``answers`` are what
    was answered, ``words`` their mean length; ``refused`` is the share of foreign questions that
    were left unanswered.
    """

    setting: str
    overrides: Mapping[str, Any]
    against: str | None
    measures: Mapping[str, Estimate]
    gains: Mapping[str, Estimate]
    recall: tuple[float, ...]
    values: tuple[float | None, ...]
    helped: tuple[Change, ...]
    hurt: tuple[Change, ...]
    passages: float
    milliseconds: float
    answers: tuple[str | None, ...] = ()
    words: float | None = None
    refused: Estimate | None = None


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A set of questions under every setting.

    ``warnings`` maps what searches had to say -> how many said it. ``foreign`` counts the questions
    that the vault cannot answer.
    """

    name: str
    notes: int
    measure: str
    questions: tuple[Question, ...]
    rows: tuple[Row, ...]
    warnings: Mapping[str, int]
    foreign: int = 0

    def as_json(self) -> dict[str, Any]:
        """The result as plain values."""
        questions = [
            {
                "id": one.id,
                "question": one.text,
                "gold": list(map(str, one.gold)),
                "answers": list(one.answers),
            }
            for one in self.questions
        ]
        return {**asdict(self), "questions": questions}


def compare(
    asked: QuestionSet, variants: Sequence[Variant], outcomes: Mapping[str, Outcome]
) -> tuple[Row, ...]:
    """Make a row of each setting.

    :param variants: settings in the order to show; one that another is held to is among them.
    :param outcomes: by the name of the setting, each over all questions of the set.
    :raises ValueError: without questions.
    :raises UsageError: if no question can be held to the set's measure.
    """
    at = MEASURES.index(asked.measure)
    if asked.questions and all(np.isnan(one.values[:, at]).all() for one in outcomes.values()):
        raise UsageError(f"{asked.name}: {asked.measure} applies to none of its questions")
    return tuple(_row(asked, variant, outcomes) for variant in variants)


def _row(asked: QuestionSet, variant: Variant, outcomes: Mapping[str, Outcome]) -> Row:
    own = outcomes[variant.name]
    other = None if variant.against is None else outcomes[variant.against]
    gained = None if other is None else own.values - other.values
    estimates = means(own.values if gained is None else np.hstack([own.values, gained]))
    count = len(MEASURES)
    at = MEASURES.index(asked.measure)
    changes = [] if other is None else list(_changes(asked.questions, other, own, at))
    return Row(
        setting=variant.name,
        overrides=variant.overrides,
        against=variant.against,
        measures=_known(estimates[:count]),
        gains={} if gained is None else _known(estimates[count:]),
        recall=tuple(map(float, own.recall.mean(axis=0))),
        values=tuple(None if isnan(value) else value for value in own.values[:, at].tolist()),
        helped=tuple(one for one in changes if one.after > one.before),
        hurt=tuple(one for one in changes if one.after < one.before),
        passages=float(own.passages.mean()),
        milliseconds=float(np.median(own.milliseconds)),
        answers=own.answers if any(text is not None for text in own.answers) else (),
        words=None if np.isnan(own.words).all() else float(np.nanmean(own.words)),
        refused=None if np.isnan(own.refused).all() else mean(own.refused),
    )


def _known(estimates: Sequence[Estimate]) -> dict[str, Estimate]:
    """Estimates by measure, without those of nothing."""
    named = zip(MEASURES, estimates, strict=True)
    return {name: one for name, one in named if not isnan(one.value)}


def _changes(
    questions: Sequence[Question], other: Outcome, own: Outcome, at: int
) -> Iterator[Change]:
    """The questions whose value differs, those that differ most first, then by their order."""
    difference = own.values[:, at] - other.values[:, at]
    # NaN, which is of questions that the measure does not apply to, is sorted last.
    for place in np.argsort(-np.abs(difference), kind="stable").tolist():
        if not abs(difference[place]) >= SAME:
            return
        yield Change(
            questions[place].id,
            float(other.values[place, at]),
            float(own.values[place, at]),
            other.found[place],
            own.found[place],
        )
