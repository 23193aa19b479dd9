"""Progress of a run as a person sees it: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TextIO

from notehop.indexing.report import Progress

if TYPE_CHECKING:
    from rich.progress import TaskID

EVERY = 5.0  # seconds between two plain lines of one stage: a log should not fill with them


def terminal_progress() -> Progress:
    """Progress for standard error: bars on a terminal, plain lines otherwise."""
    stream = sys.stderr
    return TerminalProgress(stream) if stream.isatty() else PlainProgress(stream)


class TerminalProgress(Progress):
    """A bar with rate and remaining time, which goes when its stage is done."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        self._bars = Bars(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}", markup=False),
            TextColumn("{task.fields[rate]}", markup=False),
            TimeRemainingColumn(),
            console=Console(file=stream, highlight=False, markup=False, emoji=False),
            transient=True,
        )
        self._task: TaskID | None = None

    def stage(self, name: str, total: int, unit: str) -> None:
        self.close()
        self._bars.start()
        self._task = self._bars.add_task(name, total=total or None, unit=unit, rate="")

    def advance(self, count: int) -> None:
        if self._task is not None:
            self._bars.advance(self._task, count)
            if speed := self._bars.tasks[-1].speed:
                self._bars.update(self._task, rate=f"{speed:,.0f}/s")

    def message(self, text: str) -> None:
        self._bars.console.print(text, soft_wrap=True)

    def close(self) -> None:
        if self._task is not None:
            self._bars.remove_task(self._task)
            self._task = None
            self._bars.stop()


class PlainProgress(Progress):
    """A line when a stage begins, one now and then while it runs, and one at its end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._name = self._unit = ""
        self._total = self._done = 0
        self._began = self._last = 0.0

    def stage(self, name: str, total: int, unit: str) -> None:
        self.close()
        self._name, self._total, self._unit, self._done = name, total, unit, 0
        self._began = self._last = time.monotonic()
        self.message(f"{name}: {total:,} {unit}" if total else name)

    def advance(self, count: int) -> None:
        self._done += count
        now = time.monotonic()
        if self._name and now - self._last >= EVERY:
            self._last = now
            rate = self._done / max(now - self._began, 1e-9)
            left = self._total - self._done
            pace = f", {rate:,.1f}/s, {left / rate:,.0f} s left" if rate > 0 and left > 0 else ""
            self.message(f"{self._name}: {self._done:,} of {self._total:,} {self._unit}{pace}")

    def message(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def close(self) -> None:
        took = time.monotonic() - self._began
        if self._name and took >= EVERY:
            self.message(f"{self._name} took {took:.0f} s")
        self._name = ""
