"""Where requests wait for their turn: a few run at once, some wait, the rest is refused at once.

Queries take the processor, and a hundred of them at the same time are each a hundred times slower.
The event loop never runs one: it stays free for whoever asks whether the server is up.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from app.api.refusal import busy, stopping, too_slow
from config.settings import ServerSettings

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
        self._threads = ThreadPoolExecutor(most, thread_name_prefix=f"notehop-{name}")
        self._turn = threading.Lock()
        self._taken = 0
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
            future = self._threads.submit(contextvars.copy_context().run, work)
        # Also for work that was given up while it ran: its thread is taken until it ends.
        future.add_done_callback(self._left)
        return future

    async def run(self, work: Callable[[], T]) -> T:
        """Have work done in a thread and wait for it.

        :raises Refusal: as :meth:`start`, or if it takes too long: then it is not begun any more,
            or ends unheard.
        """
        future = self.start(work)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.seconds)
        except TimeoutError:
            if future.done() and not future.cancelled():
                raise  # the work's own
            raise too_slow(self.seconds) from None

    def close(self) -> None:
        """Take nothing more; what runs ends, what waits does not begin."""
        with self._turn:
            self._stopping = True
        self._threads.shutdown(wait=False, cancel_futures=True)

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
