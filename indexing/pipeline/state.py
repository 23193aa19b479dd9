"""What a run knows of its index: read from the catalog once, then kept up with what is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from notehop.indexing.changes import Changes, below
from notehop.indexing.graph.files import VaultFiles
from notehop.indexing.stores.catalog import Catalog, stamp_of
from notehop.indexing.stores.catalog_read import FileStamp
from notehop.indexing.stores.model import Batch, NoteStatus
from notehop.indexing.vault.walk import Walk, top_level

Value = TypeVar("Value")


class IndexState:
    """The state of one generation. It is of no use once another writer went on: see :meth:`fits`.

    ``stamps`` are those of every note, ``indexed`` counts the indexed ones, ``attachments`` tell of
    every other file whether it is kept out.
    """

    def __init__(self, catalog: Catalog) -> None:
        self.meta: dict[str, Any] = catalog.meta()
        self.generation = int(self.meta["generation"])
        self.stamps: dict[str, FileStamp] = catalog.stamps()
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

    def has_status(self, path: str, status: NoteStatus) -> bool:
        """Whether a note is known, and of this status."""
        return path in self.stamps and self.stamps[path].status is status

    def files(self, catalog: Catalog, found: Walk, changes: Changes) -> VaultFiles:
        """All files as they are now; of new notes, the aliases are not known before they are read.

        :param found: a walk of the vault or of a part of it, with its ``changes``.
        """
        if self._files is None:
            kept_out = [p for p, stamp in self.stamps.items() if stamp.status is NoteStatus.SKIPPED]
            kept_out += [path for path, is_out in self.attachments.items() if is_out]
            paths = [*self.stamps, *self.attachments]
            self._files = VaultFiles(paths, kept_out, catalog.aliases())
        files = self._files
        skip = {file.path for file, _ in changes.skip}
        there = {file.path for file in found.files}
        for file in found.files:
            path = file.path
            out = bool(file.excluded) or path in skip or self.has_status(path, NoteStatus.SKIPPED)
            known = files.get(path)
            if known is None or known.excluded is not out:
                files.add(path, excluded=out, aliases=known.aliases if known else ())
        for path in {*changes.gone, *changes.detach} - there:
            files.remove(path)
        return files

    def wrote(self, batch: Batch, generation: int) -> None:
        """Take in what a batch wrote."""
        for path in (*(record.note.path for record in batch.upsert), *batch.delete):
            self.indexed -= self.has_status(path, NoteStatus.INDEXED)
            self.stamps.pop(path, None)
        for record in batch.upsert:
            note = record.note
            about = note.size, note.mtime_ns, note.content_hash, note.status, note.reason
            self.stamps[note.path] = FileStamp(*about)
            self.indexed += note.status is NoteStatus.INDEXED
        for path, (size, mtime_ns) in batch.touch.items():
            self.stamps[path] = replace(self.stamps[path], size=size, mtime_ns=mtime_ns)
        self.attachments.update(batch.attach)
        for path in batch.detach:
            self.attachments.pop(path, None)
        self.meta |= {**batch.meta, "generation": generation}
        self.generation = generation


def within(values: Mapping[str, Value], paths: Iterable[str]) -> dict[str, Value]:
    """The entries at these paths or below them, without a look at all where the paths are files."""
    roots = top_level(paths)
    found = {path: values[path] for path in roots if path in values}
    if folders := [path for path in roots if path not in found]:
        inside = below(folders)
        found |= {path: value for path, value in values.items() if inside(path)}
    return found
