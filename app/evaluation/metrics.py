"""How well a question was answered by a ranking, a context and a text, as numbers with intervals.

Rankings are counted by trec_eval, through ir-measures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from math import nan
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from notehop.app.answer.draft import strip_opening
from notehop.app.evaluation.questions import AnswerQuestion, Kind, KnownQuestion, Why
from notehop.app.models import Answer

RESAMPLES = 10_000
AT_ONCE = 500  # resamples counted at once: of 10,000 questions they take 40 MB


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean with the bounds of its 95 % interval."""

    value: float
    low: float
    high: float


def estimates(names: Sequence[str], values: NDArray[np.float64]) -> dict[str, MeanEstimate]:
    """Estimate the mean of each named column (percentile bootstrap over questions, Efron 1979).

    NaN is the value of a question that a column does not measure; a column without any other value
    is left out. The paired difference of two settings is estimated likewise. Every call resamples
    the same questions, so that what does not differ has an interval of no width.

    :param values: shape (questions, columns); at least one question.
    """
    there = ~np.isnan(values)
    known = np.where(there, values, 0.0)
    draw = np.random.default_rng(0)
    means = np.empty((RESAMPLES, values.shape[1]))
    for start in range(0, RESAMPLES, AT_ONCE):
        chosen = draw.integers(len(values), size=(AT_ONCE, len(values)))
        # How often each question is in each resample; none of it may be measured by a column.
        counts = np.apply_along_axis(np.bincount, 1, chosen, minlength=len(values)).astype(float)
        with np.errstate(invalid="ignore"):
            means[start : start + AT_ONCE] = (counts @ known) / (counts @ there.astype(float))
    found: dict[str, MeanEstimate] = {}
    for at, name in enumerate(names):
        if there[:, at].any():
            low, high = np.nanpercentile(means[:, at], [2.5, 97.5])
            value = known[:, at].sum() / there[:, at].sum()
            found[name] = MeanEstimate(float(value), float(low), float(high))
    return found


TOP = 20  # notes that are ranked for a question: the deepest cut-off of a measure

CONTEXT, LINKED = "context.all", "context.linked"
"""Whether every gold note is in the context of an answer, and whether a link alone brought one: as a
connected note or an expanded hit."""

_RANKED = {
    **{"hit@1": "Success@1", "mrr": "RR", "ndcg@5": "nDCG@5", "ndcg@10": "nDCG@10"},
    **{"precision@10": "P@10", "recall@5": "R@5", "recall@10": "R@10", "recall@20": "R@20"},
}
RANKED = tuple(f"notes.{name}" for name in _RANKED)
"""Measures of a ranking of notes; ``mrr`` looks at the first 20."""

MEASURES = (CONTEXT, LINKED, *RANKED)
"""All measures of a retrieval, each from 0 to 1."""


def measure_for(questions: Iterable[KnownQuestion]) -> str:
    """The measure that fits questions: all notes in the context where one alone is not enough."""
    return CONTEXT if any(len(set(one.gold)) > 1 for one in questions) else "notes.ndcg@10"


def ranking_values(rankings: Sequence[Sequence[str]], golds: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Measure rankings.

    :param rankings: of each question the paths of notes, best first, each once.
    :param golds: of each question the paths of its gold notes.
    :returns: the values of :data:`RANKED`, shape (questions, measures).
    """
    import ir_measures

    columns = {ir_measures.parse_measure(name): at for at, name in enumerate(_RANKED.values())}
    relevant = {str(q): dict.fromkeys(gold, 1) for q, gold in enumerate(golds)}
    # Scores fall from hit to hit: trec_eval orders by score alone.
    run = {
        str(q): {path: float(len(hits) - place) for place, path in enumerate(hits)}
        for q, hits in enumerate(rankings)
    }
    values = np.zeros((len(rankings), len(columns)))
    for one in ir_measures.iter_calc(list(columns), relevant, run):
        values[int(one.query_id), columns[one.measure]] = one.value
    return values


def context_values(
    question: KnownQuestion, sources: Sequence[str], linked: Sequence[str]
) -> tuple[float, float]:
    """:data:`CONTEXT` and :data:`LINKED` of notes that the ranking alone and that links brought."""
    gold, direct = frozenset(question.gold), frozenset(sources)
    brought = frozenset(linked) - direct
    return float(gold <= direct | brought), float(bool(gold & brought))


HELD = ("sources", "context", "contains", "first", "contains of held", "first of held")
"""Measures of questions that have an answer (docs/evaluation.md says of what); the last two are over
questions whose context holds it."""

ANSWERED = (*HELD, "refused")
"""All measures of answers."""

OPENING = 40  # words of an answer that are read at a glance
_WORD = re.compile(r"\S*?\w\S*")  # no mark of a quote, a list or a table

_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’»)\]*_]*(?=\s|$)")


def answer_values(question: AnswerQuestion, answer: Answer) -> list[float]:
    """The values of :data:`ANSWERED`; NaN for what does not apply."""
    refused = answer.mode == "none"
    if not question.answerable:
        return [nan] * len(HELD) + [float(refused)]
    sources, connected = (
        "\n".join(f"{one.title}\n{one.heading}\n{one.text}" for one in places)
        for places in (answer.sources, answer.connected_notes)
    )
    # With the names of the notes that it quotes.
    text = "" if refused else " ".join(strip_opening(answer.answer).split())
    words = text[: max((word.end() for word in islice(_WORD.finditer(text), OPENING)), default=0)]
    end = _SENTENCE_END.search(text)
    opening = max(words, text[: end.end()] if end else "", key=len)
    # Sources and connected notes may each hold a part of it.
    context = f"{sources}\n{connected}"
    said = [float(question.held_in(one)) for one in (sources, context, text, opening)]
    return [*said, *(said[2:] if said[1] else (nan, nan)), float(refused)]


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """Questions of one group under one setting; ``gains`` are paired, over what it is held to."""

    group: str
    questions: int
    measures: dict[str, MeanEstimate]
    gains: dict[str, MeanEstimate]


def answer_rows(
    questions: Sequence[AnswerQuestion],
    values: NDArray[np.float64],
    against: NDArray[np.float64] | None = None,
) -> tuple[AnswerRow, ...]:
    """Rows by group: all that have an answer, by kind, then all that have none, by why.

    :param values: shape (questions, measures), of :func:`answer_values`; ``against`` likewise.
    """
    found: list[AnswerRow] = []
    for group in ("answerable", *get_args(Kind), "unanswerable", *get_args(Why)):
        chosen = [
            group in (("answerable", one.kind) if one.answerable else ("unanswerable", one.why))
            for one in questions
        ]
        if any(chosen):
            own = values[chosen]
            gains = {} if against is None else estimates(ANSWERED, own - against[chosen])
            found.append(AnswerRow(group, sum(chosen), estimates(ANSWERED, own), gains))
    return tuple(found)
