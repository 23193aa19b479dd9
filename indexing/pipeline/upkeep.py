"""What follows the notes: derived indexes on disk and the vector store, as far as it is due.

Touches: index (reads and writes; under the writer lock).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import cache

from notehop.config.errors import IndexDamaged
from notehop.indexing.pipeline.sweep import Sweep, fold_journal
from notehop.indexing.stores import lag
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.limits import LIMITS, Limits
from notehop.indexing.stores.reader_upkeep import Due, bring_up_to_date, upkeep_due
from notehop.indexing.stores.upkeep_due import lag_due
from notehop.indexing.stores.vectors import Vectors


def derive(
    layout: IndexLayout,
    catalog: Catalog,
    sweep: Sweep,
    vectors: Callable[[], Vectors],
    *,
    everything: bool,
    limits: Limits = LIMITS,
) -> None:
    """At the end of a run: bring what is derived up to the notes.

    :param vectors: opens the vector store.
    :param everything: do all that is due; else, after a change of some notes, what can wait does:
        readers catch up by themselves.
    :raises IndexDamaged: if the catalog lacks a vector.
    """
    withdrawn = sweep.withdrawn
    everything = everything or withdrawn
    if everything or upkeep_due(layout, catalog, limits) is Due.NOW:
        bring_up_to_date(layout, catalog, thorough=withdrawn, limits=limits)
    if everything or lag_due(layout, limits) is Due.NOW:
        catch_up(layout, catalog, sweep, vectors)
    fold_journal(layout, catalog, withdrawn=withdrawn)
    sweep.forgotten()


def tidy(layout: IndexLayout, catalog: Catalog, dimensions: int, limits: Limits = LIMITS) -> None:
    """In a quiet moment: do what is due and could wait.

    :raises IndexDamaged: if the catalog lacks a vector.
    """
    sweep = Sweep(layout.sweep_mark)
    try:
        with ExitStack() as opened:

            @cache
            def vectors() -> Vectors:
                sweep.begin()
                return opened.enter_context(Vectors.open(layout.chroma, dimensions))

            bring_up_to_date(layout, catalog, limits=limits)
            if lag_due(layout, limits):
                catch_up(layout, catalog, sweep, vectors)
    except IndexDamaged:
        sweep.distrust()
        raise
    finally:
        sweep.end()


def catch_up(
    layout: IndexLayout, catalog: Catalog, sweep: Sweep, vectors: Callable[[], Vectors]
) -> None:
    """Bring the vector store up to what small changes wrote to the catalog alone, if they did."""
    if not lag.read_lag(layout):
        return
    store = vectors()
    with sweep.writing():
        with catalog.snapshot() as view:
            lag.catch_up(layout, view, store)
        lag.clear_lag(layout)
