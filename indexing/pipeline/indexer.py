"""The indexer: brings the index of one vault up to its vault."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notehop.config import Settings
from notehop.config.errors import IndexFailure, IndexLocked, NotehopError, VaultError, VectorServerError
from notehop.indexing.changes import check_deletions, scan
from notehop.indexing.fingerprint import expected_fingerprint
from notehop.indexing.graph.resolve import Status
from notehop.indexing.pipeline.language import advice
from notehop.indexing.pipeline.models import LoadEmbedder, load_embedder
from notehop.indexing.pipeline.run import IndexRun, IndexState, Request
from notehop.indexing.report import Progress, Report, Update
from notehop.indexing.stores.catalog import (
    Catalog,
    check_vault,
    read_catalog_state,
    stamp_of,
    write_catalog_state,
)
from notehop.indexing.stores.chroma import Write, mirror_due, remove_mirror, update_mirror, write_in_child
from notehop.indexing.stores.layout import IndexLayout, replace_file, writing_to
from notehop.indexing.stores.lock import WriterLock
from notehop.indexing.stores.rows import LIMITS, Limits, NoteStatus

if TYPE_CHECKING:
    from llama_index.core.schema import TransformComponent

_PATIENCE = 1.0  # seconds to wait for the lock: who looks at an index may hold it for a moment


class Indexer:
    """Brings the index of one vault up to the vault, as often as it is told to.

    What it knows of the index it reads anew when another process has written meanwhile.
    """

    def __init__(
        self,
        vault: Path,
        settings: Settings,
        layout: IndexLayout,
        progress: Progress | None = None,
        load: LoadEmbedder = load_embedder,
        *,
        command: str = "notehop index",
        write_mirror: Write = write_in_child,
        transformations: Sequence[TransformComponent] = (),
        limits: Limits = LIMITS,
    ) -> None:
        """Touch nothing yet.

        :param load: gives the embedding model; called at most once a run, when a note must be cut.
        :param command: what people know this writer by.
        :param write_mirror: brings the mirror in Chroma to the newest generation.
        :param transformations: the user's own: see :func:`notehop.indexing.index_vault`.
        :param limits: when work is done; they change nothing that comes of it.
        """
        self.vault, self.settings, self.layout = vault, settings, layout
        self.progress = progress or Progress()
        self.load, self.transformations, self.limits = load, transformations, limits
        self._command, self._write_mirror = command, write_mirror
        self._state: IndexState | None = None

    def run(self, *, rebuild: bool = False, allow_mass_delete: bool = False) -> Report:
        """Index what changed since the last run; with ``rebuild``, everything from nothing.

        A rebuild that does not come to its end leaves the index as it was.

        :raises VaultError: if the vault is not there or cannot be listed.
        :raises MassDeletion: if a large share of the notes is gone, unless that is allowed.
        :raises IndexMismatch: if the index was built with other settings, which ``rebuild`` ends,
            or is that of another vault.
        :raises IndexLocked: if another process writes the index.
        :raises IndexUnwritable: if the disk is full or read-only; what was committed stays.
        :raises ModelError: if the embedding model is missing or fails.
        """
        request = Request(allow_mass_delete=allow_mass_delete)
        with self._writing() as fingerprint:
            run = self._rebuild if rebuild else self._run
            update = run(self.layout, fingerprint, request)
            try:
                _, warnings = self._mirror()
            except VectorServerError as exc:
                warnings = (f"{exc}. Searches compare every vector until it is brought up, by the next run",)
        return self._report(replace(update, warnings=(*update.warnings, *warnings)))

    def update(
        self, paths: Iterable[str] | None = None, *, again: bool = False, allow_mass_delete: bool = False
    ) -> Update:
        """Index what changed at some paths and below them, at a cost that does not grow with more.

        Where the index does not know the rest of the vault (nothing was indexed yet, or a run was
        cut off), or for None, everything is looked at.

        :param paths: relative to the vault, with ``/``, whether or not something is there now.
        :param again: make the notes there anew, though they may be as they were.
        :raises NotehopError: as :meth:`run`.
        """
        where = None if paths is None else tuple(paths)
        with self._writing() as fingerprint:
            return self._run(self.layout, fingerprint, Request(where, again, allow_mass_delete))

    def tidy(self, interrupted: Callable[[], bool] = lambda: False) -> bool:
        """Bring the copy of the index in Chroma up to it, and let the words of withdrawn notes leave the
        journal that somebody read when they were.

        :param interrupted: asked now and then: whether to leave that to a later call.
        :returns: whether nothing was left to one.
        :raises NotehopError: as :meth:`run`; VectorServerError if a Chroma server is not brought up.
        """
        with self._writing() as fingerprint:
            if self.layout.journal_mark.exists():
                self._run(self.layout, fingerprint, Request(()))
            return self._mirror(interrupted)[0] and not self.layout.journal_mark.exists()

    @contextmanager
    def _writing(self) -> Iterator[dict[str, Any]]:
        """Hold the lock, and give the fingerprint asked for; of a run that failed, remember why alone."""
        self._is_run = False  # of the vault whose index this is
        try:
            # The vault and the model first: a wrong path must not cost a folder or an old index.
            scan(self.vault, self.settings.vault, within=())
            fingerprint = expected_fingerprint(self.settings)
            self.layout.create(self.vault)
            with WriterLock(self.layout, self._command, patience=_PATIENCE):
                try:
                    self.layout.remove_left_over()
                    yield fingerprint
                except NotehopError as exc:
                    if self._is_run and not isinstance(exc, IndexLocked | VaultError):
                        with suppress(OSError):
                            replace_file(self.layout.failure, str(exc))
                    raise
        except BaseException:
            self._state = None
            raise
        finally:
            self.progress.close()

    def _mirror(self, interrupted: Callable[[], bool] = lambda: False) -> tuple[bool, tuple[str, ...]]:
        """Bring the mirror up; whether nothing is left to a later call, and what to tell people."""
        served = self.settings.vectors.engine == "chroma"
        warnings: tuple[str, ...] = ()
        if served or self.layout.chroma_collection.exists():
            # Not above: only who has such a server needs what asks it.
            from notehop.indexing.stores.served import chroma_mirror

            if served:
                remove_mirror(self.layout)
                return chroma_mirror.update_served_mirror(
                    self.layout, self.settings, interrupted, progress=self.progress
                )
            warnings = chroma_mirror.remove_served_mirror(self.layout, self.settings)
        if not self.settings.index.mirror:
            remove_mirror(self.layout)
            return True, warnings
        if mirror_due(self.layout):
            self.progress.stage("Copying to Chroma", 0, "")
        warning = update_mirror(self.layout, interrupted, self._write_mirror)
        return True, warnings if warning is None else (*warnings, warning)

    def _rebuild(self, layout: IndexLayout, fingerprint: dict[str, Any], request: Request) -> Update:
        """Build a new index beside the old one, which answers until the new one is whole."""
        if not Catalog.exists(layout.catalog):
            return self._run(layout, fingerprint, request)
        if not request.allow_mass_delete:
            # It must not replace another vault's index, nor that of a vault not there now; one that
            # is damaged may be anybody's.
            meta: dict[str, Any] = {}
            indexed = 0
            with suppress(IndexFailure), Catalog.open(layout.catalog, read_only=True) as catalog:
                counts = catalog.counts().notes
                meta, indexed = catalog.meta(), counts.get(NoteStatus.INDEXED, 0)
            check_vault(meta, self.vault, layout.root)
            self._is_run = True
            found = scan(self.vault, self.settings.vault).files
            left = sum(file.kind == "note" for file in found)
            check_deletions(self.vault, indexed, indexed - left)
        self._state = None
        made = self.layout.beside()
        with writing_to(self.layout.root):
            made.home.mkdir(mode=0o700)
        request = replace(request, allow_mass_delete=True)
        update = self._run(made, fingerprint, request)
        # Its words too are those of the former index.
        remove_mirror(self.layout)
        self.layout.put_in_force(made)
        self._state = None
        return update

    def _run(self, layout: IndexLayout, fingerprint: dict[str, Any], request: Request) -> Update:
        state = read_catalog_state(layout)
        harmed = state is None or not state.fits(layout)
        meta = {"vault": str(self.vault.resolve())}
        with Catalog.open(layout.catalog, create=True, meta=meta) as catalog:
            check_vault(catalog.meta(), self.vault, layout.root)
            self._is_run = True
            if harmed and catalog.generation:
                self.progress.stage("Checking the index", 0, "")
                catalog.verify()
            catalog.renew_if_older(state)
            if self._state is None or not self._state.fits(catalog):
                self._state = IndexState(catalog)
            run = IndexRun(self, layout, catalog, self._state, request, fingerprint, harmed)
            update = run.execute()
        write_catalog_state(layout, self._state.generation, stamp_of(self._state.meta))
        with suppress(OSError):
            self.layout.failure.unlink(missing_ok=True)
        return update

    def _report(self, update: Update) -> Report:
        with Catalog.open(self.layout.catalog, read_only=True) as catalog, catalog.snapshot() as view:
            counts = view.counts()
            skipped, failed = (
                [(note.path, note.reason or "") for note in view.notes(status)]
                for status in (NoteStatus.SKIPPED, NoteStatus.FAILED)
            )
            skipped += [(path, reason) for path, reason in view.meta().get("problems", ())]
            advised = advice(self.vault, self.settings, view)
        return Report(
            **asdict(update),
            vault=str(self.vault.resolve()),
            index_dir=str(self.layout.root),
            chunks=counts.chunks,
            skipped=tuple(sorted(skipped)),
            failed=tuple(sorted(failed)),
            links={status.value: counts.links.get(status, 0) for status in Status},
            advice=advised,
        )
