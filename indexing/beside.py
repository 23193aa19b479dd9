"""Owns the threads in which a part of a query is worked out beside the rest of it.

Touches: nothing by itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


class Beside:
    """A few threads for work that can be done while the caller computes outside the interpreter.

    Work is given to a thread that is free. Where all are busy, as many queries run as there are
    cores for, and handing it on would only cost: the caller does it then.
    """

    def __init__(self, threads: int | None = None) -> None:
        """Start no thread yet.

        :param threads: at most; 0 has the caller do everything, None is one for two cores.
        """
        self._threads = _cores() // 2 if threads is None else threads
        self._free = threading.Semaphore(self._threads)
        self._pool: ThreadPoolExecutor | None = None
        self._opening = threading.Lock()

    @contextmanager
    def begun(self, work: Callable[[], T]) -> Iterator[Callable[[], T]]:
        """Have work done while the body does something else.

        Where the body ends, nobody works at it any more.

        :returns: what gives the result: it waits for it, or does the work if nobody has.
        """
        future = self._handed_on(work)
        try:
            yield work if future is None else future.result
        finally:
            if future is not None:
                future.exception()

    def close(self) -> None:
        """End the threads, once they have done what they have begun."""
        with self._opening:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False)

    def _handed_on(self, work: Callable[[], T]) -> Future[T] | None:
        if not self._free.acquire(blocking=False):
            return None
        future: Future[T] = Future()
        try:
            # In the caller's context: what is logged there is logged for the same request.
            self._executor().submit(copy_context().run, self._do, work, future)
        except RuntimeError:  # no thread can be started
            # The pool keeps the work, for a thread that it may start later: that shall leave it.
            if future.cancel():
                self._free.release()
                return None
        return future

    def _do(self, work: Callable[[], T], future: Future[T]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = work()
        except BaseException as exc:  # noqa: BLE001 - raised where the result is asked for
            self._free.release()
            future.set_exception(exc)
            del future  # which holds the exception, which holds this frame
        else:
            self._free.release()
            future.set_result(result)

    def _executor(self) -> ThreadPoolExecutor:
        with self._opening:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._threads, "notehop-beside")
            return self._pool


def _cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not everywhere
        return os.cpu_count() or 1
