"""Who writes an index at this moment.

Touches: index (reads; takes the writer lock for a moment where a writer left its note behind).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from notehop.config.errors import IndexLocked, IndexUnwritable
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lock import WriterLock


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that writes an index; ``since`` is a time as ISO 8601 has it."""

    pid: int
    host: str
    command: str
    since: str


def read_holder(layout: IndexLayout) -> Holder | None:
    """The process that holds the writer lock; None if none does.

    Without a note of a writer the lock is left alone: taking it, even for a moment, would turn away
    a writer that starts just then. With one, only the lock tells whether its writer still lives.
    """
    said = _said(layout)
    if said is None:
        return None
    try:
        with WriterLock(layout, "notehop status"):
            return None
    except (IndexLocked, IndexUnwritable):
        # Where the lock cannot be tried, the note is all there is to go by.
        return said


def _said(layout: IndexLayout) -> Holder | None:
    try:
        says: Any = json.loads(layout.lock_holder.read_bytes())
        return Holder(int(says["pid"]), str(says["host"]), str(says["command"]), str(says["since"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
