"""When a follower ends: a signal, or the end of the process that runs it.

Touches: signals, standard input.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set for the length of the block."""
    stop = threading.Event()

    def end(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        stop.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def when_input_ends(stop: threading.Event) -> None:
    """Set the event when standard input ends, as it does when its writer ends in any way."""

    # Not through sys.stdin: its lock is held while it waits, and Python aborts where a thread holds
    # it at the end.
    source = sys.stdin.fileno()

    def read() -> None:
        # A terminal that is gone is an error: its end as well.
        with suppress(OSError):
            while os.read(source, 1_024):
                pass
        stop.set()

    threading.Thread(target=read, name="notehop-input", daemon=True).start()
