"""Checks an index: every derived part against the catalog, and the catalog in itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial

from pydantic import Field

from notehop.app.models.query import Strict
from notehop.app.services.open_vault import Place
from notehop.app.services.status import pending_changes, vector_server_now
from notehop.config import errors
from notehop.indexing.embed.onnx_model import read_manifest
from notehop.indexing.fingerprint import expected_fingerprint
from notehop.indexing.stores.catalog import (
    Catalog,
    CatalogSnapshot,
    check_fingerprint,
    check_vault,
    read_catalog_state,
)
from notehop.indexing.stores.check import (
    ELSEWHERE,
    INDEX,
    REBUILD,
    CheckResult,
    Finding,
    PartState,
    check_catalog,
    check_derived,
    check_mirror,
    check_sentences,
    said_of,
    wanted_of,
)
from notehop.indexing.stores.lock import WriterLock


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


def check_index(place: Place) -> IndexCheck:
    """Check the index of a place; nothing in it is repaired."""
    layout = place.layout
    if not any(path.exists() for path in layout.contents):
        try:
            if layout.database is None or not Catalog.exists(layout.database):
                return IndexCheck(exists=False)
        except errors.IndexFailure:
            pass  # a server that cannot be asked is for the check to report
    with ExitStack() as held:
        alone = False
        with suppress(errors.IndexLocked, errors.IndexUnwritable):
            held.enter_context(WriterLock(layout, "notehop doctor"))
            alone = True
        checks = _IndexChecks(place, alone)
        found = checks.found
        try:
            with Catalog.of(layout) as catalog:
                catalog.verify()
                with catalog.snapshot() as view:
                    checks.run(catalog, view)
                if not alone and catalog.generation != found.generation:
                    # What was compared are two generations: that they differ means nothing.
                    found.findings = [one for one in found.findings if one.part == "catalog"]
                    found.not_done.append("vectors, lexical: the index was written meanwhile")
        except errors.IndexFailure as exc:
            checks.fail("catalog", exc)
    found.findings.sort(key=lambda one: not one.broken)
    return found


@dataclass(slots=True)
class _IndexChecks:
    """Gathers in ``found`` what the checks of one index find.

    ``alone`` tells whether nobody writes meanwhile: this process holds the writer lock.
    """

    place: Place
    alone: bool
    found: IndexCheck = field(default_factory=IndexCheck)

    def run(self, catalog: Catalog, view: CatalogSnapshot) -> None:
        found, layout = self.found, self.place.layout
        found.generation = view.generation
        if view.fingerprint is None:
            if self.alone:
                self._find("catalog", "the first run was cut off", INDEX)
            return
        bare = layout.database is not None and not layout.marker.is_file()
        if bare:
            # A machine that has only asked so far.
            found.not_done.append(
                "vectors, lexical: this machine keeps none of them; notehop index makes them"
            )
        elif not layout.marker.is_file():
            self._find(
                "marker", f"{layout.marker} is gone, so no run writes to this folder", ELSEWHERE
            )
        try:
            check_vault(view.meta(), self.place.vault, layout.root)
            check_fingerprint(view.fingerprint or {}, expected_fingerprint(self.place.settings))
        except (errors.IndexMismatch, errors.ModelError) as exc:
            self.fail("catalog", exc)
        chunks = view.counts().chunks
        found.parts.append(PartState(part="catalog", items=chunks, generation=view.generation))
        found.findings += check_catalog(view)
        # Whether the catalog still knows what it knew when the last run ended.
        state = read_catalog_state(layout)
        if state is not None and state.stamp == view.stamp and view.generation < state.generation:
            lost = f"generations {view.generation + 1} to {state.generation} are lost"
            # A run takes a server's word for what there is.
            self._find("catalog", lost, REBUILD if layout.database is None else INDEX)
        wants = wanted_of(view)
        found.findings += check_sentences(view, wants["links"])
        if not bare:
            self._caches(view, wants["chunks"])
        # What a run that was cut off left; while one is under way, it is its own business.
        if self.alone and view.meta().get("under_way"):
            self._find("catalog", "the last run was cut off: notes are missing", INDEX)
        if self.alone and layout.purge_mark.exists():
            cut_off = "a run was cut off: words of withdrawn notes may stand in files"
            self._find("purge", cut_off, INDEX, broken=False)
        if self.alone and layout.left_over():
            self._find("rebuild", "a rebuild was cut off and takes room", INDEX, broken=False)
        try:
            found.pending = pending_changes(self.place, catalog).pending
        except errors.NotehopError as exc:
            found.not_done.append(f"changes since the last run: {exc}")

    def _caches(self, view: CatalogSnapshot, chunks: Mapping[str, str]) -> None:
        layout = self.place.layout
        self._take("vectors", partial(check_derived, "vectors", layout, view, chunks))
        self._take("lexical", partial(check_derived, "lexical", layout, view, chunks))
        manifest = read_manifest(layout.model)
        if manifest is None or not manifest.is_sound(layout.model):
            self._find("model", "the model for queries is not there or not whole", INDEX)
        served = vector_server_now(self.place, view.stamp)
        if served is not None and served.problem is not None:
            self._find("chroma", served.problem, INDEX)
        elif served is None and self.place.settings.index.mirror:
            self._take("chroma", partial(check_mirror, layout, view))

    def _take(self, part: str, check: Callable[[], CheckResult]) -> None:
        try:
            found = check()
        except (errors.IndexFailure, OSError) as exc:
            self.fail(part, exc)
            return
        self.found.findings += found.findings
        self.found.parts += found.parts

    def fail(self, part: str, exc: Exception) -> None:
        anew = isinstance(exc, errors.IndexDamaged | errors.IndexMismatch | errors.ModelError)
        self._find(part, said_of(exc), REBUILD if part == "catalog" and anew else INDEX)

    def _find(self, part: str, problem: str, command: str, *, broken: bool = True) -> None:
        self.found.findings.append(Finding(part, problem, command, broken=broken))
