"""How well a question was answered, as numbers with intervals: rankings, contexts, answers.

Rankings are counted by trec_eval, through ir-measures. Text and known answer are compared normalised, as
SQuAD does (Rajpurkar et al., 2016: case, punctuation, articles, white space), with what it leaves
undone: marks on letters, dashes, small numbers in words, and the order of day and month.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from notehop.app.evaluation.questions import KnownQuestion

RESAMPLES = 10_000
AT_ONCE = 500  # resamples counted at once: of 10,000 questions they take 40 MB


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """A mean with the bounds of its 95 % interval."""

    value: float
    low: float
    high: float


def percent(share: float, sign: str = "") -> str:
    """A share or a difference of shares in percent, to one decimal; 0 has no minus, ``+`` may stand
    before what is positive.
    """
    return f"{round(100 * share, 1) + 0.0:{sign}.1f}"


def mean(values: NDArray[np.float64]) -> MeanEstimate:
    """:func:`estimates` of one value a question, of shape (questions,)."""
    return estimates(("",), values[:, None])[""]


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


_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
            "eleven", "twelve")  # fmt: skip
_WORDS = {word: str(number) for number, word in enumerate(_NUMBERS)}

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTHS})\b")
_ORDINAL_DAY = re.compile(rf"\b({_MONTHS}) (\d{{1,2}})(?:st|nd|rd|th)\b")

_GLYPHS = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])")
"""Letters of scripts that put no space between words: each is a word of its own."""

_BETWEEN_DIGITS = re.compile(r"(?<=\d)[.](?=\d)")
_POINT = "\ue000"  # stands for a decimal point while punctuation goes: 3.5 is not 35


def normalised(text: str) -> str:
    """Return the words of ``text`` in a form in which like answers are alike, one space between."""
    text = unicodedata.normalize("NFKD", text).casefold()
    text = _BETWEEN_DIGITS.sub(_POINT, text)
    text = "".join(map(_plain, text)).replace(_POINT, ".")
    words = _GLYPHS.sub(r" \1 ", text).split()
    text = " ".join(_WORDS.get(word, word) for word in words if word not in ("a", "an", "the"))
    return _ORDINAL_DAY.sub(r"\1 \2", _DAY_FIRST.sub(r"\2 \1", text))


def holds(text: str, answers: Sequence[str]) -> bool:
    """Whether a text holds one of the answers, as whole words; an answer without words is none."""
    padded = f" {normalised(text)} "
    return any(f" {answer} " in padded for answer in map(normalised, answers) if answer)


def _plain(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind == "Pd" or letter in "/\u2212":
        return " "
    return "" if kind == "Mn" or kind[0] in "PS" else letter


CONTAINS = "answer.contains"  # whether the answer holds the known one

BUDGETS = (50, 100)
"""Words of an answer that are looked at: a longer one holds more, and is worth less for it."""

ANSWERS = (
    CONTAINS,
    *(f"answer.in{most}" for most in BUDGETS),
    *("answer.choice", "answer.silent", "answer.sources", "answer.context"),
)
"""Measures of answers, each from 0 to 1, over questions whose answer is known (docs/evaluation.md)."""


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer as it is measured: its text, with the names of the notes it quotes, empty where it says
    that the vault does not say; and the names and texts of its material.
    """

    text: str
    sources: str = ""
    connected: str = ""


def answer_values(question: KnownQuestion, answered: Answered) -> list[float]:
    """Measure an answer: the values of :data:`ANSWERS`, NaN for what does not apply."""
    answers = question.answers
    found = {"silent": not answered.text}
    # No note says "yes" to a question, and who repeats "A or B?" has not answered it.
    yes_no = all(normalised(answer) in ("yes", "no", "true", "false") for answer in answers)
    if not yes_no and holds(question.text, answers):
        found["choice"] = holds(answered.text, answers)
    elif not yes_no:
        words = answered.text.split()
        found |= {f"in{most}": holds(" ".join(words[:most]), answers) for most in BUDGETS}
        found["contains"] = holds(answered.text, answers)
        found["sources"] = holds(answered.sources, answers)
        found["context"] = found["sources"] or holds(answered.connected, answers)
    return [float(found.get(name.removeprefix("answer."), nan)) for name in ANSWERS]


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

MEASURES = (CONTEXT, LINKED, *RANKED, *ANSWERS)
"""All measures, each from 0 to 1; those of answers where the answers are known."""


def measure_for(questions: Iterable[KnownQuestion]) -> str:
    """The measure that fits questions: all notes in the context where one alone is not enough."""
    return CONTEXT if any(len(one.gold) > 1 for one in questions) else "notes.ndcg@10"


def ranking_values(
    rankings: Sequence[Sequence[str]], golds: Sequence[Sequence[str]]
) -> NDArray[np.float64]:
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
