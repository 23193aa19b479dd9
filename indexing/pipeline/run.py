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
from indexing.changes import Changes, changes_since
from indexing.graph.files import VaultFiles
from indexing.graph.model import Status
from indexing.graph.names import affected_names
from indexing.pipeline.batch import BatchBuilder, Tools
from indexing.pipeline.doors import LoadEmbedder
from indexing.pipeline.language import language_of
from indexing.pipeline.meter import Meter
from indexing.pipeline.records import unread_row
from indexing.pipeline.sweep import Sweep
from indexing.pipeline.tally import Tally
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
from indexing.tokens import Tokenizer
from indexing.vault.walk import FileEntry, Walk

BATCH_NOTES = 1_000
"""Notes a transaction: enough to sort by length and to write well, few enough for memory."""

BATCH_BYTES = 16_000_000
"""Bytes of notes a transaction."""


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
            tally = Tally(stamps)
            self._write(self._compared(stamps, tally), stamps, tally)
            with self._timed("derive"):
                bring_up_to_date(
                    self._layout, self._catalog, self._vectors, thorough=tally.withdrawn
                )
        finally:
            if self._opened is not None:
                self._opened.close()
        self._seconds["total"] = time.perf_counter() - started
        return self._report(tally)

    def _compared(self, stamps: Mapping[str, FileStamp], tally: Tally) -> Changes:
        """What to do, with the notes that a run before left without vectors among those to read."""
        if self._sweep.due:
            lost = self._sweep.run(self._catalog, self._vectors())
            stamps = {path: stamp for path, stamp in stamps.items() if path not in lost}
        changes = changes_since(
            self._catalog, self._walk, self._settings.vault.max_note_bytes, stamps
        )
        tally.untouched(changes.unchanged)
        # A note that fails as it did before is written once: a run without changes writes nothing.
        failed = {note.path: note.reason for note in self._catalog.notes(NoteStatus.FAILED)}
        mended = [f for f in changes.retry if self._read(f, {}).problem != failed.get(f.path)]
        return replace(changes, read=tuple(sorted([*changes.read, *mended], key=_path_of)))

    def _write(self, changes: Changes, stamps: Mapping[str, FileStamp], tally: Tally) -> None:
        attachments = [[f.path, bool(f.excluded)] for f in self._walk.files if f.kind != "note"]
        known = {(path, kept) for path, kept in self._meta.get("attachments", ())}
        other = {path for path, _ in known ^ {(str(path), kept) for path, kept in attachments}}
        cut_off = bool(self._meta.get("under_way"))
        about = {
            "vault": str(self._vault.resolve()),
            "problems": [list(problem) for problem in self._walk.problems],
        }
        told = all(self._meta.get(key) == value for key, value in about.items())
        if not (changes.read or changes.skip or changes.gone or other or cut_off) and (
            told and "fingerprint" in self._meta
        ):
            return
        self._size = sum(file.size for file in changes.read)
        self._language = self._language_of(changes.read)
        fingerprint = {**self._asked, "language": self._language}
        if not (changes.read or self._catalog.counts().chunks):
            # An empty vault has no language; its first notes will have one.
            fingerprint["language"] = self._asked["language"]
        builder = BatchBuilder(
            catalog=self._catalog,
            vectors=self._vectors,
            files=self._files(changes),
            tools=lambda: self._tools,
            tokenizer=Tokenizer(self._language),
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
            if number == 1:
                self._announce(reads, len(changes.read))
            moved = self._moved(reads, gone, stamps)
            leaving = sorted(gone) if last else sorted(moved)
            with self._timed("embed"):
                prepared = builder.build(
                    reads,
                    rows if number == 1 else (),
                    leaving,
                    frozenset().union(*(affected_names(path) for path in other)) if last else (),
                    # What a run that was cut off assumed of files is not known: look at all links.
                    every_link=last and cut_off,
                )
            with self._timed("store"):
                # Until the last batch, links may lead to files that only this walk has seen.
                meta: dict[str, Any] = {"fingerprint": fingerprint, "under_way": not last}
                if last:
                    meta |= {"attachments": attachments, **about}
                writer.write(prepared, meta)
            gone.difference_update(leaving)
            tally.written(prepared.batch, moved)
            self._warnings += [w for r in reads if r.note is not None for w in r.note.warnings]
            self._meter.end()
        self._warnings += self._meter.warnings()

    def _announce(self, reads: Sequence[Read], notes: int) -> None:
        if any(read.note is not None for read in reads):
            # A stage of its own, so that the rate of what follows is that of the notes.
            self._progress.stage("Loading the model", 0, "")
            self._tools  # noqa: B018 (a cached property)
        self._progress.stage("Indexing", notes, "notes")

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

    def _files(self, changes: Changes) -> VaultFiles:
        """All files as they are now, with what is known of their notes before anything is read."""
        there = {file.path for file in self._walk.files}
        rows = [note for note in self._catalog.notes() if note.path in there]
        kept_out = {file.path for file in self._walk.files if file.excluded}
        kept_out |= {row.path for row in rows if row.status is NoteStatus.SKIPPED}
        kept_out |= {file.path for file, _ in changes.skip}
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
        """The language in force: the setting, what the index was built for, or the notes' own."""
        asked = self._asked["language"]
        stored = self._meta.get("fingerprint", {}).get("language")
        return str(asked or stored or language_of(self._vault, files))

    def _report(self, tally: Tally) -> Report:
        counts = self._catalog.counts()
        reasons = {
            status: [(note.path, note.reason or "") for note in self._catalog.notes(status)]
            for status in (NoteStatus.SKIPPED, NoteStatus.FAILED)
        }
        reasons[NoteStatus.SKIPPED] += self._walk.problems
        return Report(
            vault=str(self._vault.resolve()),
            index_dir=str(self._layout.root),
            generation=self._catalog.generation,
            notes=counts.notes.get(NoteStatus.INDEXED, 0),
            chunks=counts.chunks,
            added=tally.added,
            changed=tally.changed,
            moved=tally.moved,
            deleted=tally.deleted,
            unchanged=tally.unchanged,
            skipped=tuple(sorted(reasons[NoteStatus.SKIPPED])),
            failed=tuple(sorted(reasons[NoteStatus.FAILED])),
            warnings=tuple(self._warnings),
            links=LinkCounts(**{status: counts.links.get(status, 0) for status in Status}),
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


def _path_of(file: FileEntry) -> str:
    return file.path


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
