"""What the last run over an index did, kept beside it for `status`: information, no part of it."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Annotated

from pydantic import Field

from notehop.config.errors import MassDeletion, NotehopError
from notehop.indexing.report import Update
from notehop.indexing.stores.layout import IndexLayout, read_json, replace_file

LATELY = 600.0
"""Seconds for which the deletions of several runs count together: a sync tool or a disk that goes
takes minutes over a large vault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord(Update):
    """A run that ended. ``started`` and ``ended`` are in seconds since the epoch.

    ``command`` is as a person types it (``notehop index``). ``error`` is the message that the run
    failed with: the counts are then those of what it got done, and ``generation`` is 0 where it had
    not read that. ``peak`` is when the index last had the most notes of the last minutes, and how many
    those were. Warnings are left out: they name notes.
    """

    started: float
    ended: float
    command: str
    error: str | None = None
    peak: Annotated[tuple[float, int], Field(exclude=True)] = (0.0, 0)


def write_run_record(layout: IndexLayout, record: RunRecord) -> None:
    """Replace the record; if the disk refuses, the one before stays, and nobody is told.

    A folder that is not marked as an index is left alone.
    """
    if layout.marker.is_file():
        with suppress(OSError):
            replace_file(layout.run_record, json.dumps(asdict(record), indent=1))


def read_run_record(layout: IndexLayout) -> RunRecord | None:
    """The record; None if there is none, or if it cannot be read."""
    return read_json(RunRecord, layout.run_record)


def failed_before(layout: IndexLayout) -> bool:
    record = read_run_record(layout)
    return record is not None and record.error is not None


def notes_lately(record: RunRecord | None, now: float) -> int:
    """How many notes the index had at the most in the last minutes; 0 for not known."""
    return record.peak[1] if record is not None and now - record.peak[0] < LATELY else 0


def record_run(
    layout: IndexLayout,
    command: str,
    started: float,
    allow_mass_delete: bool,
    done: Update,
    error: NotehopError | None = None,
) -> None:
    """Record a run that ends now.

    :param command: what people know the writer by.
    :param started: in seconds since the epoch.
    :param allow_mass_delete: whether the deletions so far are allowed, and are forgotten.
    :param error: what it failed with.
    """
    ended = time.time()
    before = None if allow_mass_delete else read_run_record(layout)
    most = done.notes if allow_mass_delete else max(done.notes, done.notes_before)
    peak = ended, most
    if before is not None and (known := notes_lately(before, ended)) > most:
        # Where more is refused, to wait and try again makes it no less.
        peak = ended if isinstance(error, MassDeletion) else before.peak[0], known
    about = {**asdict(done), "warnings": (), "started": started, "ended": ended}
    said = None if error is None else str(error)
    write_run_record(layout, RunRecord(**about, command=command, error=said, peak=peak))
