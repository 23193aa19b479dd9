"""Checks an index: every derived part against the catalog, and the catalog in itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import partial

from pydantic import Field

from notehop.app.models.query import Strict
from notehop.app.services.open_vault import Place
from notehop.app.services.status import pending_changes, vector_server_now
from notehop.config import errors
from notehop.indexing.embed.onnx_model import read_manifest
from notehop.indexing.identity import wanted
from notehop.indexing.stores.catalog import Catalog, CatalogSnapshot, read_catalog_state
from notehop.indexing.stores.check import (
    ELSEWHERE,
    INDEX,
    REBUILD,
    Checked,
    Finding,
    PartState,
    check_catalog,
    check_lexical,
    check_mirror,
    check_sentences,
    check_vectors,
    said_of,
    wanted_of,
)
from notehop.indexing.stores.fingerprint import check_fingerprint, check_vault
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lock import WriterLock
from notehop.indexing.stores.replacement import settle


class IndexCheck(Strict):
    """Whether the parts of the index agree with the catalog.

    ``exists`` is false where nothing was indexed yet. ``findings`` begin with those that are broken.
    ``not_done`` are checks that could not be made, and why.
    """

    exists: bool = True
    generation: int | None = None
    pending: int | None = None
    findings: list[Finding] = Field(default_factory=list)
    not_done: list[str] = Field(default_factory=list)
    parts: list[PartState] = Field(default_factory=list)


class _IndexChecks:
    """Gathers in ``found`` what the checks of one index find."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.layout = place.layout
        self.found = IndexCheck()
        self.alone = False
        """Whether nobody writes meanwhile: this process holds the writer lock."""

    def run(self) -> None:
        """Do every check that can be done."""
        with ExitStack() as held:
            with suppress(errors.IndexLocked, errors.IndexUnwritable):
                held.enter_context(WriterLock(self.layout, "notehop doctor"))
                self.alone = True
            self._run()

    def _run(self) -> None:
        settle(self.layout)
        try:
            catalog = Catalog.open(self.layout.catalog, read_only=True)
        except errors.IndexFailure as exc:
            self._failed("catalog", exc)
            return
        with catalog:
            try:
                catalog.verify()
                with catalog.snapshot() as view:
                    self._whole(catalog, view)
            except errors.IndexFailure as exc:
                self._failed("catalog", exc)
                return
            if not self.alone and catalog.generation != self.found.generation:
                # What was compared are two generations: that they differ means nothing.
                self.found.findings = [one for one in self.found.findings if one.part == "catalog"]
                self.found.not_done.append("vectors, lexical: the index was written meanwhile")

    def _whole(self, catalog: Catalog, view: CatalogSnapshot) -> None:
        self.found.generation = view.generation
        if view.fingerprint is None:
            if self.alone:
                self.found.findings.append(Finding("catalog", "the first run was cut off", INDEX))
            return
        bare = self.layout.database is not None and not self.layout.marker.is_file()
        if bare:
            # A machine that has only asked so far.
            told = "vectors, lexical: this machine keeps none of them; notehop index makes them"
            self.found.not_done.append(told)
        elif not self.layout.marker.is_file():
            problem = f"{self.layout.marker} is gone, so no run writes to this folder"
            self.found.findings.append(Finding("marker", problem, ELSEWHERE))
        self._settings(view)
        counts = view.counts()
        self.found.parts.append(
            PartState(part="catalog", items=counts.chunks, generation=view.generation)
        )
        self.found.findings += check_catalog(view)
        self._lost(view)
        wants = wanted_of(view)
        self.found.findings += check_sentences(view, wants["links"])
        if not bare:
            self._caches(view, wants["chunks"])
        if self.alone:
            self.found.findings += _left_over(self.layout, view)
        try:
            self.found.pending = pending_changes(self.place, catalog).pending
        except errors.NotehopError as exc:
            self.found.not_done.append(f"changes since the last run: {exc}")

    def _caches(self, view: CatalogSnapshot, chunks: Mapping[str, str]) -> None:
        self._take("vectors", partial(check_vectors, self.layout, view, chunks))
        self._take("lexical", partial(check_lexical, self.layout, view, chunks))
        self.found.findings += _query_model(self.layout)
        served = vector_server_now(self.place, view.stamp)
        if served is not None and served.problem is not None:
            self.found.findings.append(Finding("chroma", served.problem, INDEX))
        elif served is None and self.place.settings.index.mirror:
            self._take("chroma", partial(check_mirror, self.layout, view))

    def _settings(self, view: CatalogSnapshot) -> None:
        try:
            check_vault(view.meta(), self.place.vault, self.layout.root)
            check_fingerprint(view.fingerprint or {}, wanted(self.place.settings))
        except (errors.IndexMismatch, errors.ModelError) as exc:
            self._failed("catalog", exc)

    def _lost(self, view: CatalogSnapshot) -> None:
        """Whether the catalog still knows what it knew when the last run ended."""
        state = read_catalog_state(self.layout)
        if state is not None and state.stamp == view.stamp and view.generation < state.generation:
            problem = f"generations {view.generation + 1} to {state.generation} are lost"
            # A run takes a server's word for what there is.
            command = REBUILD if self.layout.database is None else INDEX
            self.found.findings.append(Finding("catalog", problem, command))

    def _take(self, part: str, check: Callable[[], Checked]) -> None:
        try:
            found = check()
        except (errors.IndexFailure, OSError) as exc:
            self._failed(part, exc)
            return
        self.found.findings += found.findings
        self.found.parts += found.parts

    def _failed(self, part: str, exc: Exception) -> None:
        anew = isinstance(exc, errors.IndexDamaged | errors.IndexMismatch | errors.ModelError)
        command = REBUILD if part == "catalog" and anew else INDEX
        self.found.findings.append(Finding(part, said_of(exc), command))


def check_index(place: Place) -> IndexCheck:
    """Check the index of a place; nothing in it is repaired."""
    layout = place.layout
    if not any(path.exists() for path in layout.contents) and not _on_server(layout):
        return IndexCheck(exists=False)
    check = _IndexChecks(place)
    check.run()
    check.found.findings.sort(key=lambda one: not one.broken)
    return check.found


def _on_server(layout: IndexLayout) -> bool:
    """Whether a server has the catalog; one that cannot be asked is for the check to report."""
    try:
        return layout.database is not None and Catalog.exists(layout.database)
    except errors.IndexFailure:
        return True


def _left_over(layout: IndexLayout, view: CatalogSnapshot) -> Iterator[Finding]:
    """What a run that was cut off left; while one is under way, it is its own business."""
    if view.meta().get("under_way"):
        yield Finding("catalog", "the last run was cut off: notes are missing", INDEX)
    if layout.purge_mark.exists():
        problem = "a run was cut off: words of withdrawn notes may stand in files"
        yield Finding("purge", problem, INDEX, broken=False)
    if layout.next.root.exists():
        yield Finding("next", "a rebuild was cut off and takes room", INDEX, broken=False)


def _query_model(layout: IndexLayout) -> Iterator[Finding]:
    """Whether queries find the model that was exported for them."""
    manifest = read_manifest(layout.model)
    if manifest is None or not manifest.is_sound(layout.model):
        yield Finding("model", "the model for queries is not there or not whole", INDEX)
