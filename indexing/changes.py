"""What differs between the vault as it was walked and the notes the catalog knows.

Touches: vault-read (:func:`scan`), index (reads).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from config.settings import VaultSettings
from indexing.stores.catalog_read import CatalogReads, FileStamp
from indexing.stores.model import NoteStatus
from indexing.vault.walk import FileEntry, Walk, read_ignore_filters, walk


@dataclass(frozen=True, slots=True)
class Changes:
    """Notes by what has to be done with them; every note of walk and catalog is in one of them.

    ``read``: new, or other in size or time. ``retry``: failed before, and looks the same now.
    ``unchanged``: nothing to do. ``skip``: a row with this reason has to be written. ``gone``: in
    the catalog only.
    """

    read: tuple[FileEntry, ...]
    retry: tuple[FileEntry, ...]
    unchanged: tuple[str, ...]
    skip: tuple[tuple[FileEntry, str], ...]
    gone: tuple[str, ...]

    @property
    def pending(self) -> int:
        """How many notes the index is behind; one that failed and looks the same is not."""
        return len(self.read) + len(self.skip) + len(self.gone)


def scan(vault: Path, settings: VaultSettings) -> Walk:
    """Walk a vault with the exclusions of its settings and of its app.

    :raises VaultError: if it is not there or cannot be listed.
    """
    return walk(vault, exclude=settings.exclude, ignore_filters=read_ignore_filters(vault))


def changes_since(
    catalog: CatalogReads,
    found: Walk,
    max_note_bytes: int,
    stamps: Mapping[str, FileStamp] | None = None,
) -> Changes:
    """Compare a walk with the catalog, by size and time: equal content is found after reading.

    :param stamps: what is known of each note, if the catalog was asked already.
    """
    skipped = catalog.notes(NoteStatus.SKIPPED)
    return compare(
        found,
        catalog.stamps() if stamps is None else stamps,
        {note.path: note.reason or "" for note in skipped},
        max_note_bytes,
    )


def compare(
    found: Walk,
    known: Mapping[str, FileStamp],
    reasons: Mapping[str, str],
    max_note_bytes: int,
) -> Changes:
    """Sort the notes by what has to be done with them. Pure.

    :param found: attachments are passed over. Notes below a folder that could not be listed are
        not gone: they stay as they are, and count as unchanged.
    :param known: path -> stamp of every note of the catalog.
    :param reasons: path -> reason of the skipped ones.
    """
    read: list[FileEntry] = []
    retry: list[FileEntry] = []
    unchanged: list[str] = []
    skip: list[tuple[FileEntry, str]] = []
    seen: set[str] = set()
    for file in found.files:
        if file.kind != "note":
            continue
        seen.add(file.path)
        row = known.get(file.path)
        reason = file.excluded or _too_large(file, max_note_bytes)
        if reason is not None:
            if reasons.get(file.path) == reason:
                unchanged.append(file.path)
            else:
                skip.append((file, reason))
        elif row is None or (row.size, row.mtime_ns) != (file.size, file.mtime_ns):
            read.append(file)
        elif row.status is NoteStatus.FAILED:
            retry.append(file)
        elif row.content_hash:
            unchanged.append(file.path)
        else:
            # It was kept out unread, and is not any more.
            read.append(file)
    below = tuple(path + "/" for path in found.unlisted)
    gone: list[str] = []
    for path in sorted(known.keys() - seen):
        hidden = path in found.unlisted or path.startswith(below)
        (unchanged if hidden else gone).append(path)
    return Changes(tuple(read), tuple(retry), tuple(unchanged), tuple(skip), tuple(gone))


def _too_large(file: FileEntry, limit: int) -> str | None:
    if file.size <= limit:
        return None
    return (
        f"{file.size / 1e6:.1f} MB, and notes above {limit / 1e6:.1f} MB are skipped "
        "(vault.max_note_bytes)"
    )
