"""One run under the writer lock: what to read, in which batches, and what it came to.

Touches: vault-read, index, model.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from notehop.config import Settings
from notehop.indexing.changes import Changes, check_deletions, compare, scan, unread_pdfs
from notehop.indexing.enrich.freshness import delete_orphans
from notehop.indexing.enrich.headers import headers_of
from notehop.indexing.graph.files import affected_names
from notehop.indexing.pipeline.embedding import EmbeddingProgress, beside
from notehop.indexing.pipeline.language import judge
from notehop.indexing.pipeline.models import LoadEmbedder
from notehop.indexing.pipeline.state import (
    IndexState,
    NoteReader,
    RunCounts,
    apart,
    moved,
    unread_row,
    within,
)
from notehop.indexing.pipeline.upkeep import derive, lacks_query_model, remove_damaged, withdraw
from notehop.indexing.report import Progress, Update
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.chroma import remove_mirror
from notehop.indexing.stores.fingerprint import check_fingerprint
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.model import LIMITS, Batch, Limits, NoteStatus
from notehop.indexing.themes.update import update_themes
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.vault.parse import Read
from notehop.indexing.vault.walk import FileEntry

if TYPE_CHECKING:
    from concurrent.futures import Future

    from llama_index.core.schema import TransformComponent

    from notehop.indexing.nodes.parser import SectionNodeParser
    from notehop.indexing.pipeline.chunking import ChunkedBatch


TICK_NS = 2_000_000_000
"""The coarsest clock of a disk, in nanoseconds (FAT): within one tick of it a note can be written
twice and show the same time, so that one as young as this is read, whatever its time says."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a run is asked for.

    ``paths`` are looked at, with what is below them; None is all of the vault, and so is any where a
    run before was cut off. ``again``: the notes at them are made anew even if they are as they were.
    ``deleted_before``: notes that the updates just before forgot, which count as deleted in this one;
    None is what the record of the last runs says.
    """

    paths: tuple[str, ...] | None = None
    again: bool = False
    allow_mass_delete: bool = False
    deleted_before: int | None = None

    @property
    def follows(self) -> bool:
        """Whether a follower asks: it counts by itself, and a run that found nothing leaves no record."""
        return self.deleted_before is not None


class IndexRun:
    """Brings one open catalog, and what is derived from it, up to its vault."""

    def __init__(
        self,
        *,
        vault: Path,
        settings: Settings,
        layout: IndexLayout,
        progress: Progress,
        load: LoadEmbedder,
        catalog: Catalog,
        state: IndexState,
        request: Request,
        fingerprint: Mapping[str, Any],
        enrichment: Path,
        harmed: bool = False,
        transformations: Sequence[TransformComponent] = (),
        limits: Limits = LIMITS,
    ) -> None:
        """Look at the vault, and write nothing yet.

        :param state: what the catalog holds; it is brought up to what this run writes.
        :param fingerprint: what the settings ask for.
        :param enrichment: the file of what was written about notes.
        :param harmed: the catalog's files are other than the last run left them.
        :param transformations: the user's own, for what is embedded of passages.
        :raises VaultError: if the vault is not there or cannot be listed.
        """
        self._limits = limits
        self._enrichment = enrichment
        self._vault = vault
        self._settings = settings
        self._layout = layout
        self._progress = progress
        self._load = load
        self._catalog = catalog
        self._state = state
        self._request = request
        self._asked = dict(fingerprint)
        self._embedding = EmbeddingProgress(progress, limits.embed_beside)
        self._counts = RunCounts(state.stamps)
        self._warnings: list[str] = []
        self._seconds: dict[str, float] = {}
        self._dimensions = int(fingerprint["dimensions"])
        self._before = state.generation
        self._language = "en"
        self.outgrown: str | None = None
        """The language of most notes by now, where the index was made for another one."""
        self._headers = headers_of(settings, enrichment)
        self._transformations = transformations
        self._dressing = {
            "headers": None if self._headers is None else self._headers.identity,
            "transformations": identity_of(transformations),
        }
        self._paths = request.paths
        if harmed or state.cut_off or self._dressed_otherwise:
            self._paths = None
        if self._paths is None:
            progress.stage("Scanning", 0, "files")
        else:
            self._paths = (*self._paths, *state.symlinks)
        self._walk = scan(vault, settings.vault, self._paths)

    @property
    def everything(self) -> bool:
        """Whether it looks at the whole vault."""
        return self._paths is None

    def execute(self) -> Update:
        """Do what is to be done, batch by batch; each ends in a generation that is whole.

        :raises IndexMismatch: if the index was built with other settings.
        :raises MassDeletion: if too large a share of the notes is gone; nothing is changed then.
        """
        started = time.perf_counter()
        if (stored := self._state.meta.get("fingerprint")) is not None:
            check_fingerprint(stored, self._asked)
        if self.everything:
            self._warnings += remove_damaged(self._layout)
            attachments = {
                file.path: bool(file.excluded)
                for file in self._walk.files
                if file.kind == "attachment"
            }
            if unread := unread_pdfs(attachments, self._settings.vault):
                self._warnings.append(unread)
        try:
            with rare_collections():
                self._write(self._changes())
            self._warnings += delete_orphans(self._enrichment, self._catalog, self._paths)
            if self.everything and self._catalog.has_chunks and lacks_query_model(self._layout):
                self._progress.stage("Loading the model", 0, "")
                self._parser  # noqa: B018 (loading the model makes the one for queries)
            with self._timed("derive"):
                if self._layout.purge_mark.exists():
                    # While the mark still says that words have to leave every file.
                    update_themes(self._layout, self._catalog, self._vault, self._settings.themes)
                derive(self._layout, self._catalog, everything=self.everything, limits=self._limits)
        finally:
            self._seconds["total"] = time.perf_counter() - started
        return self.so_far()

    def so_far(self) -> Update:
        """What was done until now; a run that fails has kept that."""
        return Update(
            generation=self._state.generation,
            wrote=self._state.generation != self._before,
            notes=self._state.indexed,
            added=self._counts.added,
            changed=self._counts.changed,
            moved=self._counts.moved,
            deleted=self._counts.deleted,
            warnings=tuple(self._warnings),
            embedded=self._embedding.texts,
            seconds=self._seconds,
        )

    def _changes(self) -> Changes:
        """What to do, with the notes that are to be made anew among those to read."""
        known, walk, paths = self._state, self._walk, self._paths
        stamps: Mapping[str, Any] = known.stamps if paths is None else within(known.stamps, paths)
        files: Mapping[str, bool] = known.attachments
        if paths is not None:
            # A note is no other file, and nothing is below it.
            files = within(files, [path for path in paths if path not in stamps])
        # What is gone is none of them: it is forgotten by this run as by any other.
        again = self._to_be_made_anew() & {file.path for file in walk.files}
        if again:
            stamps = {path: stamp for path, stamp in stamps.items() if path not in again}
        self._notes = NoteReader(
            self._vault,
            known,
            lost=again,
            comment_links=self._settings.vault.comment_links,
            warn=self._warnings.append,
        )
        limit = self._settings.vault.max_note_bytes
        recent = time.time_ns() - TICK_NS
        changes = compare(
            walk,
            stamps,
            known.reasons,
            files,
            limit,
            recent_ns=recent,
            named=frozenset(self._request.paths or ()),
        )
        if not self._request.allow_mass_delete:
            check_deletions(
                self._vault,
                changes,
                known.stamps,
                self._settings.vault,
                self._request.deleted_before or 0,
            )
        # What is as it was is not written again: a run without changes writes nothing.
        news = [file for file in changes.retry if self._notes.is_news(file)]
        return replace(changes, read=tuple(sorted([*changes.read, *news], key=_path_of)))

    def _to_be_made_anew(self) -> frozenset[str]:
        """Notes that are to be cut anew: all of them, where other text is put to passages now."""
        if not self._state.generation or not self._dressed_otherwise:
            return frozenset((self._request.paths or ()) if self._request.again else ())
        stamps = self._state.stamps.items()
        return frozenset(path for path, one in stamps if one.status is NoteStatus.INDEXED)

    @property
    def _dressed_otherwise(self) -> bool:
        """Whether the index has passages with other headers or transformations."""
        return any(self._state.meta.get(key) != one for key, one in self._dressing.items())

    def _about(self) -> dict[str, Any]:
        """What the catalog is to say of the vault as a whole."""
        walk, known, paths = self._walk, self._state, self._paths
        elsewhere = apart([""] if paths is None else paths)
        problems = {*walk.problems, *(told for told in known.problems if elsewhere(told[0]))}
        return {
            "vault": str(self._vault.resolve()),
            **self._dressing,
            "problems": [list(told) for told in sorted(problems)],
            "symlinks": sorted({*walk.symlinks, *filter(elsewhere, known.symlinks)}),
        }

    def _write(self, changes: Changes) -> None:
        known = self._state
        judged = judge(self._vault, self._asked["language"], known, changes)
        self._language, self.outgrown = judged.language, judged.outgrown
        about = {**self._about(), **judged.told}
        told = all(known.meta.get(key) == value for key, value in about.items())
        cut_off = known.cut_off
        if not changes and told and not cut_off:
            return
        from notehop.indexing.pipeline.batch import BatchBuilder
        from notehop.indexing.pipeline.chunking import Chunker

        # Links that were resolved before a run was cut off may have met files it had seen: what it
        # assumed of them is not known.
        every_link = bool(known.meta.get("under_way"))
        fingerprint = {**self._asked, "language": self._language}
        if not (changes.read or self._catalog.has_chunks):
            # An empty vault has no language; its first notes will have one.
            fingerprint["language"] = self._asked["language"]
        other = {
            name for path in (*changes.attach, *changes.detach) for name in affected_names(path)
        }
        gone = set(changes.gone)
        rows = [unread_row(file, NoteStatus.SKIPPED, reason) for file, reason in changes.skip]
        chunker = Chunker(
            lambda: self._parser,
            Tokenizer(self._language),
            self._catalog,
            self._embedding,
            self._headers,
            self._transformations,
        )
        files = known.files(self._catalog, self._walk, changes)
        builder = BatchBuilder(self._catalog, files, chunker, self._dimensions)
        limits = self._limits
        parts = [*batches(changes.read, limits.batch_notes, limits.batch_tokens)] or [()]
        with beside(self._embedding) as begin_beside:

            def begin(group: Sequence[FileEntry]) -> Future[ChunkedBatch]:
                with self._timed("read"):
                    reads = self._notes.read(group)
                first = group is parts[0]
                if first:
                    self._announce(reads, changes.read)
                chunked = chunker.open(reads, rows if first else ())
                with self._timed("embed"):
                    return begin_beside(lambda: chunker.embed(chunked, tokens_of(group)))

            done = 0
            for number, begun in enumerate(one_ahead(parts, begin), start=1):
                last = number == len(parts)
                with self._timed("embed"):
                    chunked = begun.result()
                went = moved(chunked.reads, gone, known, self._catalog)
                leaving = sorted(gone) if last else sorted(went)
                with self._timed("link"):
                    batch = builder.build(
                        chunked, leaving, other if last else (), every_link=last and every_link
                    )
                # Until the last batch, links may lead to files that only this walk has seen.
                meta: dict[str, Any] = {
                    "fingerprint": fingerprint,
                    "under_way": not last,
                    "written": time.time(),
                }
                if last:
                    meta |= about
                    # With the files that are no notes.
                    batch = replace(batch, attach=changes.attach, detach=changes.detach)
                with self._timed("store"):
                    self._committed(replace(batch, meta=meta), went)
                gone.difference_update(leaving)
                self._warnings += [w for r in chunked.reads if r.note for w in r.note.warnings]
                done += tokens_of(parts[number - 1])
                self._embedding.reached(done)
        self._warnings += self._embedding.warnings()

    def _committed(self, batch: Batch, moved: Sequence[str]) -> None:
        if self._counts.withdraws(batch):
            withdraw(self._layout)
        if self._counts.forgets(batch, moved):
            # Chroma keeps the bytes of what it deletes. Before the commit, in case that is cut off.
            remove_mirror(self._layout)
        generation = self._catalog.commit(batch)
        self._counts.written(batch, moved)
        self._state.wrote(batch, generation)

    def _announce(self, reads: Sequence[Read], files: Sequence[FileEntry]) -> None:
        if any(read.note is not None for read in reads):
            # A stage of its own, so that the rate of what follows is that of the notes.
            self._progress.stage("Loading the model", 0, "")
            self._parser  # noqa: B018 (a cached property)
        # By tokens, which take equal time each; notes do not.
        notes = f"{len(files):,} note{'' if len(files) == 1 else 's'}"
        self._progress.stage(f"Indexing {notes}", tokens_of(files), "tokens")

    @cached_property
    def _parser(self) -> SectionNodeParser:
        """What cuts notes to the measure of the model, which is loaded for it."""
        from notehop.indexing.enrich.headers import HEADER_TOKENS
        from notehop.indexing.nodes.parser import SectionNodeParser

        with self._timed("load model"):
            embedder = self._load(self._settings.embedding, self._layout.model)
        self._embedding.watch(embedder)
        return SectionNodeParser.of(
            embedder,
            self._settings.chunking,
            self._language,
            reserve=0 if self._headers is None else HEADER_TOKENS,
        )

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[stage] = self._seconds.get(stage, 0.0) + time.perf_counter() - started


def identity_of(transformations: Sequence[TransformComponent]) -> list[str] | None:
    """What tells transformations from others: their classes and settings; None for none."""
    if not transformations:
        return None
    from llama_index.core.ingestion.pipeline import get_transformation_hash

    return [get_transformation_hash([], one) for one in transformations]


def _path_of(file: FileEntry) -> str:
    return file.path


Begun = TypeVar("Begun")
Item = TypeVar("Item")


_BYTES_A_TOKEN = 4
"""Of English prose; a model's own tokenizer is not asked before a note is read."""


def tokens_of(files: Iterable[FileEntry]) -> int:
    """About how many tokens some notes are."""
    return sum(file.size for file in files) // _BYTES_A_TOKEN


def batches(
    files: Iterable[FileEntry], most_notes: int, most_tokens: int
) -> Iterator[Sequence[FileEntry]]:
    """Runs of notes that fit a transaction, in order; a note over ``most_tokens`` is alone."""
    batch: list[FileEntry] = []
    size = 0
    for file in files:
        if batch and (len(batch) >= most_notes or size + file.size > most_tokens * _BYTES_A_TOKEN):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.size
    if batch:
        yield batch


def one_ahead(items: Iterable[Item], begin: Callable[[Item], Begun]) -> Iterator[Begun]:
    """What ``begin`` makes of each item, in order; it has begun the next one by then."""
    waiting: list[Begun] = []
    for item in items:
        waiting.append(begin(item))
        if len(waiting) > 1:
            yield waiting.pop(0)
    yield from waiting


_NEW_OBJECTS = 50_000
"""New objects after which Python looks for cycles; its own number is 700. Rows, links and chunks of
a batch hold no cycles: looking through them took a quarter of a first index without the model."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for cycles less often in the block."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _NEW_OBJECTS), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
