"""One run under the writer lock: what changed, what is made of it batch by batch, what it came to."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from notehop.indexing import crash_points
from notehop.indexing.changes import Changes, below, check_deletions, compare, scan, unread_pdfs
from notehop.indexing.display import counted
from notehop.indexing.embed.embedder import Embedder
from notehop.indexing.enrich.prompts import header_identity
from notehop.indexing.enrich.store import delete_orphans
from notehop.indexing.graph.files import VaultFiles, affected_names
from notehop.indexing.pipeline.language import language_for
from notehop.indexing.pipeline.models import lacks_query_model
from notehop.indexing.report import Update
from notehop.indexing.stores.caches import bring_up_to_date, forget_withdrawn
from notehop.indexing.stores.catalog import Catalog, check_fingerprint, stamp_of
from notehop.indexing.stores.catalog_read import FileStamp
from notehop.indexing.stores.chroma import remove_mirror
from notehop.indexing.stores.layout import IndexLayout, writing_to
from notehop.indexing.stores.rows import Batch, Limits, NoteStatus
from notehop.indexing.vault.parse import Read, read_note
from notehop.indexing.vault.walk import FileEntry, Walk, top_level

if TYPE_CHECKING:
    from notehop.indexing.pipeline.chunking import Chunker
    from notehop.indexing.pipeline.indexer import Indexer


Value = TypeVar("Value")

TICK_NS = 2_000_000_000
"""The coarsest clock of a disk, in nanoseconds (FAT): within one tick of it a note can be written
twice and show the same time, so that one as young as this is read, whatever its time says."""

_BYTES_A_TOKEN = 4  # of English prose; a model's own tokenizer is not asked before a note is read


@dataclass(frozen=True, slots=True)
class Request:
    """What a run is asked for.

    ``paths`` are looked at, with what is below them; None is all of the vault, and so is any where a
    run before was cut off. ``again``: the notes at them are made anew even if they are as they were.
    """

    paths: tuple[str, ...] | None = None
    again: bool = False
    allow_mass_delete: bool = False


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


class IndexRun:
    """Brings one open catalog, and what is derived from it, up to its vault."""

    def __init__(
        self,
        indexer: Indexer,
        layout: IndexLayout,
        catalog: Catalog,
        state: IndexState,
        request: Request,
        fingerprint: Mapping[str, Any],
        harmed: bool,
    ) -> None:
        """
        :param layout: the indexer's, or that of the index that will replace it.
        :param state: what the catalog holds.
        :param fingerprint: what the settings ask for.
        :param harmed: the catalog's files are other than the last run left them.
        :raises VaultError: if the vault is not there or cannot be listed.
        """
        self.indexer, self.layout, self.catalog, self.state = indexer, layout, catalog, state
        self.request, self.fingerprint = request, fingerprint
        self.vault, self.settings, self.progress = indexer.vault, indexer.settings, indexer.progress
        self._before, self._began = state.generation, time.perf_counter()
        self._chunker: Chunker | None = None
        self._counts: Counter[str] = Counter()
        self._warnings: list[str] = []
        transformations = None
        if indexer.transformations:
            from llama_index.core.ingestion.pipeline import get_transformation_hash

            transformations = [get_transformation_hash([], one) for one in indexer.transformations]
        # What is put to passages before they are embedded.
        self._additions = {"headers": header_identity(self.settings), "transformations": transformations}
        self._additions_changed = any(state.meta.get(k) != v for k, v in self._additions.items())
        everything = harmed or state.cut_off or self._additions_changed
        self._paths = None if everything else request.paths
        if self._paths is None:
            self.progress.stage("Scanning", 0, "files")
        else:
            self._paths = (*self._paths, *state.meta.get("symlinks", ()))
        self._walk = scan(self.vault, self.settings.vault, self._paths)

    def execute(self) -> Update:
        """Do what is to be done, batch by batch; each ends in a generation that is whole.

        :raises IndexMismatch: if the index was built with other settings.
        :raises MassDeletion: if too large a share of the notes is gone; nothing is changed then.
        """
        everything = self._paths is None
        if (stored := self.state.meta.get("fingerprint")) is not None:
            check_fingerprint(stored, self.fingerprint)
        self._write(self._changes())
        if everything and (unread := unread_pdfs(self.state.attachments, self.settings.vault)):
            self._warnings.append(unread)
        self._warnings += delete_orphans(self.layout.enrichment, self.catalog, self.state.stamps)
        if everything and self.catalog.has_chunks and lacks_query_model(self.layout):
            self.progress.stage("Loading the model", 0, "")
            self._embedder  # noqa: B018 (loading the model makes the one for queries)
        self._derive(everything=everything)
        return Update(
            generation=self.state.generation,
            wrote=self.state.generation != self._before,
            notes=self.state.indexed,
            **self._counts,
            warnings=tuple(self._warnings),
            embedded=self._chunker.texts if self._chunker is not None else 0,
            seconds=time.perf_counter() - self._began,
        )

    def _changes(self) -> Changes:
        """What to do, with the notes that are to be made anew among those to read."""
        state, paths, request = self.state, self._paths, self.request
        stamps: Mapping[str, Any] = state.stamps if paths is None else within(state.stamps, paths)
        files: Mapping[str, bool] = state.attachments
        if paths is not None:
            # A note is no other file, and nothing is below it.
            files = within(files, [path for path in paths if path not in stamps])
        again: Iterable[str] = (request.paths or ()) if request.again else ()
        if state.generation and self._additions_changed:
            again = [p for p in state.stamps if state.has_status(p, NoteStatus.INDEXED)]
        # As if they had never been read.
        unread = {p: replace(stamps[p], content_hash="") for p in again if p in stamps}
        self._stamps = stamps = {**stamps, **unread} if unread else stamps
        changes = compare(
            self._walk,
            stamps,
            files,
            self.settings.vault.max_note_bytes,
            recent_ns=time.time_ns() - TICK_NS,
            named=frozenset(request.paths or ()),
        )
        if not request.allow_mass_delete:
            gone = sum(state.has_status(path, NoteStatus.INDEXED) for path in changes.gone)
            new = sum(file.path not in state.stamps for file in changes.read) if gone else 0
            check_deletions(self.vault, state.indexed, gone - new)
        # What is as it was is not written again: a run without changes writes nothing.
        news = [file for file in changes.retry if self._is_news(file)]
        read = sorted([*changes.read, *news], key=lambda file: file.path)
        return replace(changes, read=tuple(read))

    def _is_news(self, file: FileEntry) -> bool:
        """Whether a note whose size and time are known is not what it was, or fails otherwise."""
        read, known = self._read(file), self.state.stamps[file.path]
        before = known.reason if known.status is NoteStatus.FAILED else None
        if read.away and before is None:
            return False
        return read.note is not None or read.problem != before

    def _read(self, file: FileEntry) -> Read:
        """Read a note; one whose content is known is not parsed."""
        known = self._stamps.get(file.path)
        content_hash = known.content_hash if known and known.status is not NoteStatus.FAILED else ""
        comment_links = self.settings.vault.comment_links
        return read_note(self.vault, file, content_hash, comment_links=comment_links)

    def _about(self) -> dict[str, Any]:
        """What the catalog is to say of the vault as a whole."""
        inside = below([""] if self._paths is None else self._paths)
        known = self.state.meta
        problems = {(path, reason) for path, reason in known.get("problems", ()) if not inside(path)}
        symlinks = {path for path in known.get("symlinks", ()) if not inside(path)}
        return {
            "vault": str(self.vault.resolve()),
            **self._additions,
            "problems": [list(one) for one in sorted(problems | {*self._walk.problems})],
            "symlinks": sorted(symlinks | {*self._walk.symlinks}),
        }

    def _write(self, changes: Changes) -> None:
        state = self.state
        about = self._about()
        is_known = all(state.meta.get(key) == value for key, value in about.items())
        if not changes and is_known and not state.cut_off:
            return
        # Not above: a run that finds nothing to do can do without LlamaIndex.
        from notehop.indexing.pipeline.chunking import not_chunked
        from notehop.indexing.pipeline.linking import build_batch

        # Links that were resolved before a run was cut off may have met files it had seen: what it
        # assumed of them is not known.
        every_link = bool(state.meta.get("under_way"))
        fingerprint = {**self.fingerprint}
        # An empty vault has no language; its first notes will have one.
        if fingerprint["language"] is None and (changes.read or self.catalog.has_chunks):
            stored = state.meta.get("fingerprint", {}).get("language")
            new = [file.path for file in changes.read]
            fingerprint["language"] = stored or language_for(self.vault, new)
        files = state.files(self.catalog, self._walk, changes)
        into = self.catalog, files, int(self.fingerprint["dimensions"])
        gone = set(changes.gone)
        # By their content: a new note of the same takes one, which has moved.
        vanished: dict[str, list[str]] = {}
        for path in sorted(gone, reverse=True):
            vanished.setdefault(state.stamps[path].content_hash, []).append(path)
        parts = [*_batches(changes.read, self.indexer.limits)]
        for number, part in enumerate(parts, start=1):
            first, last = number == 1, number == len(parts)
            reads: list[Read] = []
            for read in map(self._read, part):
                path = read.file.path
                if read.away and state.has_status(path, NoteStatus.INDEXED):
                    # The disk does not give it now.
                    self._warnings.append(
                        f"{path}: {read.problem}; what the index has of it stays until it can be"
                    )
                else:
                    reads.append(read)
            notes = not_chunked(reads, changes.skip if first else ())
            if self._chunker is None and any(item.note is not None for item in notes):
                left = [*chain(*parts[number - 1 :])]
                self._chunker = self._make_chunker(left, fingerprint["language"])
            sentences: Mapping[str, Any] = {}
            if self._chunker is not None:
                sentences = self._chunker.chunk(notes, _tokens_of(part))
            came = [r.content_hash for r in reads if r.note and r.file.path not in state.stamps]
            moved = [vanished[digest].pop() for digest in came if vanished.get(digest)]
            leaving = sorted(gone) if last else sorted(moved)
            others = (*changes.attach, *changes.detach) if last else ()
            names = {name for path in others for name in affected_names(path)}
            again = last and every_link
            batch = build_batch(*into, notes, sentences, leaving, names, every_link=again)
            kept = [read.file for read in reads if read.note is None and not read.problem]
            touch = {file.path: (file.size, file.mtime_ns) for file in kept}
            # Until the last batch, links may lead to files that only this walk has seen.
            meta = {"fingerprint": fingerprint, "under_way": not last, "written": time.time()}
            batch = replace(batch, touch=touch, meta=meta)
            if last:
                # With the files that are no notes.
                attach, detach = changes.attach, changes.detach
                batch = replace(batch, attach=attach, detach=detach, meta=meta | about)
            self._commit(batch, moved)
            gone.difference_update(leaving)
            self._warnings += [w for read in reads if read.note for w in read.note.warnings]

    def _commit(self, batch: Batch, moved: Sequence[str]) -> None:
        """Write a batch and count it: indexed notes only, those kept out or failed are named instead.

        :param moved: deleted paths whose content has a new one: neither added nor deleted.
        """
        status = {record.note.path: record.note.status for record in batch.upsert}
        before = {p for p in (*status, *batch.delete) if self.state.has_status(p, NoteStatus.INDEXED)}
        left = before & {*batch.delete}
        carried = len(left.intersection(moved))
        withdrawn = any(status.get(path) is NoteStatus.SKIPPED for path in before)
        if withdrawn:
            # It is there still, and its words have to leave every file: see :meth:`_derive`.
            with writing_to(self.layout.root):
                self.layout.purge_mark.touch()
            crash_points.point("purge-mark-set")
        if withdrawn or len(left) > carried:
            # Chroma keeps the bytes of what it deletes. Before the commit, in case that is cut off.
            remove_mirror(self.layout)
        generation = self.catalog.commit(batch)
        indexed = {path for path, now in status.items() if now is NoteStatus.INDEXED}
        self._counts["changed"] += len(indexed & before)
        self._counts["added"] += len(indexed - before) - carried
        self._counts["moved"] += carried
        self._counts["deleted"] += len(left) - carried
        self.state.wrote(batch, generation)

    def _derive(self, *, everything: bool) -> None:
        """Bring what is made from the catalog up to it, all of it anew where a note was withdrawn;
        IndexUnwritable if the disk refuses, IndexDamaged if the catalog cannot be read.

        :param everything: look at all of the words, and write them anew where they are damaged.
        """
        layout, catalog, limits = self.layout, self.catalog, self.indexer.limits
        withdrawn = layout.purge_mark.exists()
        if withdrawn:
            remove_mirror(layout)
        bring_up_to_date(layout, catalog, thorough=withdrawn, verify=everything, limits=limits)
        with writing_to(layout.root):
            if withdrawn:
                # First: from here on the journal alone may hold their words.
                layout.journal_mark.touch()
                layout.purge_mark.unlink(missing_ok=True)
            forget_withdrawn(layout, catalog)
        if withdrawn:
            crash_points.point("purge-mark-cleared")

    @cached_property
    def _embedder(self) -> Embedder:
        return self.indexer.load(self.settings.embedding, self.layout.model)

    def _make_chunker(self, files: Sequence[FileEntry], language: str) -> Chunker:
        """What cuts and embeds these notes, with the model loaded."""
        from notehop.indexing.pipeline.chunking import Chunker

        # A stage of its own, so that the rate of what follows is that of the notes.
        self.progress.stage("Loading the model", 0, "")
        embedder = self._embedder
        # By tokens, which take equal time each; notes do not.
        self.progress.stage(f"Indexing {counted(len(files), 'file')}", _tokens_of(files), "tokens")
        headers = self.layout.enrichment if self._additions["headers"] is not None else None
        how = headers, self.indexer.transformations, self.progress
        return Chunker(embedder, self.catalog, self.settings, language, *how)


def _tokens_of(files: Iterable[FileEntry]) -> int:
    """About how many tokens some notes are."""
    return sum(file.size for file in files) // _BYTES_A_TOKEN


def _batches(files: Iterable[FileEntry], limits: Limits) -> Iterator[Sequence[FileEntry]]:
    """Runs of notes that fit a transaction, in order, at least one; a note over the limit is alone."""
    most = limits.batch_tokens * _BYTES_A_TOKEN
    batch: list[FileEntry] = []
    size = 0
    for file in files:
        if batch and (len(batch) >= limits.batch_notes or size + file.size > most):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.size
    yield batch


def within(values: Mapping[str, Value], paths: Iterable[str]) -> dict[str, Value]:
    """The entries at these paths or below them, without a look at all where the paths are files."""
    roots = top_level(paths)
    found = {path: values[path] for path in roots if path in values}
    if folders := [path for path in roots if path not in found]:
        inside = below(folders)
        found |= {path: value for path, value in values.items() if inside(path)}
    return found
