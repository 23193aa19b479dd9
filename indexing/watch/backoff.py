"""When a follower does what: retries, scans, and nights the machine slept through."""

from __future__ import annotations

import time
from dataclasses import dataclass

LAST_WAIT = 600.0  # the longest wait for something that failed, in seconds


@dataclass(frozen=True, slots=True)
class Timing:
    """When a follower does what, in seconds where nothing else is said."""

    round: float = 1.0  # between two looks at whether the vault is there and the clock went on
    locked_retry: float = 0.5  # until an index that another process writes is tried again
    vault_retry: float = 2.0  # until a vault that is not there is looked for: that costs nothing
    failed_retry: float = 15.0  # until a failed run is tried again first: a disk may have room
    mended_retry: float = 60.0  # the longest wait until what a person has to mend is tried again
    slept: float = 20.0  # that a clock is ahead of another, or a round late, by which it slept
    quiet: float = 5.0  # without work, after which an index is tidied
    share: float = 20.0  # times as long as a scan took until the next that nobody asked for
    soon: float = 2.0  # between two such scans at least
    start: float = 10.0  # that a start waits for the system: a dead disk must not hold it up
    poll_ms: int = 2_000  # how often a disk that reports nothing is looked at
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


class ScanSchedule:
    """When the whole vault has to be scanned again: after ``rescan_s`` seconds, whatever was reported."""

    def __init__(self, rescan_s: float, timing: Timing = TIMING) -> None:
        self.rescan_s = rescan_s
        self._timing = timing
        self._at = time.monotonic(), time.time()
        self._scanned = time.monotonic()
        self._took = 0.0
        self._lost = False

    def scanned(self, took: float) -> None:
        self._scanned, self._took, self._lost = time.monotonic(), took, False

    def lost(self) -> None:
        """Some changes are not known: scan everything soon, though not all the time."""
        self._lost = True

    @property
    def pause(self) -> float:
        """Seconds between two scans that cost a small share of the machine."""
        return max(self._timing.soon, self._timing.share * self._took)

    @property
    def due(self) -> bool:
        """Whether the whole vault has to be scanned again."""
        wait = min(self.rescan_s, self.pause) if self._lost else self.rescan_s
        return time.monotonic() - self._scanned >= wait

    def slept(self) -> bool:
        """Whether the machine slept, or the process stood still, since the last call.

        While a machine sleeps its steady clock may stand still, and the day's clock goes on.
        """
        before, self._at = self._at, (time.monotonic(), time.time())
        went, passed = self._at[0] - before[0], self._at[1] - before[1]
        return max(passed - went, went) > self._timing.slept
