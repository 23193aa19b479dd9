"""Reads a generation from disk again, beside the queries, once its files were written anew.

A reader that only follows would hold the old files for ever, and what it added to them in memory.

Touches: index (reads).
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from notehop.config.errors import IndexDamaged, IndexMissing, NotehopError
from notehop.indexing.stores import table_files
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.reader_holdings import Holdings
from notehop.indexing.stores.reader_vectors import is_anew

Load = Callable[[CatalogSnapshot], Holdings]
"""Reads the generation of a view from disk."""


class Renewal:
    """At most one reading at a time. Threads may share it."""

    def __init__(self, layout: IndexLayout, load: Load) -> None:
        self._layout = layout
        self._load = load
        self._turn = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ready: Holdings | None = None

    def begin_if_due(self, held: Holdings, view: CatalogSnapshot) -> None:
        """Begin to read, if the large files of what is held were written anew since."""
        tables = {"chunks": held.chunk_vectors, "links": held.link_vectors}
        for name, table in tables.items():
            try:
                said = table_files.read_manifest(self._layout.vectors, name)
            except (IndexMissing, IndexDamaged):
                continue
            if said.stamp == held.stamp and is_anew(said, table):
                self._begin(view.reopened)
                return

    def taken(self, view: CatalogSnapshot) -> Holdings | None:
        """What was read, once, if it is of the view's generation or of one before."""
        ready = self._ready
        if ready is None or ready.generation > view.generation:
            return None
        self._ready = None
        return ready if ready.stamp == view.stamp else None

    def wait(self) -> None:
        """Return when nothing is being read."""
        with self._turn:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _begin(self, reopened: Callable[[], CatalogSnapshot]) -> None:
        with self._turn:
            if self._ready is not None or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(
                target=self._work, args=(reopened,), name="notehop-renewal", daemon=True
            )
            self._thread.start()

    def _work(self, reopened: Callable[[], CatalogSnapshot]) -> None:
        try:
            view = reopened()
        except NotehopError:
            return  # The next generation begins again.
        try:
            held = self._load(view)
        except NotehopError:
            return
        finally:
            view.close()
        # What lacks something is no better than what is held.
        self._ready = None if held.warnings else held
