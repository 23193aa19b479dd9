"""Whether a note may still be sent.

Touches: vault-read, index (reads).
"""

from __future__ import annotations

from pathlib import Path

from notehop.config.errors import NotehopError
from notehop.config.settings import VaultSettings
from notehop.indexing.changes import scan
from notehop.indexing.reading import read_note
from notehop.indexing.stores.catalog_read import CatalogReads
from notehop.indexing.stores.model import NoteStatus


def still_there(
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
