"""Progress of a run as a person sees it: a bar on a terminal, plain lines elsewhere.

Touches: terminal (standard error).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from notehop.indexing.report import Progress

if TYPE_CHECKING:
    from rich.progress import TaskID

EVERY = 5.0
"""Seconds between two plain lines of one stage: a log should not fill with them."""


def terminal_progress(stream: TextIO | None = None) -> Progress:
    """Progress for standard error (or ``stream``): bars on a terminal, plain lines otherwise."""
    stream = stream or sys.stderr
    return TerminalProgress(stream) if stream.isatty() else PlainProgress(stream)


class TerminalProgress:
    """A bar with rate and remaining time, which goes when its stage is done."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bars

        self._console = Console(file=stream, highlight=False, markup=False, emoji=False)
        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}", markup=False),
            TextColumn("{task.fields[rate]}", markup=False),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
        )
        self._task: TaskID | None = None

    def stage(self, name: str, total: int, unit: str) -> None:
        """Begin a bar; one without total only pulses."""
        self.close()
        self._bars.start()
        self._task = self._bars.add_task(name, total=total or None, unit=unit, rate="")

    def advance(self, count: int) -> None:
        """Move the bar."""
        if self._task is None:
            return
        self._bars.advance(self._task, count)
        task = self._bars.tasks[-1]
        if task.speed:
            self._bars.update(self._task, rate=f"{task.speed:,.0f}/s")

    def message(self, text: str) -> None:
        """Print a line above the bar."""
        self._bars.console.print(text, soft_wrap=True)

    def close(self) -> None:
        """Take the bar away."""
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None
            self._bars.stop()


class PlainProgress:
    """A line when a stage begins, one now and then while it runs, and one at its end."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._name = ""
        self._unit = ""
        self._total = 0
        self._done = 0
        self._began = 0.0
        self._said = 0.0

    def stage(self, name: str, total: int, unit: str) -> None:
        """Say what begins."""
        self.close()
        self._name, self._total, self._unit, self._done = name, total, unit, 0
        self._began = self._said = self._clock()
        self.message(f"{name}: {total:,} {unit}" if total else name)

    def advance(self, count: int) -> None:
        """Say how far it is, every few seconds."""
        self._done += count
        now = self._clock()
        if self._name and now - self._said >= EVERY:
            self._said = now
            self.message(
                f"{self._name}: {self._done:,} of {self._total:,} {self._unit}{self._pace(now)}"
            )

    def message(self, text: str) -> None:
        """Write a line."""
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def close(self) -> None:
        """Say how long the stage took, if it took long enough to wonder."""
        if not self._name:
            return
        took = self._clock() - self._began
        if took >= EVERY:
            self.message(f"{self._name} took {took:.0f} s")
        self._name = ""

    def _pace(self, now: float) -> str:
        rate = self._done / max(now - self._began, 1e-9)
        left = self._total - self._done
        if rate <= 0 or left <= 0:
            return ""
        return f", {rate:,.1f}/s, {left / rate:,.0f} s left"
