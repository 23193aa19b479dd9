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
from notehop.indexing.changes import Changes, check_deletions, compare
from notehop.indexing.enrich.freshness import delete_orphans
from notehop.indexing.graph.files import affected_names
from notehop.indexing.pipeline.chunking import unread_row
from notehop.indexing.pipeline.embedding import BackgroundEmbedder, EmbeddingProgress
from notehop.indexing.pipeline.language import judge
from notehop.indexing.pipeline.models import LoadEmbedder
from notehop.indexing.pipeline.state import IndexState, NoteReader, RunCounts, apart, moved, within
from notehop.indexing.pipeline.upkeep import derive, lacks_query_model, remove_damaged, withdraw
from notehop.indexing.report import Progress, Update
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.chroma import remove_mirror
from notehop.indexing.stores.fingerprint import check_fingerprint
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.limits import LIMITS, Limits
from notehop.indexing.stores.model import Batch, NoteStatus
from notehop.indexing.themes.update import update_themes
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.vault.parse import Read
from notehop.indexing.vault.walk import FileEntry, Walk

if TYPE_CHECKING:
    from notehop.indexing.enrich.headers import Headers
    from notehop.indexing.nodes.parser import SectionNodeParser
    from notehop.indexing.pipeline.batch import BatchBuilder
    from notehop.indexing.pipeline.chunking import ChunkedBatch


TICK_NS = 2_000_000_000
"""The coarsest clock of a disk, in nanoseconds (FAT): within one tick of it a note can be written
twice and show the same time, so that one as young as this is read, whatever its time says."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of the vault: ``walk`` of all that is at ``paths`` or below; None is all.

    ``named`` are the paths of which a change was reported, ``again`` the notes that are to be made
    anew even if they are as they were.
    """

    walk: Walk
    paths: tuple[str, ...] | None = None
    named: frozenset[str] = frozenset()
    again: frozenset[str] = frozenset()


class IndexRun:
    """Brings one open catalog, and what is derived from it, up to what was seen of its vault."""

    def __init__(
        self,
        *,
        vault: Path,
        settings: Settings,
        layout: IndexLayout,
        progress: Progress,
        load: LoadEmbedder,
        catalog: Catalog,
        known: IndexState,
        seen: Seen,
        asked: Mapping[str, Any],
        allow_mass_delete: bool = False,
        lately: int = 0,
        headers: Headers | None = None,
        enrichment: Path | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        """Touch nothing yet.

        :param known: what the catalog holds; it is brought up to what this run writes.
        :param lately: notes that the runs just before forgot: they count as deleted in this one.
        :param headers: what a model wrote to place passages in their notes.
        :param enrichment: file of what was written about notes, if not that of ``layout``.
        """
        self._headers = headers
        self._limits = limits
        self._enrichment = enrichment or layout.enrichment
        self._vault = vault
        self._settings = settings
        self._layout = layout
        self._progress = progress
        self._load = load
        self._catalog = catalog
        self._state = known
        self._seen = seen
        self._asked = dict(asked)
        self._allow_mass_delete = allow_mass_delete
        self._lately = lately
        self._embedding = EmbeddingProgress(progress)
        self._counts = RunCounts(known.stamps)
        self._warnings: list[str] = []
        self._seconds: dict[str, float] = {}
        self._dimensions = int(asked["dimensions"])
        self._before = known.generation
        self._language = "en"
        self.outgrown: str | None = None
        """The language of most notes by now, where the index was made for another one."""

    def execute(self) -> Update:
        """Do what is to be done, batch by batch; each ends in a generation that is whole.

        :raises IndexMismatch: if the index was built with other settings.
        :raises MassDeletion: if too large a share of the notes is gone; nothing is changed then.
        """
        started = time.perf_counter()
        if (stored := self._state.meta.get("fingerprint")) is not None:
            check_fingerprint(stored, self._asked)
        everything = self._seen.paths is None
        if everything:
            self._warnings += remove_damaged(self._layout)
        try:
            with rare_collections():
                self._write(self._changes())
            self._warnings += delete_orphans(self._enrichment, self._catalog, self._seen.paths)
            if everything and self._catalog.has_chunks and lacks_query_model(self._layout):
                self._progress.stage("Loading the model", 0, "")
                self._parser  # noqa: B018 (loading the model makes the one for queries)
            with self._timed("derive"):
                if self._layout.purge_mark.exists():
                    # While the mark still says that words have to leave every file.
                    update_themes(self._layout, self._catalog, self._vault, self._settings.themes)
                derive(self._layout, self._catalog, everything=everything, limits=self._limits)
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
        known, walk, paths = self._state, self._seen.walk, self._seen.paths
        stamps: Mapping[str, Any] = known.stamps if paths is None else within(known.stamps, paths)
        files: Mapping[str, bool] = known.attachments
        if paths is not None:
            # A note is no other file, and nothing is below it.
            files = within(files, [path for path in paths if path not in stamps])
        again = self._to_be_made_anew()
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
            named=self._seen.named,
        )
        if not self._allow_mass_delete:
            check_deletions(self._vault, changes, known.stamps, self._settings.vault, self._lately)
        # What is as it was is not written again: a run without changes writes nothing.
        news = [file for file in changes.retry if self._notes.is_news(file)]
        return replace(changes, read=tuple(sorted([*changes.read, *news], key=_path_of)))

    def _to_be_made_anew(self) -> frozenset[str]:
        """Notes that are to be cut anew: with other headers, every note is another one."""
        if not self._state.generation or self._state.meta.get("headers") == self._header_identity:
            return self._seen.again
        stamps = self._state.stamps.items()
        return frozenset(path for path, one in stamps if one.status is NoteStatus.INDEXED)

    @property
    def _header_identity(self) -> dict[str, Any] | None:
        return None if self._headers is None else self._headers.identity

    def _about(self) -> dict[str, Any]:
        """What the catalog is to say of the vault as a whole."""
        walk, known, paths = self._seen.walk, self._state, self._seen.paths
        elsewhere = apart([""] if paths is None else paths)
        problems = {*walk.problems, *(told for told in known.problems if elsewhere(told[0]))}
        return {
            "vault": str(self._vault.resolve()),
            "headers": self._header_identity,
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
        chunker = Chunker(lambda: self._parser, Tokenizer(self._language), self._headers)
        limits = self._limits
        parts = [*batches(changes.read, limits.batch_notes, limits.batch_bytes)] or [()]
        with BackgroundEmbedder(self._embedding, limits.embed_beside) as ahead:
            builder = self._builder(changes, ahead)

            def begin(group: Sequence[FileEntry]) -> ChunkedBatch:
                with self._timed("read"):
                    reads = self._notes.read(group)
                first = group is parts[0]
                if first:
                    self._announce(reads, len(changes.read))
                with self._timed("cut"):
                    chunked = chunker.chunk(reads, rows if first else ())
                with self._timed("embed"):
                    ahead.want(builder.unknown_texts(chunked), len(group))
                return chunked

            done = 0
            for number, chunked in enumerate(one_ahead(parts, begin), start=1):
                last = number == len(parts)
                went = moved(chunked.reads, gone, known, self._catalog)
                leaving = sorted(gone) if last else sorted(went)
                with self._timed("embed"):
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
                done += len(chunked.reads)
                self._embedding.reached(done)
        self._warnings += self._embedding.warnings()

    def _builder(self, changes: Changes, ahead: BackgroundEmbedder) -> BatchBuilder:
        from notehop.indexing.pipeline.batch import BatchBuilder

        return BatchBuilder(
            catalog=self._catalog,
            files=self._state.files(self._catalog, self._seen.walk, changes),
            ahead=ahead,
            dimensions=self._dimensions,
        )

    def _committed(self, batch: Batch, moved: Sequence[str]) -> None:
        if self._counts.withdraws(batch):
            withdraw(self._layout)
        if self._counts.forgets(batch, moved):
            # Chroma keeps the bytes of what it deletes. Before the commit, in case that is cut off.
            remove_mirror(self._layout)
        generation = self._catalog.commit(batch)
        self._counts.written(batch, moved)
        self._state.wrote(batch, generation)

    def _announce(self, reads: Sequence[Read], notes: int) -> None:
        if any(read.note is not None for read in reads):
            # A stage of its own, so that the rate of what follows is that of the notes.
            self._progress.stage("Loading the model", 0, "")
            self._parser  # noqa: B018 (a cached property)
        self._progress.stage("Indexing", notes, "notes")

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


def _path_of(file: FileEntry) -> str:
    return file.path


Begun = TypeVar("Begun")
Item = TypeVar("Item")


def batches(
    files: Iterable[FileEntry], most_notes: int, most_bytes: int
) -> Iterator[Sequence[FileEntry]]:
    """Runs of notes that fit a transaction, in order; a note over ``most_bytes`` is alone."""
    group: list[FileEntry] = []
    size = 0
    for file in files:
        if group and (len(group) >= most_notes or size + file.size > most_bytes):
            yield group
            group, size = [], 0
        group.append(file)
        size += file.size
    if group:
        yield group


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
