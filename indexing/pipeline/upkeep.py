"""What is made from the catalog: brought up to it at the end of a run, made anew where it was harmed.

All raise IndexUnwritable if the disk refuses.
"""

from __future__ import annotations

from notehop.config.errors import IndexDamaged
from notehop.indexing import faults
from notehop.indexing.embed.onnx_model import MANIFEST_FILE, read_manifest
from notehop.indexing.stores.caches import bring_up_to_date, forget_withdrawn
from notehop.indexing.stores.catalog import Catalog, CatalogState
from notehop.indexing.stores.chroma import remove_mirror
from notehop.indexing.stores.database import REBUILD
from notehop.indexing.stores.layout import IndexLayout, unwritable
from notehop.indexing.stores.model import Limits


def check_catalog(catalog: Catalog, state: CatalogState | None) -> None:
    """Look at every row of a catalog whose files are other than a run left them; IndexDamaged if it is
    not sound, or does not know what it knew.
    """
    with catalog.snapshot() as view:
        generation, stamp = view.generation, view.stamp
    catalog.verify()
    if state is not None and stamp == state.stamp and generation < state.generation:
        raise IndexDamaged(
            f"{catalog.label}: the index has lost what was written after generation "
            f"{generation} of {state.generation}; {REBUILD}"
        )


def lacks_query_model(layout: IndexLayout) -> bool:
    """Whether the model that was exported for queries is not as it was written; it is forgotten then."""
    if layout.model.is_file():
        layout.remove(layout.model)
    manifest = read_manifest(layout.model)
    if manifest is not None and manifest.is_sound(layout.model):
        return False
    layout.remove(layout.model / MANIFEST_FILE)
    faults.point("export.json-removed")
    return True


def withdraw(layout: IndexLayout) -> None:
    """Say, before it is committed, that a note is withdrawn: :func:`derive` writes all anew then."""
    try:
        layout.purge_mark.touch()
    except OSError as exc:
        raise unwritable(layout.root, exc) from exc
    faults.point("purge-mark-set")


def derive(layout: IndexLayout, catalog: Catalog, *, everything: bool, limits: Limits) -> None:
    """At the end of a run: bring what is derived up to the notes; IndexDamaged if the catalog cannot be
    read.

    :param everything: look at all of the words, and write them anew where they are damaged.
    """
    withdrawn = layout.purge_mark.exists()
    if withdrawn:
        remove_mirror(layout)
    bring_up_to_date(layout, catalog, thorough=withdrawn, verify=everything, limits=limits)
    try:
        if withdrawn:
            # First: from here on the journal alone may hold their words.
            layout.journal_mark.touch()
            layout.purge_mark.unlink(missing_ok=True)
        forget_withdrawn(layout, catalog)
    except OSError as exc:
        raise unwritable(layout.root, exc) from exc
    if withdrawn:
        faults.point("purge-mark-cleared")
