"""What was written about notes that left the index leaves with them.

Touches: index (reads; ``enrichment.sqlite``: writes).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from notehop.config.errors import IndexFailure
from notehop.indexing.enrich.store import EnrichmentStore
from notehop.indexing.stores.catalog_read import CatalogReads
from notehop.indexing.stores.model import NoteRow, NoteStatus
from notehop.indexing.vault.walk import outermost

LOST = "could not be read and is made anew; what was written about the notes is lost"


def let_go(path: Path, catalog: CatalogReads, within: Iterable[str] | None) -> list[str]:
    """Delete what was written about notes that are not in the index, bytes included.

    A note that was moved keeps it: its content stands at another path now. A crash before this is
    done leaves the mark of the sweep, and the next run looks at all notes.

    :param path: of the store.
    :param within: paths at or below which notes may have left; None is all.
    :returns: what the owner of the notes should know.
    """
    if not path.is_file():
        return []
    try:
        with EnrichmentStore.open(path) as store:
            if store.made_anew:
                return [f"{path}: {LOST}"]
            roots = None if within is None else outermost(within)
            known = store.paths(None if roots is not None and "" in roots else roots)
            standing = catalog.notes_at(known)
            gone = {path for path in known if not _indexed(standing.get(path))}
            if gone:
                _let_go(store, catalog, gone)
            if (gone or store.unfolded) and not store.fold() and gone:
                return [
                    f"{path}: what was written about notes that left stands in its journal, since "
                    "somebody reads it; the next run empties that"
                ]
    except IndexFailure as exc:
        return [f"what was written about notes that left is still there: {exc}"]
    return []


def _let_go(store: EnrichmentStore, catalog: CatalogReads, gone: set[str]) -> None:
    hashes = store.note_hashes(gone)
    known = catalog.paths_by_content_hash(set(hashes.values()))
    rows = catalog.notes_at(path for paths in known.values() for path in paths)
    for old in sorted(gone):
        for new in known.get(hashes.get(old, ""), ()):
            if _indexed(rows.get(new)):
                store.move(old, new)
                break
    store.forget(gone)


def _indexed(note: NoteRow | None) -> bool:
    return note is not None and note.status is NoteStatus.INDEXED
