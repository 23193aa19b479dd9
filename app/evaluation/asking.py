"""Asks the questions of a set under one setting, and measures what comes back.

Touches: index and model, through the search it is given.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from app.evaluation.measures import (
    context_values,
    ranked_notes,
    ranked_targets,
    ranking_values,
)
from app.evaluation.question import Lines, Question


@dataclass(frozen=True, slots=True)
class Context:
    """What the context of an answer is made of, a note's path a passage.

    ``sources`` are those that the ranking alone brought, ``linked`` those that links brought:
    connected notes, and hits of the recall expansion.
    """

    sources: tuple[str, ...]
    linked: tuple[str, ...]


class Search(Protocol):
    """The search of a vault under one setting."""

    def context(self, question: Question) -> Context:
        """Return the context of an answer."""

    def notes(self, question: Question) -> Sequence[str]:
        """Return the best notes, best first, each once."""

    def chunks(self, question: Question) -> Sequence[tuple[str, Lines]]:
        """Return the best passages, best first."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one setting gave, a row a question.

    ``values``: shape (questions, measures), in the order of
    :data:`~app.evaluation.measures.MEASURES`. ``recall`` is that of notes at each cut-off, shape
    (questions, cut-offs). ``passages`` counts those in the context, ``milliseconds`` is the time
    until it was there. ``found`` are the notes that the search ranked first.
    """

    values: NDArray[np.float64]
    recall: NDArray[np.float64]
    passages: NDArray[np.float64]
    milliseconds: NDArray[np.float64]
    found: tuple[tuple[str, ...], ...]


SHOWN = 5
"""Notes of a ranking that are kept, to be shown for questions that were helped or hurt."""


def ask_all(
    search: Search, questions: Sequence[Question], asked: Callable[[], None] = lambda: None
) -> Outcome:
    """Ask every question for its context, for notes and for passages.

    :param asked: called after each question.
    :raises UsageError: if ir-measures is not installed.
    """
    contexts: list[Context] = []
    milliseconds: list[float] = []
    by_note: list[list[int | None]] = []
    by_chunk: list[list[int | None]] = []
    found: list[tuple[str, ...]] = []
    for question in questions:
        started = time.perf_counter()
        contexts.append(search.context(question))
        milliseconds.append((time.perf_counter() - started) * 1000)
        notes = search.notes(question)
        found.append(tuple(notes[:SHOWN]))
        by_note.append(ranked_notes(notes, sorted(question.notes)))
        by_chunk.append(ranked_targets(search.chunks(question), question.gold))
        asked()
    in_context = [
        context_values(question, context.sources, context.linked)
        for question, context in zip(questions, contexts, strict=True)
    ]
    of_notes, recall = ranking_values(by_note, [len(question.notes) for question in questions])
    of_chunks, _ = ranking_values(by_chunk, [len(question.gold) for question in questions])
    return Outcome(
        np.hstack([np.asarray(in_context), of_notes, of_chunks]),
        recall,
        np.asarray([len(one.sources) + len(one.linked) for one in contexts], dtype=np.float64),
        np.asarray(milliseconds),
        tuple(found),
    )
