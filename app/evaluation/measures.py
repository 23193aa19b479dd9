"""How well a question was answered, as numbers: the measures of ir-measures, and the context's own.

ir-measures hands the counting to trec_eval, which the field holds its numbers against.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from notehop.app.evaluation.answers import ANSWERS
from notehop.app.evaluation.question import Lines, Question, Target
from notehop.config.errors import UsageError

if TYPE_CHECKING:
    from ir_measures.measures import Measure

TOP = 20
"""Hits that are ranked for a question: the deepest cut-off of a measure."""

NOTES = "notes"
CHUNKS = "chunks"
"""What is ranked: one hit a note, or passages."""

CONTEXT = "context.all"
"""Whether every supporting note is in the context of an answer."""

LINKED = "context.linked"
"""Whether a link alone brought a supporting note: as a connected note or an expanded hit."""

RANKED = (
    "hit@1",
    "mrr",
    "ndcg@5",
    "ndcg@10",
    "precision@10",
    "recall@5",
    "recall@10",
    "recall@20",
)
"""Measures of a ranking; ``mrr`` looks at the first 20 hits."""

MEASURES = (
    CONTEXT,
    LINKED,
    *(f"{NOTES}.{name}" for name in RANKED),
    *(f"{CHUNKS}.{name}" for name in RANKED),
    *ANSWERS,
)
"""All measures, each from 0 to 1; those of answers where the answers are known."""

_MISSING = (
    "measuring needs the package ir-measures, which is not installed; "
    "run: pip install 'notehop[eval]'"
)


def usual(unit: str) -> str:
    """The measure of a ranking that is looked at where none is asked for."""
    return f"{unit}.ndcg@10"


def check_installed() -> None:
    """Say before anything slow is done that ir-measures is missing.

    :raises UsageError: if it is not installed.
    """
    _measures()


def checked_measure(name: str) -> str:
    """Return the name of a measure.

    :raises UsageError: if there is none of that name, listing those there are.
    """
    if name not in MEASURES:
        raise UsageError(f"no measure {name!r}; choose: {', '.join(MEASURES)}")
    return name


def ranked_targets(hits: Sequence[tuple[str, Lines]], gold: Sequence[Target]) -> list[int | None]:
    """Say of each passage which target it is the first to meet; None for one that meets no new one.

    A second passage of a note that was found already helps no more than a wrong one.
    """
    open_targets = dict(enumerate(gold))
    found: list[int | None] = []
    for path, lines in hits:
        met = next((at for at, one in open_targets.items() if one.met_by(path, lines)), None)
        if met is not None:
            del open_targets[met]
        found.append(met)
    return found


def ranked_notes(hits: Sequence[str], gold: Sequence[str]) -> list[int | None]:
    """Say of each note of a ranking which gold note it is; None for others."""
    places = {path: at for at, path in enumerate(gold)}
    return [places.get(path) for path in hits]


def ranking_values(
    rankings: Sequence[Sequence[int | None]], golds: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Measure rankings.

    :param rankings: for each question its hits, best first, each the number of the gold entry that
        it is, or None.
    :param golds: how many gold entries each question has.
    :returns: the values of :data:`RANKED`, shape (questions, measures); and recall at each cut-off
        from 1 to :data:`TOP`, shape (questions, cut-offs).
    :raises UsageError: if ir-measures is not installed.
    """
    measures = _measures()
    ranked, depths = _ranked(measures), [measures["recall"] @ k for k in range(1, TOP + 1)]
    # Each once: the cut-offs of RANKED are among the depths.
    columns = {one: at for at, one in enumerate(dict.fromkeys([*ranked, *depths]))}
    values = np.zeros((len(rankings), len(columns)))
    relevant = {str(q): {f"gold {at}": 1 for at in range(n)} for q, n in enumerate(golds)}
    # Scores fall from hit to hit: trec_eval orders by score alone.
    run = {
        str(q): {
            f"other {place}" if met is None else f"gold {met}": float(len(hits) - place)
            for place, met in enumerate(hits)
        }
        for q, hits in enumerate(rankings)
    }
    import ir_measures

    for one in ir_measures.iter_calc(list(columns), relevant, run):
        values[int(one.query_id), columns[one.measure]] = one.value
    return values[:, [columns[one] for one in ranked]], values[:, [columns[one] for one in depths]]


def _ranked(measures: dict[str, Measure]) -> list[Measure]:
    """The measures of :data:`RANKED`, in its order."""
    found = []
    for name in RANKED:
        kind, _, depth = name.partition("@")
        found.append(measures[kind] @ int(depth) if depth else measures[kind])
    return found


def _measures() -> dict[str, Measure]:
    try:
        from ir_measures import RR, P, R, Success, nDCG
    except ImportError as exc:
        raise UsageError(_MISSING) from exc
    return {"hit": Success, "mrr": RR, "ndcg": nDCG, "precision": P, "recall": R}


def context_values(
    question: Question, sources: Sequence[str], linked: Sequence[str]
) -> tuple[float, float]:
    """Measure a context: :data:`CONTEXT` and :data:`LINKED`.

    :param sources: notes that the ranking alone brought.
    :param linked: notes that links brought.
    """
    gold, direct = question.notes, frozenset(sources)
    brought = frozenset(linked) - direct
    return float(gold <= direct | brought), float(bool(gold & brought))
