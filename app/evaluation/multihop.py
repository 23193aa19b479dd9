"""Questions that need several notes: is every one of them in the context?

Touches: index and model, through the retrieval it is given.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.evaluation.golden import Question
from app.evaluation.intervals import Estimate, mean

SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "8 sources": {"retrieval.top_k": 8, "connected.max": 0},
    "5 sources": {"connected.max": 0, "connected.context_chunks": 5},
    "5 + 3, order rank": {"connected.order": "rank"},
    "5 + 3, order context, no gate": {"connected.gate": 0.0},
    "default": {},
}
"""Settings to compare, as overrides of the defaults; the first is what the others are held to."""

Retrieve = Callable[[str], Sequence[str]]
"""Question -> path of the note of each chunk in the context."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one setting gave, an entry a question: whether every gold note was in the context, how
    many chunks the context had, and how long it took in milliseconds.
    """

    supported: NDArray[np.bool_]
    chunks: NDArray[np.float64]
    milliseconds: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """One setting held to the first: shares from 0 to 1, ids of questions won and lost."""

    setting: str
    share: Estimate
    gain: Estimate
    helped: tuple[str, ...]
    hurt: tuple[str, ...]
    chunks: float
    milliseconds: float


def ask_all(retrieve: Retrieve, questions: Sequence[Question]) -> Outcome:
    """Ask every question once."""
    supported, chunks, milliseconds = [], [], []
    for question in questions:
        started = time.perf_counter()
        paths = retrieve(question.text)
        milliseconds.append((time.perf_counter() - started) * 1000)
        supported.append(question.gold <= set(paths))
        chunks.append(len(paths))
    return Outcome(
        np.asarray(supported, dtype=np.bool_),
        np.asarray(chunks, dtype=np.float64),
        np.asarray(milliseconds),
    )


def compare(outcomes: Mapping[str, Outcome], questions: Sequence[Question]) -> list[Row]:
    """Hold each setting to the first, question by question.

    :param outcomes: by setting; each from :func:`ask_all` over the same questions.
    :raises ValueError: without questions.
    """
    first = next(iter(outcomes.values())).supported
    return [
        Row(
            setting=setting,
            share=mean(outcome.supported.astype(np.float64)),
            gain=mean(outcome.supported.astype(np.float64) - first),
            helped=_ids(questions, outcome.supported & ~first),
            hurt=_ids(questions, ~outcome.supported & first),
            chunks=float(outcome.chunks.mean()),
            milliseconds=float(np.median(outcome.milliseconds)),
        )
        for setting, outcome in outcomes.items()
    ]


def _ids(questions: Sequence[Question], where: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(question.id for question, hit in zip(questions, where, strict=True) if hit)
