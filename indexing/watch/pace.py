"""When the follower does what: retries, quiet moments, and nights the machine slept through."""

from __future__ import annotations

import time
from collections.abc import Callable

SLEPT = 20.0
"""Seconds that a clock may be ahead of another, or a round be late, before that counts as sleep."""

QUIET = 5.0
"""Seconds without work after which the vault counts as quiet."""


class Pace:
    """Keeps the times of a follower.

    :param rescan_s: seconds after which the whole vault is looked at again.
    :param steady: seconds that never go back and may stand still while the machine sleeps.
    :param wall: seconds of the day's clock, which goes on.
    """

    def __init__(
        self,
        rescan_s: float,
        steady: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._rescan_s = rescan_s
        self._steady = steady
        self._wall = wall
        self._at = steady(), wall()
        self._rescanned = steady()
        self._worked = steady()
        self._not_before = steady()
        self._listen_after = steady()

    def wait(self, seconds: float) -> None:
        """Run nothing for so long."""
        self._not_before = max(self._not_before, self._steady() + seconds)

    def may_run(self) -> bool:
        """Whether it is time to run."""
        return self.until_run() <= 0

    def until_run(self) -> float:
        """Seconds until it is; 0 if it is."""
        return max(0.0, self._not_before - self._steady())

    def listen_later(self, seconds: float) -> None:
        """Do not ask the system for reports for so long."""
        self._listen_after = self._steady() + seconds

    def may_listen(self) -> bool:
        """Whether it is time to ask for them."""
        return self._steady() >= self._listen_after

    def worked(self) -> None:
        """Something was written just now."""
        self._worked = self._steady()

    def quiet(self) -> bool:
        """Whether nothing was written for a while."""
        return self._steady() - self._worked >= QUIET

    def rescanned(self) -> None:
        """The whole vault was looked at just now."""
        self._rescanned = self._steady()

    def rescan_due(self) -> bool:
        """Whether it has to be looked at again."""
        return self._steady() - self._rescanned >= self._rescan_s

    def overslept(self) -> bool:
        """Whether the machine slept, or the process stood still, since this was asked last."""
        steady, wall = self._steady(), self._wall()
        went, passed = steady - self._at[0], wall - self._at[1]
        self._at = steady, wall
        return passed - went > SLEPT or went > SLEPT
