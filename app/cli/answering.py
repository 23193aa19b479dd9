"""Has a question answered, by a running server where there is one, and shows it as it is written.

Touches: index, model, network (a server on this machine), terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing
from types import TracebackType
from typing import TYPE_CHECKING, Self

from notehop.indexing.shown import printable

if TYPE_CHECKING:
    from notehop.app.models import Answer, Query, StreamEvent
    from notehop.app.services.place import Place
    from notehop.app.services.vault import VaultHandle


class Answerer(AbstractContextManager["Answerer"]):
    """Answers the questions of one command; the vault is opened when no server answers."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._opened: VaultHandle | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._opened is not None:
            self._opened.close()

    def ask(self, query: Query) -> Answer:
        """Answer a question.

        :raises NotehopError: why there is no answer.
        """
        from notehop.app.services.running_server import ask_server

        answer = None if self._opened else ask_server(self._place, query)
        return answer or self._own().ask(query)

    def live(self, query: Query) -> tuple[Answer, bool]:
        """Answer a question and write the text to the terminal as it comes.

        :returns: the answer, and whether what was written is its text.
        :raises NotehopError: why there is no answer.
        """
        from notehop.app.services.running_server import stream_server

        events = None if self._opened else stream_server(self._place, query)
        with closing(events or self._own().stream(query)) as coming:  # type: ignore[type-var]
            return _written(coming)

    def _own(self) -> VaultHandle:
        if self._opened is None:
            from notehop.app.services.open_vault import open_place

            self._opened = open_place(self._place)
        return self._opened


def _written(events: Iterator[StreamEvent]) -> tuple[Answer, bool]:
    from notehop.app.models import DoneEvent, ErrorEvent, TokenEvent
    from notehop.app.problems import error_of
    from notehop.config.errors import NotehopError

    said: list[str] = []
    try:
        for event in events:
            if isinstance(event, TokenEvent):
                said.append(event.text)
                sys.stdout.write(printable(event.text))
                sys.stdout.flush()
            elif isinstance(event, ErrorEvent):
                problem = event.problem
                raise error_of(problem.model_dump()) or NotehopError(problem.detail)
            elif isinstance(event, DoneEvent):
                return event.answer, "".join(said).strip() == event.answer.answer.strip()
    finally:
        if said:
            sys.stdout.write("\n")
    raise NotehopError("the answer was broken off; ask again")
