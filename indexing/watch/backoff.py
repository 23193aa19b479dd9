"""When a follower does what, and how long it waits for what failed."""

from __future__ import annotations

import time
from dataclasses import dataclass

LAST_WAIT = 600.0  # the longest wait for something that failed, in seconds


@dataclass(frozen=True, slots=True)
class Timing:
    """When a follower does what, in seconds where nothing else is said."""

    round: float = 1.0  # between two looks at whether the vault and the lock are there
    locked_retry: float = 0.5  # until an index that another process writes is tried again
    vault_retry: float = 2.0  # until a vault that is not there is looked for: that costs nothing
    failed_retry: float = 15.0  # until a failed run is tried again first: a disk may have room
    mended_retry: float = 60.0  # the longest wait until what a person has to mend is tried again
    quiet: float = 5.0  # without work, after which an index is tidied
    lost: float = 10.0  # between two scans of a vault whose changes were not reported, at least
    share: float = 20.0  # times as long as a scan took until the next of these
    report_retry: float = 600.0  # until a system that would not report changes is asked again
    start: float = 10.0  # that a start waits for the system: a dead disk must not hold it up
    poll_ms: int = (
        2_000  # between two looks at the files, where WATCHFILES_FORCE_POLLING asks for them
    )
    many: int = 500  # paths above which a scan of the vault takes no longer than looking at each


TIMING = Timing()


class Backoff:
    """The wait until something that failed is tried again: twice as long each time."""

    def __init__(self) -> None:
        self._since = self._first = self._wait = 0.0

    def failed(self, first: float, most: float = LAST_WAIT) -> None:
        """Wait ``first`` seconds, or twice as long as before, up to ``most``."""
        self._since, self._first = time.monotonic(), first
        self._wait = min(max(first, 2 * self._wait), max(first, most))

    def shorten(self) -> None:
        """Something changed that may help: begin with the first wait, from the last try on."""
        self._wait = min(self._wait, self._first)

    def reset(self) -> None:
        """It worked, or is another matter now: no wait."""
        self._first = self._wait = 0.0

    @property
    def left(self) -> float:
        """Seconds until the next try; 0 if it is due."""
        return max(0.0, self._since + self._wait - time.monotonic())
