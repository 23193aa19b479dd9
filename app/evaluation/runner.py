"""Asks the questions of a set under its settings, and holds the settings to one another."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from notehop.app.answer.draft import without_opening
from notehop.app.answer.material import CONNECTED
from notehop.app.evaluation.metrics import (
    ANSWERS,
    MEASURES,
    TOP,
    Answered,
    MeanEstimate,
    answer_values,
    context_values,
    estimates,
    ranked,
    ranking_values,
)
from notehop.app.evaluation.questions import KnownQuestion, Lines, QuestionSet
from notehop.app.retrieval.graph_retriever import EXPANDED
from notehop.app.retrieval.trace import TracedQuery
from notehop.config.errors import UsageError

if TYPE_CHECKING:
    from notehop.app.evaluation.run import Variant
    from notehop.app.models import Answer, ConnectedNote, SearchResult, Source
    from notehop.app.services.vault import VaultHandle
    from notehop.indexing.report import Progress


class Context(NamedTuple):
    """What the context of an answer is made of, a note's path a passage.

    ``sources`` are those that the ranking alone brought, ``linked`` those that links brought:
    connected notes, and hits of the recall expansion.
    """

    sources: list[str]
    linked: list[str]


class MeasuredVault:
    """Searches an opened vault for questions, and counts what the replies warn of.

    Questions are text: they may quote what looks like a filter.
    """

    def __init__(self, vault: VaultHandle) -> None:
        self.warnings: Counter[str] = Counter()
        self._vault = vault

    def context(self, question: KnownQuestion) -> Context:
        """What the context of an answer is made of."""
        query = TracedQuery(question.text)
        engine = self._vault.query_engine(filters=_filters(question), literal=True)
        found = Context([], [])
        for node in engine.retrieve(query):
            told = node.node.metadata
            by_link = told.get("role") == CONNECTED or EXPANDED in told
            (found.linked if by_link else found.sources).append(str(told["path"]))
        self.warnings.update(query.trace.warnings)
        return found

    def answered(self, question: KnownQuestion) -> Answered:
        """What is answered."""
        return answered(self._vault.ask(question.text, literal=True, filters=_filters(question)))

    def notes(self, question: KnownQuestion) -> list[str]:
        """The best notes, best first, each once."""
        return [hit.path for hit in self._search(question, "notes").hits]

    def chunks(self, question: KnownQuestion) -> list[tuple[str, Lines]]:
        """The best passages, best first."""
        return [(hit.path, hit.lines) for hit in self._search(question, "chunks").hits]

    def _search(self, question: KnownQuestion, results: str) -> SearchResult:
        found = self._vault.search(
            question.text,
            results=results,
            top_k=TOP,
            # The ranking is measured, not what is shown where nothing matches.
            min_score=0,
            literal=True,
            filters=_filters(question),
            connected={"max": 0},
        )
        self.warnings.update(found.warnings)
        return found


def answered(answer: Answer) -> Answered:
    """A reply as it is measured."""
    return Answered(
        "" if answer.mode == "none" else without_opening(answer.answer),
        frozenset(one.path for one in answer.citations),
        "\n".join(map(_shown, answer.sources)),
        "\n".join(map(_shown, answer.connected_notes)),
    )


def _shown(place: Source | ConnectedNote) -> str:
    return f"{place.title}\n{place.heading}\n{place.text}"


def _filters(question: KnownQuestion) -> Mapping[str, Any]:
    return {} if question.without is None else {"not": {"path": [question.without]}}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one setting gave, a row a question.

    ``values``: shape (questions, measures), in the order of
    :data:`~app.evaluation.metrics.MEASURES`. ``recall`` is that of notes at each cut-off, shape
    (questions, cut-offs). ``passages`` counts those in the context, ``milliseconds`` is the time
    until it was there. ``found`` are the notes that the search ranked first, ``answers`` what was
    answered, None where no answer was asked for.
    """

    values: NDArray[np.float64]
    recall: NDArray[np.float64]
    passages: list[int]
    milliseconds: list[float]
    found: list[tuple[str, ...]]
    answers: list[str | None]


def ask_all(
    search: MeasuredVault,
    asked: QuestionSet,
    progress: Progress,
    *,
    answers: bool,
) -> Outcome:
    """Ask every question for its context, for notes and for passages.

    :param answers: whether to answer those whose answer is known, too.
    """
    passages: list[int] = []
    milliseconds: list[float] = []
    found: list[tuple[str, ...]] = []
    replies: list[Answered | None] = []
    in_context: list[tuple[float, float]] = []
    by_note: list[list[int | None]] = []
    by_chunk: list[list[int | None]] = []
    for question in asked.questions:
        started = time.perf_counter()
        context = search.context(question)
        milliseconds.append((time.perf_counter() - started) * 1000)
        in_context.append(context_values(question, context.sources, context.linked))
        passages.append(len(context.sources) + len(context.linked))
        replies.append(search.answered(question) if answers and question.answers else None)
        notes = search.notes(question)
        found.append(tuple(notes[:5]))
        by_note.append(ranked([(path, (0, 0)) for path in notes], question.whole_notes))
        by_chunk.append(ranked(search.chunks(question), question.gold))
        progress.advance(1)
    of_notes, recall = ranking_values(by_note, [len(one.notes) for one in asked.questions])
    of_chunks, _ = ranking_values(by_chunk, [len(one.gold) for one in asked.questions])
    of_answers = [
        [nan] * len(ANSWERS) if reply is None else answer_values(question, reply)
        for question, reply in zip(asked.questions, replies, strict=True)
    ]
    values = np.hstack([np.asarray(in_context), of_notes, of_chunks, np.asarray(of_answers)])
    texts = [None if reply is None else reply.text for reply in replies]
    return Outcome(values, recall, passages, milliseconds, found, texts)


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
    was answered, ``words`` their mean length.
    """

    setting: str
    overrides: Mapping[str, Any]
    against: str | None
    measures: Mapping[str, MeanEstimate]
    gains: Mapping[str, MeanEstimate]
    recall: tuple[float, ...]
    values: tuple[float | None, ...]
    helped: tuple[Change, ...]
    hurt: tuple[Change, ...]
    passages: float
    milliseconds: float
    answers: tuple[str | None, ...] = ()
    words: float | None = None


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A set of questions under every setting.

    ``warnings`` maps what searches had to say -> how many said it.
    """

    name: str
    notes: int
    measure: str
    questions: tuple[KnownQuestion, ...]
    rows: tuple[Row, ...]
    warnings: Mapping[str, int]

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
    at = MEASURES.index(asked.measure)
    changes = [] if other is None else list(_changes(asked.questions, other, own, at))
    texts = [text for text in own.answers if text is not None]
    return Row(
        setting=variant.name,
        overrides=variant.overrides,
        against=variant.against,
        measures=estimates(MEASURES, own.values),
        gains={} if gained is None else estimates(MEASURES, gained),
        recall=tuple(map(float, own.recall.mean(axis=0))),
        values=tuple(None if isnan(value) else value for value in own.values[:, at].tolist()),
        helped=tuple(one for one in changes if one.after > one.before),
        hurt=tuple(one for one in changes if one.after < one.before),
        passages=float(np.mean(own.passages)),
        milliseconds=float(np.median(own.milliseconds)),
        answers=tuple(own.answers) if texts else (),
        words=float(np.mean([len(text.split()) for text in texts])) if texts else None,
    )


def _changes(
    questions: Sequence[KnownQuestion], other: Outcome, own: Outcome, at: int
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
