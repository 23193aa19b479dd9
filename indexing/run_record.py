"""What the last run over an index did, kept beside it for `status`: information, no part of it."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass

from notehop.config.errors import NotehopError
from notehop.indexing.report import Update
from notehop.indexing.stores.layout import IndexLayout, read_json, replace_file


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord(Update):
    """A run that ended. ``started`` and ``ended`` are in seconds since the epoch.

    ``command`` is as a person types it (``notehop index``). ``error`` is the message that the run
    failed with: the counts are then those of what it got done, and ``generation`` is 0 where it had
    not read that. Warnings are left out: they name notes.
    """

    started: float
    ended: float
    command: str
    error: str | None = None


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


def record_run(
    layout: IndexLayout,
    command: str,
    started: float,
    done: Update,
    error: NotehopError | None = None,
) -> None:
    """Record a run that ends now.

    :param command: what people know the writer by.
    :param started: in seconds since the epoch.
    :param error: what it failed with.
    """
    about = {**asdict(done), "warnings": (), "started": started, "ended": time.time()}
    said = None if error is None else str(error)
    write_run_record(layout, RunRecord(**about, command=command, error=said))
