"""What becomes of notes that changed since they were indexed.

Touches: index (reads ``watcher.json``).
"""

from __future__ import annotations

from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.watch.state import read_watch_state

INDEX_THEM = "run: notehop index"
"""Nobody follows the vault."""

BEING_INDEXED = "indexing is under way"
"""A server or ``notehop index --watch`` does."""

IN_THE_WAY = "notehop status says why not"
"""So it does, but something is in the way."""


def remedy(layout: IndexLayout) -> str:
    """Say who indexes what changed, or how to have it done."""
    watcher = read_watch_state(layout)
    if watcher is None:
        return INDEX_THEM
    return BEING_INDEXED if watcher.state in ("indexing", "following") else IN_THE_WAY
