"""What a run knows of its index, what it reads of its vault, and what it did.

The state is read from the catalog once, then kept up with what is written.

Touches: vault-read, index (reads).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from notehop.indexing.changes import Changes
from notehop.indexing.graph.files import VaultFiles
from notehop.indexing.stores.catalog import Catalog, stamp_of
from notehop.indexing.stores.catalog_read import FileStamp
from notehop.indexing.stores.model import Batch, NoteRow, NoteStatus
from notehop.indexing.vault.model import CommentLinks
from notehop.indexing.vault.parse import Read, read_note
from notehop.indexing.vault.walk import FileEntry, Walk, top_level

Value = TypeVar("Value")


class IndexState:
    """The state of one generation. It is of no use once another writer went on: see :meth:`fits`.

    ``stamps`` are those of every note, ``indexed`` counts the indexed ones, ``reasons`` say why one
    is skipped or failed, ``attachments`` tell of every other file whether it is kept out.
    """

    def __init__(self, catalog: Catalog) -> None:
        """Read what the catalog knows of the vault's files."""
        self.meta: dict[str, Any] = catalog.meta()
        self.generation = int(self.meta["generation"])
        self.stamps: dict[str, FileStamp] = catalog.stamps()
        self.reasons: dict[str, str] = {
            note.path: note.reason or ""
            for status in (NoteStatus.SKIPPED, NoteStatus.FAILED)
            for note in catalog.notes(status)
        }
        self.attachments: dict[str, bool] = catalog.attachments()
        self.indexed = sum(stamp.status is NoteStatus.INDEXED for stamp in self.stamps.values())
        self._files: VaultFiles | None = None

    def fits(self, catalog: Catalog) -> bool:
        """Whether the catalog is still at the generation that is known."""
        with catalog.snapshot() as view:
            return (view.generation, view.stamp) == (self.generation, stamp_of(self.meta))

    @property
    def cut_off(self) -> bool:
        """Whether a run ended before its last batch, or none ever began: look at everything."""
        return bool(self.meta.get("under_way")) or "fingerprint" not in self.meta

    @property
    def problems(self) -> list[tuple[str, str]]:
        """(path, reason) of what was passed over in the vault."""
        return [(path, reason) for path, reason in self.meta.get("problems", ())]

    @property
    def symlinks(self) -> list[str]:
        """Paths of the vault's symbolic links."""
        return [str(path) for path in self.meta.get("symlinks", ())]

    def files(self, catalog: Catalog, found: Walk, changes: Changes) -> VaultFiles:
        """All files as they are now; of new notes, the aliases are not known before they are read.

        :param found: a walk of the vault or of a part of it, with its ``changes``.
        """
        if self._files is None:
            self._files = VaultFiles(
                [*self.stamps, *self.attachments],
                [path for path in self.stamps if self._kept_out(path)]
                + [path for path, kept_out in self.attachments.items() if kept_out],
                catalog.aliases(),
            )
        files = self._files
        skip = {file.path for file, _ in changes.skip}
        for file in found.files:
            kept_out = bool(file.excluded) or file.path in skip or self._kept_out(file.path)
            if file.path not in files or files.is_excluded(file.path) is not kept_out:
                files.add(file.path, excluded=kept_out, aliases=files.aliases_of(file.path))
        there = {file.path for file in found.files}
        for path in (*changes.gone, *changes.detach):
            if path not in there:
                files.remove(path)
        return files

    def wrote(self, batch: Batch, generation: int) -> None:
        """Take in what a batch wrote."""
        for path in (*(record.note.path for record in batch.upsert), *batch.delete):
            before = self.stamps.pop(path, None)
            self.reasons.pop(path, None)
            self.indexed -= before is not None and before.status is NoteStatus.INDEXED
        for record in batch.upsert:
            note = record.note
            self.stamps[note.path] = FileStamp(
                note.size, note.mtime_ns, note.content_hash, note.status
            )
            self.indexed += note.status is NoteStatus.INDEXED
            if note.status is not NoteStatus.INDEXED:
                self.reasons[note.path] = note.reason or ""
        for path, (size, mtime_ns) in batch.touch.items():
            self.stamps[path] = replace(self.stamps[path], size=size, mtime_ns=mtime_ns)
        self.attachments.update(batch.attach)
        for path in batch.detach:
            self.attachments.pop(path, None)
        self.meta |= {**batch.meta, "generation": generation}
        self.generation = generation

    def _kept_out(self, path: str) -> bool:
        stamp = self.stamps.get(path)
        return stamp is not None and stamp.status is NoteStatus.SKIPPED


def within(values: Mapping[str, Value], paths: Iterable[str]) -> dict[str, Value]:
    """The entries at these paths or below them; the empty path takes all."""
    roots = top_level(paths)
    if "" in roots:
        return dict(values)
    found = {path: values[path] for path in roots if path in values}
    # Below a path that is a file there is nothing.
    folders = tuple(path + "/" for path in roots if path not in found)
    if folders:
        found |= {path: value for path, value in values.items() if path.startswith(folders)}
    return found


def apart(paths: Iterable[str]) -> Callable[[str], bool]:
    """Whether a path is neither one of these nor below one."""
    roots = frozenset(top_level(paths))
    below = tuple(path + "/" for path in roots)

    def is_apart(path: str) -> bool:
        return "" not in roots and path not in roots and not path.startswith(below)

    return is_apart


class RunCounts:
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


class NoteReader:
    """Reads notes of a vault; one whose content the index knows is not read again."""

    def __init__(
        self,
        vault: Path,
        known: IndexState,
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
        self._state = known
        self._lost = lost
        self._comment_links = comment_links
        self._warn = warn

    def is_news(self, file: FileEntry) -> bool:
        """Whether a note whose size and time are known is not what it was, or fails otherwise."""
        read = self._read(file)
        failed = self._state.stamps[file.path].status is NoteStatus.FAILED
        if read.away and not failed:
            return False
        before = self._state.reasons.get(file.path) if failed else None
        return read.note is not None or read.problem != before

    def read(self, files: Iterable[FileEntry]) -> list[Read]:
        """Read notes. One that the disk does not give now, and that is indexed, stays as it is."""
        found = []
        for file in files:
            read = self._read(file)
            known = self._state.stamps.get(file.path)
            if read.away and known is not None and known.status is NoteStatus.INDEXED:
                self._warn(
                    f"{file.path}: {read.problem}; what the index has of it stays until it can be"
                )
            else:
                found.append(read)
        return found

    def _read(self, file: FileEntry) -> Read:
        known = self._state.stamps.get(file.path)
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
    reads: Sequence[Read], gone: Collection[str], known: IndexState, catalog: Catalog
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


def unread_row(file: FileEntry, status: NoteStatus, reason: str) -> NoteRow:
    """The row of a note that was not, or could not be, read."""
    return NoteRow(
        path=file.path,
        title=file.path.rsplit("/", 1)[-1].removesuffix(".md"),
        status=status,
        reason=reason,
        size=file.size,
        mtime_ns=file.mtime_ns,
    )
