"""Leaves a record of each run: what it did, or why it failed, and how many notes went lately.

Touches: index (the run record).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from notehop.config.errors import MassDeletion, NotehopError
from notehop.indexing.report import Update
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.run_record import (
    RunRecord,
    losses_at,
    lost_lately,
    read_run_record,
    write_run_record,
)


@contextmanager
def recorded(
    layout: IndexLayout,
    command: str,
    so_far: Callable[[], Update],
    *,
    allow_mass_delete: bool,
) -> Iterator[Callable[[Update], None]]:
    """Give what records the run of the block; one that fails is recorded by itself.

    :param command: what people know the writer by.
    :param so_far: what a run did that fails.
    :param allow_mass_delete: whether the deletions so far are allowed, and are forgotten.
    """
    record = partial(_record, layout, command, time.time(), allow_mass_delete)
    try:
        yield record
    except NotehopError as exc:
        record(so_far(), exc)
        raise


def _record(
    layout: IndexLayout,
    command: str,
    started: float,
    allow_mass_delete: bool,
    done: Update,
    error: NotehopError | None = None,
) -> None:
    ended = time.time()
    before = None if allow_mass_delete else read_run_record(layout)
    losses = losses_at(before, ended)
    if isinstance(error, MassDeletion):
        # Where more is refused, to wait and try again makes it no less.
        losses = ((ended, lost_lately(before, ended)),)
    elif done.deleted != done.added and not allow_mass_delete:
        losses = (*losses, (ended, done.deleted - done.added))
    write_run_record(
        layout,
        RunRecord(
            started=started,
            ended=ended,
            command=command,
            generation=done.generation,
            added=done.added,
            changed=done.changed,
            moved=done.moved,
            deleted=done.deleted,
            unchanged=done.unchanged,
            embedded=done.embedded,
            seconds=dict(done.seconds),
            error=None if error is None else str(error),
            losses=losses,
        ),
    )
