"""Puts an index that was made beside the one in force in its place, or finishes doing so.

A rebuild works in :attr:`IndexLayout.next`, so that the old index answers until the new one is
whole. Two marks in that folder make the exchange something a crash cannot break: ``ready`` says
that the new index is whole, ``cleared`` that nothing of the old one is left.

Touches: index; the caller holds the writer lock.
"""

from __future__ import annotations

import shutil

from indexing.stores.layout import IndexLayout, unwritable

READY = "ready"
CLEARED = "cleared"


def replace_index(layout: IndexLayout) -> None:
    """Put the whole, closed index at ``layout.next`` in the place of the one at ``layout``.

    :raises IndexUnwritable: if the disk refuses; :func:`finish_replacement` goes on from there.
    """
    try:
        (layout.next.root / READY).touch()
    except OSError as exc:
        raise unwritable(layout.root, exc) from exc
    finish_replacement(layout)


def finish_replacement(layout: IndexLayout) -> None:
    """Finish an exchange that was cut off; remove a new index that was never whole.

    :raises IndexUnwritable: if the disk refuses.
    """
    new = layout.next
    ready, cleared = new.root / READY, new.root / CLEARED
    try:
        if ready.exists():
            layout.clear()
            ready.rename(cleared)
        if cleared.exists():
            for name in ("chroma", "vectors", "lexical", "model", "catalog_files"):
                found = getattr(new, name)
                for path in found if isinstance(found, tuple) else (found,):
                    if path.exists():
                        path.rename(layout.root / path.name)
        if new.root.exists():
            shutil.rmtree(new.root)
    except OSError as exc:
        raise unwritable(layout.root, exc) from exc
