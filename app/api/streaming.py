"""An answer as it is made: a thread makes its events, the event loop hands them on.

The thread is never more than a few events ahead of the client. It ends when the client leaves, the
server stops, or the answer takes longer than a request may.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress

from notehop.app.api.desk import Desks
from notehop.app.api.refusal import Refusal, stopping, too_slow
from notehop.app.models import DoneEvent, ErrorEvent, Problem, StreamEvent
from notehop.app.problems import problem
from notehop.config.errors import NotehopError

_log = logging.getLogger(__name__)

AHEAD = 32
"""Events that wait for the client at most."""

Make = Callable[[Callable[[], bool]], Iterator[StreamEvent]]
"""Makes the events of an answer until what it is given says that nobody listens."""


class Stream:
    """The events of one answer; :meth:`begin` it, read it, and :meth:`leave` it in any case."""

    def __init__(self, desks: Desks, make: Make) -> None:
        """Do nothing yet."""
        self._desks = desks
        self._make = make
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[StreamEvent | Exception | None] = asyncio.Queue(AHEAD)
        self._gone = threading.Event()
        self._until = time.monotonic() + desks.answers.seconds
        self._closing = asyncio.ensure_future(desks.closing.wait())
        self._first: StreamEvent | None = None

    async def begin(self) -> None:
        """Wait for the first event, so that what fails at once is refused with a status.

        :raises Refusal: if there is no place, or the answer begins with its end.
        :raises NotehopError: what is wrong with the question or the index.
        """
        future: Future[None] = self._desks.answers.start(self._work)
        future.add_done_callback(_told)
        item = await self._next()
        if isinstance(item, Exception):
            raise item
        if isinstance(item, ErrorEvent):
            raise Refusal(item.problem)
        self._first = item

    async def events(self) -> AsyncIterator[StreamEvent]:
        """The events, the last of which is ``done`` or ``error``."""
        item: StreamEvent | Exception | None = self._first
        while item is not None:
            if isinstance(item, Exception):
                yield ErrorEvent(problem=_problem(item))
                return
            yield item
            if isinstance(item, DoneEvent | ErrorEvent):
                return
            item = await self._next()

    def leave(self) -> None:
        """Let the thread know that nobody listens any more."""
        self._gone.set()
        self._closing.cancel()
        # It may wait for room.
        while not self._queue.empty():
            self._queue.get_nowait()

    async def _next(self) -> StreamEvent | Exception | None:
        """The next event, why there is none, or None after the last."""
        getting = asyncio.ensure_future(self._queue.get())
        try:
            left = max(0.0, self._until - time.monotonic())
            await asyncio.wait(
                {getting, self._closing}, timeout=left, return_when=asyncio.FIRST_COMPLETED
            )
            if getting.done():
                return getting.result()
            return stopping() if self._closing.done() else too_slow(self._desks.answers.seconds)
        finally:
            getting.cancel()

    def _work(self) -> None:
        """Make the events, in a thread."""
        try:
            for event in self._make(self._gone.is_set):
                self._put(event)
                if self._gone.is_set():
                    return
            self._put(None)
        except _Unheard:
            return
        except Exception as exc:  # noqa: BLE001 (whoever listens is told, and the log)
            if not isinstance(exc, NotehopError):
                _log.error("an answer failed", exc_info=exc)
            with suppress(_Unheard):
                self._put(exc)

    def _put(self, item: StreamEvent | Exception | None) -> None:
        """Hand an item to the loop, and wait for room as long as anybody listens.

        :raises _Unheard: if nobody took it in time.
        """
        if self._gone.is_set() or self._loop.is_closed():
            raise _Unheard
        handed = asyncio.run_coroutine_threadsafe(self._queue.put(item), self._loop)
        try:
            handed.result(max(0.0, self._until - time.monotonic()))
        except TimeoutError:
            handed.cancel()
            raise _Unheard from None


class _Unheard(Exception):
    """Nobody listens."""


def _problem(exc: Exception) -> Problem:
    return exc.problem if isinstance(exc, Refusal) else problem(exc)


def _told(future: Future[None]) -> None:
    """What the thread raised has been handed on; here it only must not be forgotten."""
    if not future.cancelled() and (exc := future.exception()) is not None:
        _log.error("an answer failed", exc_info=exc)
