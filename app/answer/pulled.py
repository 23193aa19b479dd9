"""Takes items from a source that may block, without being held by it once nobody wants them.

Touches: whatever the source does, in a thread of its own.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator
from contextlib import closing
from contextvars import copy_context
from typing import Generic, TypeVar

Item = TypeVar("Item")

PATIENCE = 0.1
"""Seconds between two looks at whether the items are still wanted."""

AHEAD = 64
"""Items that wait to be taken: a source that is faster than its reader waits, too."""


Source = Callable[[Callable[[], bool]], Generator[Item, None, None]]
"""Makes the items; what it is given says that nobody wants them any more."""


def pulled(source: Source[Item], cancelled: Callable[[], bool]) -> Generator[Item, None, None]:
    """Yield what a source yields, until it ends or is cancelled.

    Once cancelled, or closed, this ends at once. The source is told where it asks, else when it
    gives its next item, and is closed.

    :raises Exception: what the source raises.
    """
    pull = _Pull(source, cancelled)
    context = copy_context()
    threading.Thread(
        target=context.run, args=(pull.run,), name="notehop-answer", daemon=True
    ).start()
    try:
        while not cancelled():
            try:
                item = pull.items.get(timeout=PATIENCE)
            except queue.Empty:
                continue
            if item is None:
                if pull.failure is not None:
                    raise pull.failure
                return
            yield item[0]
    finally:
        pull.unwanted.set()


class _Pull(Generic[Item]):
    def __init__(self, source: Source[Item], cancelled: Callable[[], bool]) -> None:
        self.items: queue.Queue[tuple[Item] | None] = queue.Queue(AHEAD)
        self.unwanted = threading.Event()
        self.failure: BaseException | None = None
        self._source = source
        self._cancelled = cancelled

    def run(self) -> None:
        try:
            with closing(self._source(self._is_unwanted)) as items:
                for item in items:
                    if not self._put((item,)):
                        return
        except BaseException as exc:  # noqa: BLE001 (raised where the items are taken)
            self.failure = exc
        self._put(None)

    def _is_unwanted(self) -> bool:
        return self.unwanted.is_set() or self._cancelled()

    def _put(self, item: tuple[Item] | None) -> bool:
        """Hand an item over; False if it is not wanted any more."""
        while not self.unwanted.is_set():
            try:
                self.items.put(item, timeout=PATIENCE)
            except queue.Full:
                continue
            return True
        return False
