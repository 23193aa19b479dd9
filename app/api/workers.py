"""Where requests wait for their turn: a few run at once, some wait, the rest is refused at once.

Queries take the processor, and a hundred of them at the same time are each a hundred times slower.
The event loop never runs one: it stays free for whoever asks whether the server is up. Of an answer
as it is made, a thread makes the events and the loop hands them on; it is never more than a few
ahead of the client, and ends when the client leaves, the server stops, or it takes too long.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

from notehop.app.api.errors import Refusal, busy, stopping, too_slow
from notehop.app.models import DoneEvent, ErrorEvent, Problem, StreamEvent
from notehop.app.problems import problem
from notehop.config.errors import NotehopError
from notehop.config.settings import ServerSettings
from notehop.indexing.llm.egress import UNWANTED

T = TypeVar("T")


class Desk:
    """Runs blocking work in a few threads.

    :param name: what its threads are called by.
    :param most: how much runs at once.
    :param waiting: how much may wait beside.
    :param seconds: how long one may take, its waiting included.
    """

    def __init__(self, name: str, *, most: int, waiting: int, seconds: float) -> None:
        self.most = most
        self.waiting = waiting
        self.seconds = seconds
        self._name = name
        self._turn = threading.Condition()
        self._taken = 0
        self._threads = self._idle = 0
        self._queue: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._heard: set[asyncio.Future[Any]] = set()
        self._stopping = False

    @property
    def taken(self) -> int:
        """How much runs or waits."""
        return self._taken

    def start(self, work: Callable[[], T]) -> Future[T]:
        """Have work done in a thread, in its turn; it keeps the context of the caller.

        :raises Refusal: if too much waits already, or the desk is closed.
        """
        with self._turn:
            if self._stopping:
                raise stopping()
            if self._taken >= self.most + self.waiting:
                raise busy(self._taken - self.most)
            self._taken += 1
            future: Future[T] = Future()
            # Also for work that was given up while it ran: its thread is taken until it ends.
            future.add_done_callback(self._left)
            context = contextvars.copy_context()
            self._queue.append((future, lambda: context.run(work)))
            begins = len(self._queue) > self._idle and self._threads < self.most
            self._threads += begins
            self._turn.notify()
        if begins:
            # Not waited for when the process ends: what is stuck would hold it for as long.
            threading.Thread(target=self._work, name=f"notehop-{self._name}", daemon=True).start()
        return future

    async def run(self, work: Callable[[], T]) -> T:
        """Have work done in a thread and wait for it.

        :raises Refusal: as :meth:`start`, or if it takes too long: then it is not begun any more,
            or ends unheard; a language model that it asks is not asked on.
        """
        given_up = threading.Event()

        def wanted() -> T:
            UNWANTED.set(given_up.is_set)
            return work()

        future = self.start(wanted)
        heard = asyncio.wrap_future(future)
        self._heard.add(heard)
        try:
            return await asyncio.wait_for(heard, self.seconds)
        except TimeoutError:
            if future.done() and not future.cancelled():
                raise  # the work's own
            raise too_slow(self.seconds) from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self._stopping and task is not None and not task.cancelling():
                raise stopping() from None
            raise
        finally:
            given_up.set()
            self._heard.discard(heard)

    def close(self) -> None:
        """Take nothing more; what runs ends, what waits does not begin."""
        with self._turn:
            self._stopping = True
            waiting = list(self._queue)
            self._queue.clear()
            self._turn.notify_all()
        for future, _ in waiting:
            future.cancel()

    def give_up(self) -> None:
        """Tell all who still wait that the server goes; called in the event loop, once closed."""
        for heard in list(self._heard):
            heard.cancel()

    def _work(self) -> None:
        """Do what waits, in a thread that ends when the desk is closed."""
        while True:
            with self._turn:
                self._idle += 1
                self._turn.wait_for(lambda: self._queue or self._stopping)
                self._idle -= 1
                if not self._queue:
                    return
                future, work = self._queue.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = work()
            except BaseException as exc:  # noqa: BLE001 (whoever waits is told)
                future.set_exception(exc)
            else:
                future.set_result(result)
            del future, work  # what it holds is let go of before the next comes

    def _left(self, _: Future[Any]) -> None:
        with self._turn:
            self._taken -= 1


class Desks:
    """The two desks of a server: answers, which a language model may write, and all the rest.

    They are apart so that a few long answers never keep a search waiting.
    """

    def __init__(self, settings: ServerSettings) -> None:
        most = settings.max_queries or max(2, os.cpu_count() or 1)
        waiting, seconds = settings.max_waiting, settings.timeout_s
        self.answers = Desk("answer", most=most, waiting=waiting, seconds=seconds)
        self.lookups = Desk("lookup", most=most, waiting=waiting, seconds=seconds)
        self.closing = asyncio.Event()

    def close(self) -> None:
        """Close both; streams that run hear of it."""
        self.closing.set()
        self.answers.close()
        self.lookups.close()

    def give_up(self) -> None:
        """Wait for nothing any more, at either."""
        self.answers.give_up()
        self.lookups.give_up()


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
