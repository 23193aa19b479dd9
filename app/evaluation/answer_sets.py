"""Answer sets: questions in people's words, what an answer must hold, and questions that have none;
their format is that of docs/evaluation.md. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from notehop.app.answer.draft import without_opening
from notehop.app.evaluation.metrics import MeanEstimate, estimates
from notehop.app.evaluation.questions import read_lines
from notehop.app.models import Answer

KINDS = ("fact", "definition", "howto", "list", "comparison", "number", "yesno", "two_notes", "typo",
         "property", "table")  # fmt: skip
WHYS = ("near", "off", "gibberish")
"""Why a question has no answer: its topic stands in the vault, or does not, or it means nothing."""

HELD = ("sources", "context", "contains", "first", "contains of held", "first of held")
"""Measures of questions that have an answer (docs/evaluation.md says of what); the last two are over
questions whose context holds it."""

REFUSED = "refused"
MEASURES = (*HELD, REFUSED)

OPENING = 40  # words of an answer that are read at a glance

_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’»)\]*_]*(?=\s|$)")


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """``notes``: of each entry one note is needed; ``why`` is None for a question with an answer."""

    id: str
    kind: str
    text: str
    contains: tuple[re.Pattern[str], ...]
    notes: tuple[tuple[str, ...], ...]
    why: str | None

    def held_in(self, text: str) -> bool:
        """Whether all that an answer must hold is there."""
        text = " ".join(text.split())
        return all(pattern.search(text) for pattern in self.contains)


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer as it is measured: its text, with the names of the notes it quotes, empty where it says
    that the vault does not say; and the names and texts of its material.
    """

    text: str
    sources: str = ""
    connected: str = ""

    @classmethod
    def of(cls, answer: Answer) -> Answered:
        sources, connected = (
            "\n".join(f"{one.title}\n{one.heading}\n{one.text}" for one in places)
            for places in (answer.sources, answer.connected_notes)
        )
        text = "" if answer.mode == "none" else without_opening(answer.answer)
        return cls(text, sources, connected)


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """Questions of one group under one setting; ``gains`` are paired, over what it is held to."""

    group: str
    questions: int
    measures: dict[str, MeanEstimate]
    gains: dict[str, MeanEstimate]


@dataclass(frozen=True, slots=True)
class AnswersEvaluated:
    """An answer set under every setting, in rows by group."""

    name: str
    notes: int
    questions: int
    settings: dict[str, tuple[AnswerRow, ...]]


def read_answer_set(file: Path) -> tuple[AnswerQuestion, ...]:
    """Read a set, a question a line.

    :raises UsageError: naming the line that is not so, or the file that cannot be read.
    """
    return read_lines(file, _question, "no question of an answer set, see docs/evaluation.md")


def measured(question: AnswerQuestion, reply: Answered) -> list[float]:
    """The values of :data:`MEASURES`; NaN for what does not apply."""
    refused = float(not reply.text)
    if question.why is not None:
        return [nan] * len(HELD) + [refused]
    text = " ".join(reply.text.split())
    words = " ".join(text.split(" ")[:OPENING])
    end = _SENTENCE_END.search(text)
    opening = max(words, text[: end.end()] if end else "", key=len)
    # Sources and connected notes may each hold a part of it.
    context = f"{reply.sources}\n{reply.connected}"
    said = [float(question.held_in(one)) for one in (reply.sources, context, text, opening)]
    return [*said, *(said[2:] if said[1] else (nan, nan)), refused]


def rows(
    questions: Sequence[AnswerQuestion],
    values: NDArray[np.float64],
    against: NDArray[np.float64] | None = None,
) -> tuple[AnswerRow, ...]:
    """Rows by group: all that have an answer, by kind, then all that have none, by why.

    :param values: shape (questions, measures), of :func:`measured`; ``against`` likewise.
    """
    found: list[AnswerRow] = []
    for group in ("answerable", *KINDS, "unanswerable", *WHYS):
        chosen = [
            group in (("answerable", one.kind) if one.why is None else ("unanswerable", one.why))
            for one in questions
        ]
        if any(chosen):
            own = values[chosen]
            gains = {} if against is None else estimates(MEASURES, own - against[chosen])
            found.append(AnswerRow(group, sum(chosen), estimates(MEASURES, own), gains))
    return tuple(found)


def _question(row: Any) -> AnswerQuestion:
    text, kind = row["question"], row["kind"]
    if not isinstance(text, str) or not text.strip():
        raise ValueError("the question is no text")
    if kind not in KINDS:
        raise ValueError(f"kind {kind!r} is none of {', '.join(KINDS)}")
    if not isinstance(row["answerable"], bool):
        raise ValueError("answerable is neither true nor false")
    if not row["answerable"]:
        if row["why"] not in WHYS:
            raise ValueError(f"why {row['why']!r} is none of {', '.join(WHYS)}")
        return AnswerQuestion(str(row["id"]), kind, text, (), (), row["why"])
    if not row["contains"] or not row["notes"] or isinstance(row["contains"], str):
        raise ValueError("contains and notes are lists that are not empty")
    patterns = tuple(re.compile(one, re.IGNORECASE) for one in row["contains"])
    notes = tuple((one,) if isinstance(one, str) else tuple(one) for one in row["notes"])
    return AnswerQuestion(str(row["id"]), kind, text, patterns, notes, None)
