"""What a run did to the notes, counted by what each was before and what it is now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from indexing.stores.catalog_read import FileStamp
from indexing.stores.model import Batch, NoteStatus


class Tally:
    """Counts indexed notes only: those kept out or failed are named in the report instead.

    ``added`` + ``changed`` + ``moved`` + ``unchanged`` is the number of indexed notes after the
    run; ``deleted`` counts those that were indexed and are gone. ``withdrawn`` says whether a note
    that was indexed is there still and kept out now: its words have to leave every file.
    """

    def __init__(self, before: Mapping[str, FileStamp]) -> None:
        self._before = before
        self.added = 0
        self.changed = 0
        self.moved = 0
        self.deleted = 0
        self.unchanged = 0
        self.withdrawn = False

    def untouched(self, paths: Iterable[str]) -> None:
        """Count notes that need no look."""
        self.unchanged += sum(self._was_indexed(path) for path in paths)

    def written(self, batch: Batch, moved: Sequence[str]) -> None:
        """Count what a batch wrote; ``moved`` are deleted paths whose content has a new one."""
        for record in batch.upsert:
            path, status = record.note.path, record.note.status
            was_indexed = self._was_indexed(path)
            if status is NoteStatus.INDEXED:
                self.changed += was_indexed
                self.added += not was_indexed
            elif was_indexed and status is NoteStatus.SKIPPED:
                self.withdrawn = True
        self.unchanged += sum(self._was_indexed(path) for path in batch.touch)
        left = [path for path in batch.delete if self._was_indexed(path)]
        carried = len(set(left).intersection(moved))
        self.moved += carried
        self.added -= carried
        self.deleted += len(left) - carried

    def _was_indexed(self, path: str) -> bool:
        stamp = self._before.get(path)
        return stamp is not None and stamp.status is NoteStatus.INDEXED
