"""Threads for what blocks: a few work at once, some requests wait for their turn, the rest is refused.

Queries take the processor, and a hundred of them at the same time are each a hundred times slower.
The event loop never runs one: it stays free for whoever asks whether the server is up. Of an answer
as it is made, a thread makes the events and the loop hands them on; it is never more than a few
ahead of the client, and ends when the client leaves, the server stops, or it takes too long.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TypeVar

import anyio
from anyio import CancelScope, CapacityLimiter, from_thread, to_thread

from notehop.app.api.errors import Refusal, unavailable
from notehop.app.models import DoneEvent, ErrorEvent, StreamEvent
from notehop.app.problems import problem
from notehop.config.errors import NotehopError
from notehop.config.settings import ServerSettings
from notehop.indexing.llm.egress import UNWANTED

T = TypeVar("T")

STOPPING = "stopping", "the server is being stopped; ask again when it is back"


class ThreadPool:
    """Runs blocking work in a few threads.

    :param most: how much runs at once.
    :param waiting: how much may wait beside.
    :param seconds: how long one may take, its waiting included.
    """

    def __init__(self, *, most: int, waiting: int, seconds: float) -> None:
        self.seconds = seconds
        self.taken = 0
        self._count = threading.Lock()
        self._most, self._room = most, most + waiting
        self._limiter = CapacityLimiter(most)
        self._running: set[CancelScope] = set()
        self._streaming: set[CancelScope] = set()
        self._closed = False

    async def run(self, work: Callable[[], T]) -> T:
        """Have work done in a thread, in its turn and in this context, and wait for it.

        :raises Refusal: if too much waits already, the server stops, or it takes too long: then it
            is not begun any more, or ends unheard; a language model that it asks is not asked on.
        """
        return await self._done(lambda _: work(), self._running)

    async def stream(self, work: Callable[[Callable[[], bool]], T]) -> T:
        """The same for work that ends as soon as what it is given says that nobody waits for it."""
        return await self._done(work, self._streaming)

    async def _done(self, work: Callable[[Callable[[], bool]], T], scopes: set[CancelScope]) -> T:
        if self._closed:
            raise unavailable(*STOPPING)
        if self.taken >= self._room:
            waiting = f"{self.taken - self._most} requests wait already"
            raise unavailable("busy", f"the server is busy and {waiting}; ask again in a moment")
        gone, begun = threading.Event(), threading.Lock()

        def wanted() -> T:
            if self._closed or not begun.acquire(blocking=False):
                raise unavailable(*STOPPING)
            try:
                UNWANTED.set(gone.is_set)
                return work(gone.is_set)
            finally:
                self._left()

        with self._count:
            self.taken += 1
        with anyio.move_on_after(self.seconds) as scope:
            scopes.add(scope)
            try:
                return await to_thread.run_sync(
                    wanted, abandon_on_cancel=True, limiter=self._limiter
                )
            finally:
                gone.set()
                scopes.discard(scope)
                # Work that goes on unheard has its place until it ends.
                if begun.acquire(blocking=False):
                    self._left()
        if self._closed:
            raise unavailable(*STOPPING)
        late = f"no reply within {self.seconds:g} s; ask for less, or raise server.timeout_s"
        raise unavailable("timeout", late)

    def _left(self) -> None:
        with self._count:
            self.taken -= 1

    def close(self) -> None:
        """Begin nothing more, and end streams: they would go on for as long as their answer takes."""
        self._closed = True
        for scope in list(self._streaming):
            scope.cancel()

    def give_up(self) -> None:
        """Tell all who still wait that the server goes."""
        for scope in list(self._running):
            scope.cancel()


class Workers:
    """The two pools of a server: answers, which a language model may write, and all the rest.

    They are apart so that a few long answers never keep a search waiting. Called in the event loop.
    """

    def __init__(self, settings: ServerSettings) -> None:
        most = settings.max_queries or max(2, os.cpu_count() or 1)
        waiting, seconds = settings.max_waiting, settings.timeout_s
        self.answers = ThreadPool(most=most, waiting=waiting, seconds=seconds)
        self.lookups = ThreadPool(most=most, waiting=waiting, seconds=seconds)
        self.closing = asyncio.Event()

    def close(self) -> None:
        """Close both."""
        self.closing.set()
        self.answers.close()
        self.lookups.close()

    def give_up(self) -> None:
        """Wait for nothing any more, in either."""
        self.answers.give_up()
        self.lookups.give_up()


_log = logging.getLogger(__name__)

AHEAD = 32
"""Events that wait for the client at most."""

Make = Callable[[Callable[[], bool]], Iterator[StreamEvent]]
"""Makes the events of an answer until what it is given says that nobody listens."""


class Stream:
    """The events of one answer; :meth:`begin` it, read it, and :meth:`leave` it in any case."""

    def __init__(self, pool: ThreadPool, make: Make) -> None:
        """Do nothing yet."""
        self._pool = pool
        self._make = make
        self._given, self._taken = anyio.create_memory_object_stream[StreamEvent](AHEAD)
        self._first: StreamEvent | None = None
        self._task: asyncio.Task[Exception | None] | None = None

    async def begin(self) -> None:
        """Wait for the first event, so that what fails at once is refused with a status.

        :raises Refusal: if there is no place, or the answer begins with its end.
        :raises NotehopError: what is wrong with the question or the index.
        """
        self._task = asyncio.create_task(self._run())
        self._first = await self._next(self._task)
        if isinstance(self._first, ErrorEvent):
            raise Refusal(self._first.problem)

    async def events(self) -> AsyncIterator[StreamEvent]:
        """The events, the last of which is ``done`` or ``error``."""
        event, task = self._first, self._task
        while event is not None and task is not None:
            yield event
            if isinstance(event, DoneEvent | ErrorEvent):
                return
            try:
                event = await self._next(task)
            except Exception as exc:  # noqa: BLE001 (whoever listens is told)
                event = ErrorEvent(
                    problem=exc.problem if isinstance(exc, Refusal) else problem(exc)
                )

    def leave(self) -> None:
        """Let the thread know that nobody listens any more."""
        self._taken.close()
        if self._task is not None:
            self._task.cancel()

    async def _next(self, task: asyncio.Task[Exception | None]) -> StreamEvent | None:
        """The next event; None after the last.

        :raises Exception: why there is none.
        """
        try:
            return await self._taken.receive()
        except anyio.EndOfStream:
            if (failure := await task) is not None:
                raise failure from None
            return None

    async def _run(self) -> Exception | None:
        """Have a thread make the events; returns what went wrong."""
        with self._given:
            try:
                await self._pool.stream(self._work)
            except anyio.BrokenResourceError:
                return None  # nobody listens
            except Exception as exc:  # noqa: BLE001 (whoever listens is told, and the log)
                if not isinstance(exc, NotehopError | Refusal):
                    _log.error("an answer failed", exc_info=exc)
                return exc
        return None

    def _work(self, gone: Callable[[], bool]) -> None:
        for event in self._make(gone):
            from_thread.run(self._given.send, event)
            if gone():
                return
