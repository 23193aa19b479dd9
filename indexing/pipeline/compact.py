"""Gives back the room that replaced vectors took in the vector store, which never does by itself.

Touches: index (reads and writes; under the writer lock).
"""

from __future__ import annotations

from collections.abc import Callable

from notehop.indexing import faults
from notehop.indexing.pipeline.sweep import Sweep
from notehop.indexing.stores import heal
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.vectors import Vectors, elements

_SPARE = 10_000
"""Vectors that may be left over whatever the living are: 16 MB, and to write so many takes 10 s."""


def compact(layout: IndexLayout, catalog: Catalog, open_store: Callable[[], Vectors]) -> bool:
    """Write the vector store anew from the catalog, if most of what it holds is left over.

    A crash in the middle leaves a mark, and the next run puts back what is missing.

    :param open_store: opens the store, which is not open yet.
    :returns: whether it was done.
    :raises IndexUnwritable: if the disk refuses.
    """
    room = elements(layout.chroma)
    if room <= _SPARE or room <= 2 * catalog.vectors_at_most() + _SPARE:
        return False
    with catalog.snapshot() as view:
        sweep = Sweep(layout.sweep_mark)
        sweep.begin()
        with sweep.writing():
            heal.remove_store(layout)
            with open_store() as store:
                heal.refill(view, store)
                faults.point("store-compacted")
        sweep.end()
    return True
