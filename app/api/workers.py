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
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import TypeVar

import anyio
from anyio import CancelScope, CapacityLimiter, from_thread, to_thread

from notehop.app.models import DoneEvent, ErrorEvent, StreamEvent
from notehop.app.problems import problem
from notehop.config.errors import NotehopError, ServerBusy, ServerStopping, ServerTimeout
from notehop.config.settings import ServerSettings
from notehop.indexing.llm.egress import UNWANTED

T = TypeVar("T")

_log = logging.getLogger(__name__)

STOPPING = "the server is being stopped; ask again when it is back"

AHEAD = 32  # events that wait for the client at most


class Workers:
    """The threads of a server, as many for answers, which a language model may write, as for all the
    rest: a few long answers never keep a search waiting. Called in the event loop.

    :ivar closing: set when the server goes.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self._most = settings.max_queries or max(2, os.cpu_count() or 1)
        self._room = self._most + settings.max_waiting
        self._seconds = settings.timeout_s
        self._limiters = {slow: CapacityLimiter(self._most) for slow in (True, False)}
        self._taken: dict[bool, set[threading.Event]] = {True: set(), False: set()}
        self._streams: set[CancelScope] = set()
        self.closing = asyncio.Event()

    async def run(self, work: Callable[[], T], *, slow: bool = False, streams: bool = False) -> T:
        """Have work done in a thread, in its turn and in this context, and wait for it.

        :param slow: whether a language model may take its time with it.
        :param streams: whether it ends as soon as ``UNWANTED`` says that nobody waits for it.
        :raises ServerBusy: if too much waits already, the server stops, or it takes too long: then
            it is not begun any more, or ends unheard; a language model that it asks is not asked on.
        """
        taken = self._taken[slow]
        if self.closing.is_set():
            raise ServerStopping(STOPPING)
        if len(taken) >= self._room:
            waiting = f"{len(taken) - self._most} requests wait already"
            raise ServerBusy(f"the server is busy and {waiting}; ask again in a moment")
        gone, begun = threading.Event(), threading.Event()

        def in_turn() -> T:
            begun.set()
            try:
                if self.closing.is_set() or gone.is_set():
                    raise ServerStopping(STOPPING)
                UNWANTED.set(gone.is_set)
                return work()
            finally:
                taken.discard(gone)

        taken.add(gone)
        with anyio.move_on_after(self._seconds) as scope:
            if streams:
                self._streams.add(scope)
            try:
                return await to_thread.run_sync(in_turn, abandon_on_cancel=True, limiter=self._limiters[slow])
            finally:
                gone.set()
                self._streams.discard(scope)
                # Work that goes on unheard has its place until it ends.
                if not begun.is_set():
                    taken.discard(gone)
        if self.closing.is_set():
            raise ServerStopping(STOPPING)
        late = f"no reply within {self._seconds:g} s; ask for less, or raise server.timeout_s"
        raise ServerTimeout(late)

    def close(self) -> None:
        """Begin nothing more, and end streams: they would go on for as long as their answer takes."""
        self.closing.set()
        for scope in [*self._streams]:
            scope.cancel()


async def stream(
    workers: Workers, make: Callable[[Callable[[], bool]], Iterator[StreamEvent]]
) -> AsyncGenerator[StreamEvent]:
    """The events of an answer, the last of which is ``done`` or ``error``.

    :param make: makes them, until what it is given says that nobody listens.
    :raises ServerBusy: before the first event: if there is no place.
    :raises NotehopError: before the first event: what is wrong with the question or the index.
    """
    given, taken = anyio.create_memory_object_stream[StreamEvent](AHEAD)

    def work() -> None:
        gone = UNWANTED.get()
        assert gone is not None
        for event in make(gone):
            from_thread.run(given.send, event)
            if gone():
                return

    async def run() -> Exception | None:
        with given:
            try:
                await workers.run(work, slow=True, streams=True)
            except anyio.BrokenResourceError:
                return None  # nobody listens
            except Exception as exc:  # noqa: BLE001 (whoever listens is told, and the log)
                if not isinstance(exc, NotehopError):
                    _log.error("an answer failed", exc_info=exc)
                return exc
        return None

    task = asyncio.create_task(run())
    begun = False
    try:
        async for event in taken:
            begun = True
            yield event
            if isinstance(event, DoneEvent | ErrorEvent):
                return
        failure = await task
        if failure is not None and not begun:
            raise failure
        if failure is not None:
            yield ErrorEvent(problem=problem(failure))
    finally:
        taken.close()
        task.cancel()
