"""Notes that are gone, private or changed: they are not sent, and what was written about them goes.

Touches: vault-read, index (reads; ``enrichment.sqlite``: writes).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from notehop.config.errors import IndexFailure, NotehopError
from notehop.config.settings import VaultSettings
from notehop.indexing.changes import scan
from notehop.indexing.enrich.store import EnrichmentStore
from notehop.indexing.stores.catalog_read import CatalogReads
from notehop.indexing.stores.model import NoteRow, NoteStatus
from notehop.indexing.vault.parse import read_note
from notehop.indexing.vault.walk import top_level


def is_unchanged(
    vault: Path, settings: VaultSettings, catalog: CatalogReads, path: str, content_hash: str
) -> bool:
    """Whether a note is in the index, and on the disk, with the content that it had.

    One that was made private or excluded a moment ago is not.
    """
    row = catalog.note(path)
    if row is None or row.status is not NoteStatus.INDEXED or row.content_hash != content_hash:
        return False
    try:
        found = scan(vault, settings, within=[path]).files
    except NotehopError:
        return False
    file = next((one for one in found if one.path == path), None)
    if file is None or file.excluded is not None:
        return False
    read = read_note(vault, file, content_hash, comment_links=settings.comment_links)
    return read.problem is None and read.note is None


LOST = "could not be read and is made anew; what was written about the notes is lost"


def delete_orphans(path: Path, catalog: CatalogReads, within: Iterable[str] | None) -> list[str]:
    """Delete what was written about notes that are not in the index, bytes included.

    A note that was moved keeps it: its content stands at another path now. A crash before this is
    done is seen by the next run, which looks at all notes.

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
            roots = None if within is None else top_level(within)
            known = store.paths(None if roots is not None and "" in roots else roots)
            standing = catalog.notes_at(known)
            gone = {path for path in known if not _is_indexed(standing.get(path))}
            if gone:
                store.delete_notes(gone, _moved(store.note_hashes(gone), catalog))
            if not store.checkpoint() and gone:
                return [
                    f"{path}: what was written about notes that left stands in its journal, since "
                    "somebody reads it; the next run empties that"
                ]
    except IndexFailure as exc:
        return [f"what was written about notes that left is still there: {exc}"]
    return []


def _moved(hashes: Mapping[str, str], catalog: CatalogReads) -> dict[str, str]:
    """Old path -> an indexed one of the same content, where there is one."""
    known = catalog.paths_by_content_hash(set(hashes.values()))
    rows = catalog.notes_at(path for paths in known.values() for path in paths)
    found = {
        old: next((new for new in known.get(hash_, ()) if _is_indexed(rows.get(new))), None)
        for old, hash_ in hashes.items()
    }
    return {old: new for old, new in found.items() if new is not None}


def _is_indexed(note: NoteRow | None) -> bool:
    return note is not None and note.status is NoteStatus.INDEXED
