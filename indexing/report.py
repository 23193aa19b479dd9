"""What an index run tells: its progress while it works and its report at the end."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TextIO

from notehop.indexing.display import counted, on_one_line, printable


class Progress:
    """Where a run shows what it is doing; stages follow one another and do not nest. This one shows
    nothing."""

    def stage(self, name: str, total: int, unit: str) -> None:
        """Begin a stage of ``total`` units (0: unknown); ends the stage before it."""

    def advance(self, count: int) -> None:
        """Say that ``count`` more units are done."""

    def message(self, text: str) -> None:
        """Show one line that stays."""

    def close(self) -> None:
        """End the last stage."""


EVERY = 5.0  # seconds between two lines of one stage: a log should not fill with them
_REDRAWN = 0.2  # the same on a terminal, where a line is written over the one before


class TextProgress(Progress):
    """How far a stage is, with rate and remaining time: on a terminal one line, which goes when the stage
    is done; elsewhere a line when it begins, and one now and then."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """:param stream: None for standard error."""
        self._stream, self._name = stream or sys.stderr, ""
        self._terminal = self._stream.isatty()

    def stage(self, name: str, total: int, unit: str) -> None:
        self.close()
        self._name, self._total, self._unit, self._done = name, total, unit, 0
        self._began = self._last = time.monotonic()
        self._show(f"{name}: {total:,} {unit}" if total else name)

    def advance(self, count: int) -> None:
        if not self._name:
            return
        self._done += count
        now = time.monotonic()
        if now - self._last >= (_REDRAWN if self._terminal else EVERY):
            self._last = now
            rate = self._done / max(now - self._began, 1e-9)
            left = self._total - self._done
            pace = f", {rate:,.1f}/s, {left / rate:,.0f} s left" if rate > 0 and left > 0 else ""
            self._show(f"{self._name}: {self._done:,} of {self._total:,} {self._unit}{pace}")

    def message(self, text: str) -> None:
        if self._terminal:
            self._show("")
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def close(self) -> None:
        if self._name and self._terminal:
            self._show("")
        self._name = ""

    def _show(self, line: str) -> None:
        if not self._terminal:
            self.message(line)
            return
        width = 80
        with suppress(OSError, ValueError):
            width = os.get_terminal_size(self._stream.fileno()).columns or width
        # And nothing beyond it, which another writer or a wider window left.
        self._stream.write(f"\r{line[: width - 1]}\x1b[K\r")
        self._stream.flush()


@dataclass(frozen=True, slots=True)
class Update:
    """What a run did: see :class:`Report`. ``wrote`` says whether the generation is a new one."""

    generation: int
    wrote: bool
    notes: int
    added: int = 0
    changed: int = 0
    moved: int = 0
    deleted: int = 0
    warnings: tuple[str, ...] = ()
    embedded: int = 0
    seconds: float = 0.0

    @property
    def unchanged(self) -> int:
        """Notes that are in the index as they were before."""
        return self.notes - self.added - self.changed - self.moved


_NOUNS = {
    "summary": ("summary by the model", "summaries by the model"),
    "header": ("header of a passage", "headers of passages"),
}


def numbered(count: int, kind: str) -> str:
    """``1 header of a passage`` or ``12 summaries by the model``."""
    return f"{count:,} {_NOUNS[kind][count != 1]}"


@dataclass(slots=True)
class EnrichReport:
    """What a run did. ``written`` counts texts by kind, ``waiting`` are left for the next run,
    ``failed`` were asked for and not given. ``stopped`` says why the run did not do all there was.
    ``generation`` is the one that holds the headers, if any were put into the index."""

    written: dict[str, int] = field(default_factory=dict)
    waiting: int = 0
    failed: int = 0
    calls: int = 0
    tokens: int = 0
    stopped: str | None = None
    generation: int | None = None
    warnings: list[str] = field(default_factory=list)

    def warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)

    def lines(self) -> list[str]:
        """The report as a person reads it; none if there was nothing to do."""
        left = {"waiting": self.waiting, "failed": self.failed}
        done = [numbered(count, kind) for kind, count in self.written.items() if count]
        done += [f"{count:,} {name}" for name, count in left.items() if count]
        if not done:
            return []
        cost = f" ({counted(self.calls, 'request')}, {self.tokens:,} tokens)" if self.calls else ""
        return [f"  enrich {', '.join(done)}{cost}"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Update):
    """What a run did and what the index holds after it.

    ``added``, ``changed``, ``moved``, ``deleted`` and ``unchanged`` count notes; a moved note is
    not counted as added or deleted. ``skipped`` and ``failed`` hold (path, reason) of every note of
    the vault that is not in the index, sorted by path. ``warnings`` are of the notes read in this
    run. ``embedded`` counts texts that went through the model, ``seconds`` is wall time.
    ``links`` counts those of all indexed notes by status; ``ambiguous`` ones are resolved, to their
    first fit.
    """

    vault: str
    index_dir: str
    chunks: int
    skipped: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    links: Mapping[str, int] = field(default_factory=dict)
    advice: tuple[str, ...] = ()
    enrichment: EnrichReport | None = None

    def with_enrichment(self, done: EnrichReport) -> Report:
        """The report of a run after which a model wrote about the notes."""
        stopped = () if done.stopped is None else (f"enrichment stopped: {done.stopped}",)
        warnings = (*self.warnings, *done.warnings, *stopped)
        generation = done.generation or self.generation
        return replace(self, generation=generation, warnings=warnings, enrichment=done)

    def as_json(self) -> dict[str, Any]:
        """The report as plain values, for ``--json``."""
        values = asdict(self) | {"unchanged": self.unchanged}
        del values["wrote"]
        for name in ("skipped", "failed"):
            values[name] = [{"path": path, "reason": reason} for path, reason in values[name]]
        if self.enrichment is None:
            del values["enrichment"]
        values["seconds"] = round(self.seconds, 3)
        return values


_COUNTS = ("added", "changed", "moved", "deleted")

LISTED = 10  # reasons and warnings that are shown; ``--json`` has all of them


def report_lines(report: Report) -> list[str]:
    """What the run did, what the index holds now, and why each note left out was left out."""
    notes = {name: getattr(report, name) for name in (*_COUNTS, "unchanged")}
    notes |= {"skipped": len(report.skipped), "failed": len(report.failed)}
    return [
        f"{counted(report.notes, 'note')} in {counted(report.chunks, 'chunk')}, "
        f"generation {report.generation}, in {report.seconds:.1f} s",
        f"  notes  {_some(notes)}",
        f"  links  {_some(report.links)}",
        on_one_line(f"  index  {report.index_dir}"),
        *(() if report.enrichment is None else report.enrichment.lines()),
        *_reasons("skipped", report.skipped),
        *_reasons("failed", report.failed),
        *(on_one_line(f"  advice  {line}") for line in report.advice),
    ]


def warning_lines(report: Report) -> list[str]:
    """What the owner of the notes may want to mend, the first ones of it."""
    return _first(report.warnings, "warnings")


def _some(counts: Mapping[str, int], otherwise: str = "none") -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or otherwise


def _reasons(name: str, items: Iterable[tuple[str, str]]) -> list[str]:
    lines = _first([f"{name}  {path}: {reason}" for path, reason in items], name)
    return [f"  {line}" for line in lines]


def _first(lines: Sequence[str], name: str) -> list[str]:
    """The first of some lines, and how many more there are."""
    left = len(lines) - LISTED
    more = [f"and {left:,} more {name}; --json lists all"] if left > 0 else []
    return [*map(on_one_line, lines[:LISTED]), *more]


def news_line(news: Update | str) -> str:
    """What a follower did, or what is in its way: ``12:00:07 1 changed, 2 moved: 120 notes, …``."""
    if isinstance(news, Update):
        did = _some({name: getattr(news, name) for name in _COUNTS}, "files looked at")
        took = f"in {news.seconds:.2f} s"
        news = f"{did}: {news.notes:,} notes, generation {news.generation}, {took}"
    return f"{time.strftime('%H:%M:%S')} {printable(on_one_line(news))}"
