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
    not read that. ``losses`` are those of the last minutes, this run's among them: when it ended, and
    notes deleted less those added. Warnings are left out: they name notes.
    """

    started: float
    ended: float
    command: str
    error: str | None = None
    losses: Annotated[tuple[tuple[float, int], ...], Field(exclude=True)] = ()


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


def lost_lately(record: RunRecord | None, now: float) -> int:
    """Notes that the runs of the last minutes forgot, less those that came since.

    What went here and came there is so no loss. Notes added before make no room for deletions, and
    what was made private or excluded is still there.
    """
    lost = 0
    for _, more in losses_at(record, now):
        lost = max(0, lost + more)
    return lost


def losses_at(record: RunRecord | None, now: float) -> tuple[tuple[float, int], ...]:
    """The losses of a record that count still."""
    return () if record is None else tuple(one for one in record.losses if now - one[0] < LATELY)


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
    losses = losses_at(before, ended)
    if isinstance(error, MassDeletion):
        # Where more is refused, to wait and try again makes it no less.
        losses = ((ended, lost_lately(before, ended)),)
    elif done.deleted != done.added and not allow_mass_delete:
        losses = (*losses, (ended, done.deleted - done.added))
    about = {**asdict(done), "warnings": (), "started": started, "ended": ended}
    said = None if error is None else str(error)
    write_run_record(layout, RunRecord(**about, command=command, error=said, losses=losses))
