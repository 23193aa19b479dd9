"""One run under the writer lock: what to read, in which batches, and what it came to.

Touches: vault-read, index, model.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from config import Settings
from indexing.changes import Changes, compare
from indexing.graph.files import VaultFiles
from indexing.graph.names import affected_names
from indexing.pipeline.batch import BatchBuilder, Tools
from indexing.pipeline.doors import LoadEmbedder
from indexing.pipeline.meter import Meter
from indexing.pipeline.records import unread_row
from indexing.pipeline.sweep import Sweep
from indexing.pipeline.writer import Writer
from indexing.reading import Read, read_note
from indexing.report import LinkCounts, Progress, Report
from indexing.stores.catalog import Catalog, stamp_of
from indexing.stores.catalog_read import FileStamp
from indexing.stores.layout import IndexLayout
from indexing.stores.model import NoteStatus
from indexing.stores.reader_fingerprint import check_fingerprint
from indexing.stores.reader_upkeep import bring_up_to_date
from indexing.stores.vectors import Vectors
from indexing.tokens import Tokenizer, detect_language
from indexing.vault.walk import FileEntry, Walk

BATCH_NOTES = 1_000
"""Notes a transaction: enough to sort by length and to write well, few enough for memory."""

BATCH_BYTES = 16_000_000
"""Bytes of notes a transaction."""

LANGUAGE_SAMPLE = 200
"""Notes read to learn the language of a new vault, spread evenly over it."""

LANGUAGE_BYTES = 4_000
"""Bytes read of each of them."""


class IndexRun:
    """Brings one open catalog, and what is derived from it, up to a walk of its vault."""

    def __init__(
        self,
        *,
        vault: Path,
        settings: Settings,
        layout: IndexLayout,
        progress: Progress,
        load: LoadEmbedder,
        catalog: Catalog,
        walk: Walk,
        asked: Mapping[str, Any],
    ) -> None:
        self._vault = vault
        self._settings = settings
        self._layout = layout
        self._progress = progress
        self._load = load
        self._catalog = catalog
        self._walk = walk
        self._asked = dict(asked)
        self._meta = catalog.meta()
        self._sweep = Sweep(layout.sweep_mark)
        self._meter = Meter(progress)
        self._counts = dict.fromkeys(("added", "changed", "moved", "deleted", "unchanged"), 0)
        self._warnings: list[str] = []
        self._seconds: dict[str, float] = {}
        self._dimensions = int(asked["dimensions"])
        self._size = 0
        self._language = "en"
        self._opened: Vectors | None = None

    def execute(self) -> Report:
        """Do what is to be done, batch by batch; each ends in a generation that is whole.

        :raises IndexMismatch: if the index was built with other settings.
        """
        started = time.perf_counter()
        if (stored := self._meta.get("fingerprint")) is not None:
            check_fingerprint(stored, self._asked)
        try:
            stamps = self._catalog.stamps()
            for path in self._swept():
                stamps.pop(path, None)
            self._write(self._compared(stamps), stamps)
            with self._timed("derive"):
                bring_up_to_date(self._layout, self._catalog, self._vectors)
        finally:
            if self._opened is not None:
                self._opened.close()
        self._seconds["total"] = time.perf_counter() - started
        return self._report()

    def _swept(self) -> frozenset[str]:
        """After a run that was cut off: the notes that lack vectors and are read again."""
        return self._sweep.run(self._catalog, self._vectors()) if self._sweep.due else frozenset()

    def _compared(self, stamps: Mapping[str, FileStamp]) -> Changes:
        skipped = self._catalog.notes(NoteStatus.SKIPPED)
        changes = compare(
            self._walk.files,
            stamps,
            {note.path: note.reason or "" for note in skipped},
            self._settings.vault.max_note_bytes,
        )
        # What cannot be listed is not gone: its notes stay as they were.
        closed = tuple(path + "/" for path, _ in self._walk.problems)
        gone = tuple(path for path in changes.gone if not path.startswith(closed))
        self._counts["unchanged"] = sum(
            stamps[path].status is NoteStatus.INDEXED for path in changes.unchanged
        )
        return replace(changes, gone=gone)

    def _write(self, changes: Changes, stamps: Mapping[str, FileStamp]) -> None:
        attachments = sorted(file.path for file in self._walk.files if file.kind != "note")
        other = set(attachments) ^ set(self._meta.get("attachments", ()))
        new = "fingerprint" not in self._meta
        if not (changes.read or changes.skip or changes.gone or other or new):
            return
        self._progress.stage("Indexing", len(changes.read), "notes")
        self._size = sum(file.size for file in changes.read)
        self._language = self._language_of(changes.read)
        fingerprint = {**self._asked, "language": self._language}
        tokenizer = Tokenizer(self._language)
        builder = BatchBuilder(
            catalog=self._catalog,
            vectors=self._vectors,
            files=self._files(changes),
            tools=lambda: self._tools,
            tokenizer=tokenizer,
            dimensions=self._dimensions,
        )
        stamp = stamp_of({**self._meta, "fingerprint": fingerprint})
        writer = Writer(self._layout, self._catalog, self._vectors, stamp, self._sweep)
        gone = set(changes.gone)
        rows = [unread_row(file, NoteStatus.SKIPPED, reason) for file, reason in changes.skip]
        groups = [*_groups(changes.read)] or [()]
        for number, group in enumerate(groups, start=1):
            last = number == len(groups)
            self._meter.begin(len(group))
            with self._timed("read"):
                reads = [self._read(file, stamps) for file in group]
            moved = self._moved(reads, gone, stamps)
            leaving = sorted(gone) if last else sorted(moved)
            names = frozenset().union(*(affected_names(path) for path in sorted(other)))
            with self._timed("embed"):
                prepared = builder.build(
                    reads,
                    rows if number == 1 else (),
                    leaving,
                    names if last else frozenset(),
                )
            with self._timed("store"):
                meta: dict[str, Any] = {"fingerprint": fingerprint}
                if last:
                    meta |= {"attachments": attachments}
                writer.write(prepared, meta)
            gone.difference_update(leaving)
            self._count(reads, stamps, moved, leaving)
            self._meter.end()

    def _read(self, file: FileEntry, stamps: Mapping[str, FileStamp]) -> Read:
        known = stamps.get(file.path)
        readable = known is not None and known.status is not NoteStatus.FAILED
        return read_note(
            self._vault,
            file,
            known.content_hash if known and readable else "",
            comment_links=self._settings.vault.comment_links,
        )

    def _moved(
        self, reads: Sequence[Read], gone: set[str], stamps: Mapping[str, FileStamp]
    ) -> list[str]:
        """The vanished notes whose content stands in these; each new note takes one."""
        new = [r.content_hash for r in reads if r.note is not None and r.file.path not in stamps]
        known = self._catalog.paths_by_content_hash(new)
        found: list[str] = []
        for content_hash in new:
            left = [p for p in known.get(content_hash, ()) if p in gone and p not in found]
            found += left[:1]
        return found

    def _count(
        self,
        reads: Sequence[Read],
        stamps: Mapping[str, FileStamp],
        moved: Sequence[str],
        leaving: Sequence[str],
    ) -> None:
        counts = self._counts
        for read in reads:
            if read.note is None:
                counts["unchanged"] += not read.problem
                continue
            self._warnings += read.note.warnings
            if read.note.excluded is None:
                before = stamps.get(read.file.path)
                was_indexed = before is not None and before.status is NoteStatus.INDEXED
                counts["changed" if was_indexed else "added"] += 1
        counts["moved"] += len(moved)
        counts["added"] -= len(moved)
        counts["deleted"] += len(set(leaving) - set(moved))

    def _files(self, changes: Changes) -> VaultFiles:
        """All files as they are now, with the aliases that are known before anything is read."""
        there = {file.path for file in self._walk.files}
        rows = [note for note in self._catalog.notes() if note.path in there]
        kept_out = {file.path for file in self._walk.files if file.excluded}
        kept_out |= {row.path for row in rows if row.status is NoteStatus.SKIPPED}
        kept_out |= {file.path for file, _ in changes.skip}
        kept_out -= {file.path for file in changes.read}
        return VaultFiles(
            there,
            kept_out,
            {row.path: row.aliases for row in rows if row.aliases},
        )

    def _vectors(self) -> Vectors:
        """The vector store, opened when it is first needed: a run without changes never does."""
        if self._opened is None:
            self._opened = Vectors.open(self._layout.chroma, self._dimensions)
        return self._opened

    @cached_property
    def _tools(self) -> Tools:
        """The model, loaded when the first note has to be cut."""
        with self._timed("load model"):
            embedder = self._load(self._settings.embedding, self._layout.model, self._size)
        return Tools.of(embedder, self._settings.chunking, self._language, self._meter)

    def _language_of(self, files: Sequence[FileEntry]) -> str:
        asked = self._asked["language"]
        if asked is not None:
            return str(asked)
        if stored := self._meta.get("fingerprint"):
            return str(stored["language"])
        step = max(1, len(files) // LANGUAGE_SAMPLE)
        return detect_language([_beginning(self._vault / file.path) for file in files[::step]])

    def _report(self) -> Report:
        counts = self._catalog.counts()
        notes = {status: self._catalog.notes(status) for status in NoteStatus}
        reasons = {
            status: [(note.path, note.reason or "") for note in notes[status]]
            for status in (NoteStatus.SKIPPED, NoteStatus.FAILED)
        }
        reasons[NoteStatus.SKIPPED] += self._walk.problems
        return Report(
            vault=str(self._vault.resolve()),
            index_dir=str(self._layout.root),
            generation=self._catalog.generation,
            notes=counts.notes.get(NoteStatus.INDEXED, 0),
            chunks=counts.chunks,
            added=self._counts["added"],
            changed=self._counts["changed"],
            moved=self._counts["moved"],
            deleted=self._counts["deleted"],
            unchanged=self._counts["unchanged"],
            skipped=tuple(sorted(reasons[NoteStatus.SKIPPED])),
            failed=tuple(sorted(reasons[NoteStatus.FAILED])),
            warnings=tuple(self._warnings),
            links=LinkCounts(**{status: counts.links.get(status, 0) for status in LINK_STATUSES}),
            embedded=self._meter.texts,
            seconds=self._seconds,
        )

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[stage] = self._seconds.get(stage, 0.0) + time.perf_counter() - started


LINK_STATUSES = ("resolved", "ambiguous", "unresolved", "excluded")


def _groups(files: Sequence[FileEntry]) -> Iterator[Sequence[FileEntry]]:
    """Runs of notes that fit a transaction, in order."""
    group: list[FileEntry] = []
    size = 0
    for file in files:
        if group and (len(group) >= BATCH_NOTES or size + file.size > BATCH_BYTES):
            yield group
            group, size = [], 0
        group.append(file)
        size += file.size
    if group:
        yield group


def _beginning(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return stream.read(LANGUAGE_BYTES).decode("utf-8", errors="ignore")
    except OSError:
        return ""
