"""The nouns of an evaluation: a question, what answers it, and a set of questions. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

Lines = tuple[int, int]
"""First and last line of a passage, from 1, both included."""

LinkPair = tuple[str, str]
"""The note that holds a link, and the note it leads to."""


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """A note that an answer rests on, or a stretch of its lines; None means the whole note.

    ``fragment`` is the heading or block as it was asked for, None for the note.
    """

    path: str
    fragment: str | None = None
    lines: Lines | None = None

    def met_by(self, path: str, lines: Lines) -> bool:
        """Whether a passage is of this note and, where lines are asked for, holds one of them."""
        if path != self.path:
            return False
        return self.lines is None or (lines[0] <= self.lines[1] and lines[1] >= self.lines[0])

    def __str__(self) -> str:
        """The target as a link has it."""
        return self.path if self.fragment is None else f"{self.path}#{self.fragment}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question and all that its answer rests on, each once.

    ``without`` is a note that the search has to do without: the one that a question is a quote
    from would always be found first. ``answers`` are names of the one answer, the first the usual
    one; empty where it is not known.
    """

    id: str
    text: str
    gold: tuple[Target, ...]
    without: str | None = None
    answers: tuple[str, ...] = ()

    @property
    def notes(self) -> frozenset[str]:
        """The notes that the answer rests on."""
        return frozenset(target.path for target in self.gold)


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions of one kind about one vault.

    ``measure`` is the one by which a question counts as helped or hurt. ``held_out`` are links that
    the search must not see. ``foreign`` are questions that the vault cannot answer.
    """

    name: str
    questions: tuple[Question, ...]
    measure: str
    held_out: frozenset[LinkPair] = field(default=frozenset())
    foreign: tuple[Question, ...] = ()
