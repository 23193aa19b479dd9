"""Marks why a language model is called and with which notes, and gathers what is to be told of it.

The mark is a context variable: it holds for the calls of the body, and for tasks and threads that
were given its context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Literal

Purpose = Literal["answer", "condense", "summary", "header", "themes"]

WHAT_GOES: dict[Purpose, str] = {
    "answer": "the question, the passages of the sources and the connected notes",
    "condense": "the conversation so far and the question",
    "summary": "the text of notes",
    "header": "the text of notes",
    "themes": "summaries and passages of notes, and the question",
}
"""What is sent, by what it is sent for."""


@dataclass(slots=True)
class Sending:
    """Why a model is called, and with which notes; what is told of the calls comes in as they are.

    ``notices`` are for the user who waits for the reply: which host gets text for the first time,
    that an answer was cut off. ``cancelled`` says whether nobody waits any more.
    """

    purpose: Purpose
    notes: tuple[str, ...]
    cancelled: Callable[[], bool] | None = None
    notices: list[str] = field(default_factory=list)

    def notice(self, text: str) -> None:
        """Tell the user; what was told already is not told twice."""
        if text not in self.notices:
            self.notices.append(text)


SENDING: ContextVar[Sending | None] = ContextVar("notehop_sending", default=None)

UNWANTED: ContextVar[Callable[[], bool] | None] = ContextVar("notehop_unwanted", default=None)
"""Says whether nobody waits for the work that is under way, where a call does not say it itself."""


@contextmanager
def sending(
    notes: Iterable[str], *, purpose: Purpose, cancelled: Callable[[], bool] | None = None
) -> Iterator[Sending]:
    """Name the notes whose text the calls of the body carry; what is told of them is in the result.

    :param notes: paths in the vault.
    :param cancelled: a call ends with a :class:`ProviderError` of the kind ``cancelled`` soon after
        this says so; None: what :data:`UNWANTED` says, if anything.
    """
    before = SENDING.get()
    now = Sending(purpose, tuple(dict.fromkeys(notes)), cancelled or UNWANTED.get())
    SENDING.set(now)
    try:
        yield now
    finally:
        # Not by a token: a generator may be closed in another context than it was started in.
        SENDING.set(before)


@contextmanager
def given_up(when: Callable[[], bool]) -> Iterator[None]:
    """Have the calls of the body end soon after this says so, as well as for what ends them already."""
    before, unwanted = SENDING.get(), UNWANTED.get()
    known = unwanted if before is None else before.cancelled

    def either() -> bool:
        return when() or (known is not None and known())

    if before is not None:
        SENDING.set(replace(before, cancelled=either))
    UNWANTED.set(either)
    try:
        yield
    finally:
        SENDING.set(before)
        UNWANTED.set(unwanted)
