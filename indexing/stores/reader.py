"""Reading an index for searching: the newest generation, opened once and kept up with.

Touches: index (reads; the writer lock for moments, to empty the journal of withdrawn notes).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from notehop.config.errors import IndexMissing, NotehopError
from notehop.indexing.stores.catalog import Catalog, CatalogSnapshot, fold_withdrawn
from notehop.indexing.stores.catalog_engine import went_back
from notehop.indexing.stores.catalog_state import read_catalog_state, write_catalog_state
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.stores.limits import LIMITS, Limits
from notehop.indexing.stores.lock import WriterLock
from notehop.indexing.stores.reader_fingerprint import check_fingerprint
from notehop.indexing.stores.reader_holdings import Holdings, Ranking, advance, load
from notehop.indexing.stores.reader_renewal import Renewal
from notehop.indexing.stores.reader_snapshot import Snapshot
from notehop.indexing.stores.replacement import settle
from notehop.indexing.stores.table import VectorTable

if TYPE_CHECKING:
    pass

__all__ = ["Ranking", "Reader", "Snapshot"]

_ATTEMPTS = 1_000
"""Views in a row that other threads may be past: more, and the catalog is older than it was."""


class Reader:
    """An index opened for searching. Threads may share it."""

    def __init__(
        self,
        layout: IndexLayout,
        expected: Mapping[str, Any] | None,
        ranking: Ranking,
        catalog_at: Path | str,
        limits: Limits = LIMITS,
    ) -> None:
        self.layout = layout
        self._expected = expected
        self._ranking = ranking
        self._catalog_at = catalog_at
        self._limits = limits
        self._turn = threading.Lock()
        self._renewal = Renewal(layout, lambda view: load(layout, view, ranking, limits))
        self._catalog, self._holdings = self._opened()

    @classmethod
    def open(
        cls,
        layout: IndexLayout,
        expected: Mapping[str, Any] | None = None,
        *,
        ranking: Ranking | None = None,
        catalog: Path | str | None = None,
        limits: Limits = LIMITS,
    ) -> Self:
        """Open the newest generation.

        :param expected: the fingerprint that the settings ask for; keys that are absent or None may
            be anything. None checks nothing.
        :param ranking: of the lexical index; None for its own defaults.
        :param catalog: path or URL of the catalog; None for the one of the layout.
        :raises IndexMissing: if nothing was indexed yet.
        :raises IndexMismatch: if the index was built with other settings, or in another format.
        :raises IndexDamaged: if it cannot be read.
        """
        at = layout.catalog if catalog is None else catalog
        return cls(layout, expected, ranking or Ranking(), at, limits)

    def snapshot(self) -> Snapshot:
        """The newest generation, to be held for one query.

        :raises IndexMissing: while the index is made anew.
        :raises IndexMismatch: if it was made anew with other settings.
        :raises IndexDamaged: if it cannot be read, or an older copy of it stands there.
        """
        for _ in range(_ATTEMPTS):
            with self._turn:
                self._follow()
                catalog = self._catalog
            view = catalog.open_snapshot()
            try:
                with self._turn:
                    held = self._held_for(catalog, view)
                if held is not None:
                    return self._seen(held, view)
            except BaseException:
                view.close()
                raise
            # Meanwhile another thread went on to a still later generation: look at that.
            view.close()
        raise went_back(catalog.label, view.generation)

    def refresh(self) -> bool:
        """Go to the newest generation; whether it is another one, or lacks less, than before."""
        with self._turn:
            before = self._holdings
        self.snapshot().close()
        with self._turn:
            now = self._holdings
        # Holdings may be put in other files meanwhile, which is no news.
        said = (now.stamp, now.generation, now.warnings)
        return said != (before.stamp, before.generation, before.warnings)

    def wait(self) -> None:
        """Return when nothing that queries do not wait for is being worked out."""
        self._renewal.wait()
        self._holdings.derived.ranks.wait()

    def close(self) -> None:
        """Let go of the index. Snapshots that are still held stay readable."""
        self.wait()
        self._catalog.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def generation(self) -> int:
        """The generation that was read last."""
        return self._holdings.generation

    @property
    def catalog(self) -> Catalog:
        """The catalog, read-only; it may be a generation ahead."""
        return self._catalog

    @property
    def chunk_vectors(self) -> VectorTable:
        """The vectors of chunks of the generation that was read last."""
        return self._holdings.chunk_vectors

    @property
    def link_vectors(self) -> VectorTable:
        """The vectors of link sentences of the generation that was read last."""
        return self._holdings.link_vectors

    @property
    def lexical(self) -> LexicalIndex:
        """The lexical index."""
        return self._holdings.lexical

    @property
    def pagerank(self) -> Mapping[str, float]:
        """PageRank by path in the newest generation."""
        with self.snapshot() as snapshot:
            return snapshot.exact_pagerank

    def _seen(self, held: Holdings, view: CatalogSnapshot) -> Snapshot:
        """What queries see of a generation; a reader for measuring shows less."""
        return Snapshot(held, view)

    def _opened(self) -> tuple[Catalog, Holdings]:
        self.layout.close_to_others()
        settle(self.layout)
        catalog = Catalog.open(self._catalog_at, read_only=True)
        catalog.snapshot_ended = self._forget_withdrawn
        try:
            with catalog.snapshot() as view:
                self._check(view)
                held = load(self.layout, view, self._ranking, self._limits)
            self._check_newest(catalog, held)
            return catalog, held
        except BaseException:
            catalog.close()
            raise

    def _forget_withdrawn(self) -> None:
        """Let no word of a withdrawn note outlast the query that was in the way of its leaving."""
        if not self.layout.journal_mark.exists():
            return
        # Where the folder cannot be written, all was deleted, or a run is under way, that run or the
        # next one does it.
        lock = WriterLock(self.layout, "notehop, emptying the journal")
        with suppress(NotehopError, OSError), lock:
            state = read_catalog_state(self.layout)
            whole = state is not None and state.fits(self.layout)
            with Catalog.open(self._catalog_at) as catalog:
                fold_withdrawn(catalog, self.layout.journal_mark)
            if state is not None and whole:
                # The file has other bytes now, and is as whole as before.
                write_catalog_state(self.layout, state.generation, state.stamp)

    def _check(self, view: CatalogSnapshot) -> None:
        if view.fingerprint is None:
            raise IndexMissing(f"{self.layout.root}: nothing is indexed yet; run: notehop index")
        if self._expected is not None:
            check_fingerprint(view.fingerprint, self._expected)

    def _check_newest(self, catalog: Catalog, held: Holdings) -> None:
        state = read_catalog_state(self.layout)
        if state is None or state.stamp != held.stamp or state.generation <= held.generation:
            return
        # A writer came between, or an older copy of the catalog stands there.
        with catalog.snapshot() as view:
            if view.generation < state.generation:
                raise went_back(catalog.label, view.generation)

    def _follow(self) -> None:
        """Open the catalog anew if it was made anew."""
        if self._catalog.replaced:
            old = self._catalog
            self._catalog, self._holdings = self._opened()
            old.close()

    def _held_for(self, catalog: Catalog, view: CatalogSnapshot) -> Holdings | None:
        """The holdings, brought to the view's generation; None if they are past it."""
        if catalog is not self._catalog:
            return None
        if (renewed := self._renewal.taken(view)) is not None:
            self._holdings = replace(renewed, derived=self._holdings.derived)
        held = self._holdings
        same = view.stamp == held.stamp
        if same and view.generation < held.generation:
            return None
        if same and view.generation == held.generation:
            return held
        if not same:
            self._check(view)
        self._holdings = advance(held, self.layout, view, self._ranking, self._limits)
        self._renewal.begin_if_due(self._holdings, view)
        return self._holdings
