"""Checks an index: every derived part against the catalog, and the catalog in itself."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass

from pydantic import Field

from notehop.app.models.query import Strict
from notehop.app.services.open_vault import Place
from notehop.app.services.status import pending_changes, vector_server_now
from notehop.config import errors
from notehop.indexing.embed.onnx_model import read_manifest
from notehop.indexing.fingerprint import expected_fingerprint
from notehop.indexing.pipeline.language import advice
from notehop.indexing.stores.catalog import (
    Catalog,
    CatalogSnapshot,
    check_fingerprint,
    check_vault,
    read_catalog_state,
)
from notehop.indexing.stores.chroma import mirror_problem
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.stores.lock import WriterLock

INDEX = "notehop index"
REBUILD = "notehop index --rebuild"
ELSEWHERE = "notehop index --index-dir NEW_FOLDER"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with a part of an index.

    ``broken`` tells whether answers suffer or notes are missing; if not, it only takes room.
    """

    part: str
    problem: str
    command: str
    broken: bool = True


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

    def add_failure(self, part: str, exc: Exception) -> None:
        anew = isinstance(exc, errors.IndexDamaged | errors.IndexMismatch | errors.ModelError)
        # Without what it says to do: the finding names that.
        says = " ".join(str(exc).partition("; run:")[0].split())
        self.add(part, says, REBUILD if part == "catalog" and anew else INDEX)

    def add(self, part: str, problem: str, command: str, *, broken: bool = True) -> None:
        self.findings.append(Finding(part, problem, command, broken=broken))


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
        found = IndexCheck()
        try:
            with Catalog.of(layout) as catalog:
                catalog.verify()
                with catalog.snapshot() as view:
                    _check(found, place, catalog, view, alone=alone)
                if not alone and catalog.generation != found.generation:
                    # What was compared are two generations: that they differ means nothing.
                    found.findings = [one for one in found.findings if one.part == "catalog"]
                    found.not_done.append("lexical: the index was written meanwhile")
        except errors.IndexFailure as exc:
            found.add_failure("catalog", exc)
    found.findings.sort(key=lambda one: not one.broken)
    return found


def _check(
    found: IndexCheck, place: Place, catalog: Catalog, view: CatalogSnapshot, *, alone: bool
) -> None:
    """:param alone: whether nobody writes meanwhile: this process holds the writer lock."""
    layout = place.layout
    found.generation = view.generation
    if view.fingerprint is None:
        if alone:
            found.add("catalog", "the first run was cut off", INDEX)
        return
    bare = layout.database is not None and not layout.marker.is_file()
    if bare:
        # A machine that has only asked so far.
        found.not_done.append("lexical: this machine keeps none; notehop index makes it")
    elif not layout.marker.is_file():
        found.add("marker", f"{layout.marker} is gone, so no run writes to this folder", ELSEWHERE)
    try:
        check_vault(view.meta(), place.vault, layout.root)
        check_fingerprint(view.fingerprint or {}, expected_fingerprint(place.settings))
    except (errors.IndexMismatch, errors.ModelError) as exc:
        found.add_failure("catalog", exc)
    # Whether the catalog still knows what it knew when the last run ended.
    state = read_catalog_state(layout)
    if state is not None and state.stamp == view.stamp and view.generation < state.generation:
        lost = f"generations {view.generation + 1} to {state.generation} are lost"
        # A run takes a server's word for what there is.
        found.add("catalog", lost, REBUILD if layout.database is None else INDEX)
    if not bare:
        _check_derived(found, place, view)
    for line in advice(place.vault, place.settings, view):
        found.add("language", line, REBUILD, broken=False)
    # What a run that was cut off left; while one is under way, it is its own business.
    if alone and view.meta().get("under_way"):
        found.add("catalog", "the last run was cut off: notes are missing", INDEX)
    if alone and layout.purge_mark.exists():
        left = "words of withdrawn notes may stand in files"
        found.add("purge", left, INDEX, broken=False)
    if alone and layout.left_over():
        left = "a rebuild was cut off, or an earlier version left files, which takes room"
        found.add("rebuild", left, INDEX, broken=False)
    try:
        found.pending = pending_changes(place, catalog).pending
    except errors.NotehopError as exc:
        found.not_done.append(f"changes since the last run: {exc}")


def _check_derived(found: IndexCheck, place: Place, view: CatalogSnapshot) -> None:
    layout = place.layout
    try:
        _, generation, stamp = LexicalIndex.load(layout.postings)
        if stamp != view.stamp or generation > view.generation:
            found.add("lexical", "it is of another index", INDEX)
    except errors.IndexDamaged as exc:
        if view.has_chunks:
            found.add_failure("lexical", exc)
    manifest = read_manifest(layout.model)
    if manifest is None or not manifest.is_sound(layout.model):
        found.add("model", "the model for queries is not there or not whole", INDEX)
    served = vector_server_now(place, view.stamp)
    if served is not None and served.problem is not None:
        found.add("chroma", served.problem, INDEX)
    elif served is None and place.settings.index.mirror and (says := mirror_problem(layout, view)):
        found.add("chroma", says, INDEX, broken=False)
