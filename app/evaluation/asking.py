"""Asks the questions of a set under one setting, and measures what comes back.

Touches: index and model, through the search it is given.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from notehop.app.evaluation.answers import ANSWERS, Answered, answer_values, refusal
from notehop.app.evaluation.measures import (
    context_values,
    ranked_notes,
    ranked_targets,
    ranking_values,
)
from notehop.app.evaluation.question import Lines, Question


@dataclass(frozen=True, slots=True)
class Context:
    """What the context of an answer is made of, a note's path a passage.

    ``sources`` are those that the ranking alone brought, ``linked`` those that links brought:
    connected notes, and hits of the recall expansion. ``answered`` answers from it.
    """

    sources: tuple[str, ...]
    linked: tuple[str, ...]
    answered: Callable[[], Answered]


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
    until it was there. ``found`` are the notes that the search ranked first. ``answers`` are what
    was answered and ``words`` its length, None and NaN where no answer was asked for. ``refused``
    holds a value a foreign question: see :func:`~app.evaluation.answers.refusal`.
    """

    values: NDArray[np.float64]
    recall: NDArray[np.float64]
    passages: NDArray[np.float64]
    milliseconds: NDArray[np.float64]
    found: tuple[tuple[str, ...], ...]
    answers: tuple[str | None, ...]
    words: NDArray[np.float64]
    refused: NDArray[np.float64]


SHOWN = 5
"""Notes of a ranking that are kept, to be shown for questions that were helped or hurt."""


def ask_all(
    search: Search,
    questions: Sequence[Question],
    asked: Callable[[], None] = lambda: None,
    *,
    answers: bool = True,
    foreign: Sequence[Question] = (),
) -> Outcome:
    """Ask every question for its context, for notes and for passages.

    :param asked: called after each question.
    :param answers: whether to answer those whose answer is known, too, and the foreign ones.
    :param foreign: questions that the vault cannot answer.
    :raises UsageError: if ir-measures is not installed.
    """
    contexts: list[Context] = []
    milliseconds: list[float] = []
    by_note: list[list[int | None]] = []
    by_chunk: list[list[int | None]] = []
    found: list[tuple[str, ...]] = []
    replies: list[Answered | None] = []
    refused: list[float] = []
    for question in questions:
        started = time.perf_counter()
        contexts.append(search.context(question))
        milliseconds.append((time.perf_counter() - started) * 1000)
        replies.append(contexts[-1].answered() if answers and question.answers else None)
        notes = search.notes(question)
        found.append(tuple(notes[:SHOWN]))
        by_note.append(ranked_notes(notes, sorted(question.notes)))
        by_chunk.append(ranked_targets(search.chunks(question), question.gold))
        asked()
    for question in foreign if answers else ():
        refused.append(refusal(question, search.context(question).answered()))
        asked()
    in_context = [
        context_values(question, context.sources, context.linked)
        for question, context in zip(questions, contexts, strict=True)
    ]
    of_notes, recall = ranking_values(by_note, [len(question.notes) for question in questions])
    of_chunks, _ = ranking_values(by_chunk, [len(question.gold) for question in questions])
    of_answers = [
        [nan] * len(ANSWERS) if reply is None else answer_values(question, reply)
        for question, reply in zip(questions, replies, strict=True)
    ]
    return Outcome(
        np.hstack([np.asarray(in_context), of_notes, of_chunks, np.asarray(of_answers)]),
        recall,
        np.asarray([len(one.sources) + len(one.linked) for one in contexts], dtype=np.float64),
        np.asarray(milliseconds),
        tuple(found),
        tuple(None if reply is None else reply.text for reply in replies),
        np.asarray([nan if reply is None else reply.words for reply in replies], dtype=np.float64),
        np.asarray(refused, dtype=np.float64),
    )
