"""What a run did to the notes, counted by what each was before and what it is now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from notehop.indexing.stores.catalog_read import FileStamp
from notehop.indexing.stores.model import Batch, NoteStatus


class Tally:
    """Counts indexed notes only: those kept out or failed are named in the report instead.

    A moved note is neither added nor deleted; ``deleted`` counts those that were indexed and are
    gone.
    """

    def __init__(self, before: Mapping[str, FileStamp]) -> None:
        """Begin with the stamps of all notes; the mapping may change between two batches only."""
        self._before = before
        self.added = 0
        self.changed = 0
        self.moved = 0
        self.deleted = 0

    def withdraws(self, batch: Batch) -> bool:
        """Whether a batch keeps out a note that was indexed and is there still: its words have to
        leave every file."""
        return any(
            record.note.status is NoteStatus.SKIPPED and self._was_indexed(record.note.path)
            for record in batch.upsert
        )

    def forgets(self, batch: Batch, moved: Sequence[str]) -> bool:
        """Whether a batch keeps out or deletes a note that was indexed, and that is nowhere else."""
        return self.withdraws(batch) or any(map(self._was_indexed, {*batch.delete} - {*moved}))

    def written(self, batch: Batch, moved: Sequence[str]) -> None:
        """Count what a batch wrote, before the stamps are brought up to it.

        :param moved: deleted paths whose content has a new one.
        """
        for record in batch.upsert:
            path, status = record.note.path, record.note.status
            was_indexed = self._was_indexed(path)
            if status is NoteStatus.INDEXED:
                self.changed += was_indexed
                self.added += not was_indexed
        left = [path for path in batch.delete if self._was_indexed(path)]
        carried = len(set(left).intersection(moved))
        self.moved += carried
        self.added -= carried
        self.deleted += len(left) - carried

    def _was_indexed(self, path: str) -> bool:
        stamp = self._before.get(path)
        return stamp is not None and stamp.status is NoteStatus.INDEXED
