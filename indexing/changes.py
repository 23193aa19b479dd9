"""What differs between the vault as it was walked and the notes the catalog knows. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from indexing.stores.catalog_read import FileStamp
from indexing.stores.model import NoteStatus
from indexing.vault.walk import FileEntry


@dataclass(frozen=True, slots=True)
class Changes:
    """Notes by what has to be done with them; every note of walk and catalog is in one of them.

    ``read``: new, or other in size or time, or failed before. ``unchanged``: nothing to do.
    ``skip``: a row with this reason has to be written. ``gone``: in the catalog only.
    """

    read: tuple[FileEntry, ...]
    unchanged: tuple[str, ...]
    skip: tuple[tuple[FileEntry, str], ...]
    gone: tuple[str, ...]


def compare(
    files: Iterable[FileEntry],
    known: Mapping[str, FileStamp],
    reasons: Mapping[str, str],
    max_note_bytes: int,
) -> Changes:
    """Compare by size and modification time only; equal content is found after reading.

    :param files: what the walk found; attachments are passed over.
    :param known: path -> stamp of every note of the catalog.
    :param reasons: path -> reason of the skipped ones.
    """
    read: list[FileEntry] = []
    unchanged: list[str] = []
    skip: list[tuple[FileEntry, str]] = []
    seen: set[str] = set()
    for file in files:
        if file.kind != "note":
            continue
        seen.add(file.path)
        row = known.get(file.path)
        reason = file.excluded or _too_large(file, max_note_bytes)
        if reason is not None:
            if row is not None and reasons.get(file.path) == reason:
                unchanged.append(file.path)
            else:
                skip.append((file, reason))
        elif row is not None and _same(file, row):
            unchanged.append(file.path)
        else:
            read.append(file)
    gone = tuple(sorted(path for path in known if path not in seen))
    return Changes(tuple(read), tuple(unchanged), tuple(skip), gone)


def _same(file: FileEntry, row: FileStamp) -> bool:
    """A row without content hash was never read, so it says nothing about the content."""
    return (
        row.status is not NoteStatus.FAILED
        and row.content_hash != ""
        and (row.size, row.mtime_ns) == (file.size, file.mtime_ns)
    )


def _too_large(file: FileEntry, limit: int) -> str | None:
    if file.size <= limit:
        return None
    return (
        f"{file.size / 1e6:.1f} MB, and notes above {limit / 1e6:.1f} MB are skipped "
        "(vault.max_note_bytes)"
    )
