"""Puts an index that was made beside the one in force in its place, or finishes doing so.

A rebuild works in :attr:`IndexLayout.next`, so that the old index answers until the new one is
whole. Two marks in that folder make the exchange something a crash cannot break: ``ready`` says
that the new index is whole, ``cleared`` that nothing of the old one stands in its way. Between them
everything is a rename; what takes time, the deleting, comes last. A catalog on a server is put in
force first, by the server; what is derived from it and was lost in a crash is made again.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

from notehop.config.errors import IndexLocked, IndexUnwritable, UsageError
from notehop.indexing import faults
from notehop.indexing.stores.layout import IndexLayout, unwritable
from notehop.indexing.stores.lock import WriterLock

READY = "ready"
CLEARED = "cleared"

_PATIENCE = 5.0
"""Seconds a reader waits for an exchange: renames, which take milliseconds."""

_POLL = 0.02


def replace_index(layout: IndexLayout) -> None:
    """Put the whole, closed index at ``layout.next`` in the place of the one at ``layout``.

    The caller holds the writer lock.

    :raises IndexUnwritable: if the disk refuses; :func:`finish_replacement` goes on from there.
    """
    if layout.database is not None:
        from notehop.indexing.stores.served.postgres import put_in_force

        put_in_force(layout.database)
        faults.point("rebuild-catalog-in-force")
    new = layout.next.root
    try:
        if sys.platform != "win32":
            # Let all files reach the disk before the mark that calls them whole.
            for path in (*new.rglob("*"), new):
                handle = os.open(path, os.O_RDONLY)
                os.fsync(handle)
                os.close(handle)
        (new / READY).touch()
    except OSError as exc:
        raise unwritable(layout.root, exc) from exc
    faults.point("rebuild-ready")
    finish_replacement(layout)


def finish_replacement(layout: IndexLayout) -> None:
    """Finish an exchange that was cut off; remove a new index that was never whole.

    What is not ours stays: nothing is removed from a folder that is not marked as an index. The
    caller holds the writer lock.

    :raises UsageError: if an index was made beside what is none.
    :raises IndexUnwritable: if the disk refuses.
    """
    new, old = layout.next, layout.replaced
    ready, cleared = new.root / READY, new.root / CLEARED
    try:
        if ready.exists():
            if not layout.marker.is_file():
                raise UsageError(
                    f"{layout.root}: is not an index of notehop, so nothing is replaced there; "
                    "name another folder with --index-dir"
                )
            old.root.mkdir(exist_ok=True)
            old.marker.touch()
            # The catalog first: without it the rest is no index, and nobody reads half of it.
            for path in layout.contents:
                _move(path, old.root / path.name)
            ready.rename(cleared)
            faults.point("rebuild-cleared")
        if cleared.exists():
            # And last.
            for path in reversed(new.contents):
                _move(path, layout.root / path.name)
            faults.point("rebuild-moved")
        if layout.database is not None:
            from notehop.indexing.stores.served.postgres import remove_replaced

            remove_replaced(layout.database)
        _remove(new)
        _remove(old)
    except OSError as exc:
        raise unwritable(layout.root, exc) from exc


def settle(layout: IndexLayout, *, finish: bool = True) -> None:
    """Before reading: wait for an exchange that is under way, finish one whose process died.

    Whatever stands in the way of that is left to who reads.

    :param finish: False only waits, for who writes nothing.
    """
    until = time.monotonic() + _PATIENCE
    marks = (layout.next.root / READY, layout.next.root / CLEARED)
    while any(mark.exists() for mark in marks):
        try:
            if finish:
                with WriterLock(layout, "notehop, finishing a rebuild"):
                    finish_replacement(layout)
                    continue
        except IndexLocked:
            pass
        except IndexUnwritable:
            return
        if time.monotonic() > until:
            return
        time.sleep(_POLL)


def _move(path: Path, to: Path) -> None:
    if not path.exists():
        return
    if to.exists():
        # Of an exchange that was cut off, and made again by who came between.
        shutil.rmtree(to) if to.is_dir() else to.unlink()
    path.rename(to)
    faults.point(f"rebuild-{path.name}-moved")


def _remove(layout: IndexLayout) -> None:
    """Remove a folder that is marked as an index, the mark last; or one that is empty."""
    if not layout.root.is_dir():
        return
    if layout.marker.is_file():
        for path in sorted(layout.root.iterdir()):
            if path.is_dir():
                shutil.rmtree(path)
            elif path != layout.marker:
                path.unlink()
        faults.point(f"rebuild-{layout.root.name}-emptied")
        layout.marker.unlink()
    if not any(layout.root.iterdir()):
        layout.root.rmdir()
        faults.point(f"rebuild-{layout.root.name}-removed")
