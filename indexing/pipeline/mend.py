"""Before a run: makes whole what a crash, a disk or a person has harmed, as far as it is derived.

Touches: index (reads and writes); processes, to try a vector store that may be broken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from notehop.config.errors import IndexDamaged
from notehop.indexing import faults
from notehop.indexing.pipeline.sweep import Sweep
from notehop.indexing.stores import heal, lag
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.catalog_engine import REBUILD
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.probe import Probe
from notehop.indexing.stores.seal import Part, Seal
from notehop.indexing.stores.vectors import Vectors


@dataclass(frozen=True, slots=True)
class Mended:
    """What is left to the run.

    ``doorless``: the query door of the model has to be made again. ``told`` says what was harmed
    and mended, for people.
    """

    doorless: bool = False
    told: tuple[str, ...] = ()


def check_catalog(layout: IndexLayout, catalog: Catalog, seal: Seal | None) -> None:
    """Look at a catalog that is other than sealed: whether it is sound, and knows what it knew.

    Where a run of ours was cut off, its pages are looked at; where none was, every row too.

    :raises IndexDamaged: if not, with the command that makes the index anew.
    """
    generation = catalog.generation
    ours = layout.sweep_mark.exists() or (seal is not None and generation > seal.generation)
    catalog.verify(rows=not ours)
    if seal is None:
        return
    with catalog.snapshot() as view:
        if view.stamp == seal.stamp and view.generation < seal.generation:
            raise IndexDamaged(
                f"{catalog.label}: the index has lost what was written after generation "
                f"{view.generation} of {seal.generation}; {REBUILD}"
            )


def mend(
    layout: IndexLayout,
    catalog: Catalog,
    doubted: Mapping[Part, frozenset[str]],
    sweep: Sweep,
    vectors: Callable[[], Vectors],
    probe: Probe,
    dimensions: int,
) -> Mended:
    """Remove what is broken and put back what the catalog has.

    :param doubted: what is other than sealed (:func:`notehop.indexing.stores.seal.doubts`).
    :param vectors: opens the vector store, which is not open yet.
    :param probe: tries the vector store.
    :raises IndexUnwritable: if the disk refuses.
    """
    if not doubted and not sweep.due:
        return Mended()
    if catalog.generation == 0:
        # It is new: whatever lies there was derived from another one.
        sweep.begin()
        heal.remove_derived(layout)
        sweep.end()
        return Mended()
    heal.remove_what_is_no_folder(layout)
    told = [
        f"{layout.vectors}: the table of {name} was damaged and is made anew"
        for name in heal.remove_broken_parts(layout, doubted.get("vectors", ()))
    ]
    if "lexical" in doubted and heal.remove_broken_lexical(layout):
        told.append(f"{layout.lexical}: the lexical index was damaged and is made anew")
    doorless = "model" in doubted and heal.remove_broken_door(layout, doubted["model"])
    if doorless:
        told.append(f"{layout.model}: the query model was damaged and is made anew")
    if sweep.due or doubted.keys() - {"lexical", "model"}:
        sweep.begin()
        with sweep.writing():
            told += _tried(layout, catalog, probe, dimensions)
            store = vectors()
            with catalog.snapshot() as view:
                # What the store lags behind by is no harm, and not told of.
                lag.catch_up(layout, view, store)
                count = heal.refill(view, store)
            if count:
                told.append(f"{layout.chroma}: {count} vectors were put back from the catalog")
            faults.point("store-refilled")
            sweep.run(catalog, store)
            lag.clear_lag(layout)
    return Mended(doorless, tuple(told))


def _tried(layout: IndexLayout, catalog: Catalog, probe: Probe, dimensions: int) -> list[str]:
    """Remove the vector store if it cannot be used, and say so."""
    if not layout.chroma.is_dir():
        return []
    counts = catalog.counts()
    wrong = probe(layout, dimensions, counts.chunks + sum(counts.links.values()))
    if wrong is None:
        return []
    heal.remove_store(layout)
    return [f"{layout.chroma}: the vector store was damaged ({wrong}) and is made anew"]
