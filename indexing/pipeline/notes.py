"""Reads the notes of one run, and tells what became of those that are known.

Touches: vault-read, index.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from notehop.indexing.pipeline.known import Known
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.model import NoteStatus
from notehop.indexing.vault.model import CommentLinks
from notehop.indexing.vault.parse import Read, read_note
from notehop.indexing.vault.walk import FileEntry


class NoteReader:
    """Reads notes of a vault; one whose content the index knows is not read again."""

    def __init__(
        self,
        vault: Path,
        known: Known,
        *,
        lost: Collection[str],
        comment_links: CommentLinks,
        warn: Callable[[str], None],
    ) -> None:
        """Touch nothing yet.

        :param lost: notes of which the index holds less than it should: they are read anyway.
        :param comment_links: which links in comments count.
        :param warn: told of each note that stays in the index as it was.
        """
        self._vault = vault
        self._known = known
        self._lost = lost
        self._comment_links = comment_links
        self._warn = warn

    def is_news(self, file: FileEntry) -> bool:
        """Whether a note whose size and time are known is not what it was, or fails otherwise."""
        read = self._read(file)
        failed = self._known.stamps[file.path].status is NoteStatus.FAILED
        if read.away and not failed:
            return False
        before = self._known.reasons.get(file.path) if failed else None
        return read.note is not None or read.problem != before

    def read(self, files: Iterable[FileEntry]) -> list[Read]:
        """Read notes. One that the disk does not give now, and that is indexed, stays as it is."""
        found = []
        for file in files:
            read = self._read(file)
            known = self._known.stamps.get(file.path)
            if read.away and known is not None and known.status is NoteStatus.INDEXED:
                self._warn(
                    f"{file.path}: {read.problem}; what the index has of it stays until it can be"
                )
            else:
                found.append(read)
        return found

    def _read(self, file: FileEntry) -> Read:
        known = self._known.stamps.get(file.path)
        # Content that is known is not read again, unless what was made of it is not there.
        made = known is not None and known.status is not NoteStatus.FAILED
        if file.path in self._lost:
            made = False
        return read_note(
            self._vault,
            file,
            known.content_hash if known and made else "",
            comment_links=self._comment_links,
        )


def moved(
    reads: Sequence[Read], gone: Collection[str], known: Known, catalog: Catalog
) -> list[str]:
    """The vanished notes whose content stands in these; each new note takes one.

    :param gone: the notes that vanished and are in the index still.
    """
    new = [r.content_hash for r in reads if r.note is not None and r.file.path not in known.stamps]
    holders = catalog.paths_by_content_hash(new)
    found: list[str] = []
    for content_hash in new:
        left = [p for p in holders.get(content_hash, ()) if p in gone and p not in found]
        found += left[:1]
    return found
