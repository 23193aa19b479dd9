"""What is to be mended in a vault, and whether its index is sound; no model is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath

from pydantic import Field

from notehop.app.models.query import StrictModel
from notehop.app.services.links import Survey
from notehop.app.services.notes.find_note import near_names
from notehop.app.services.open_vault import Place
from notehop.app.services.status import pending_changes, vector_server_now
from notehop.config import errors
from notehop.indexing.embed.onnx_model import read_manifest
from notehop.indexing.fingerprint import expected_fingerprint
from notehop.indexing.graph.files import NOTE_SUFFIX, fold, link_name
from notehop.indexing.graph.resolve import ResolvedLink, Status
from notehop.indexing.pipeline.language import advice
from notehop.indexing.stores.catalog import (
    Catalog,
    CatalogSnapshot,
    check_fingerprint,
    check_vault,
    read_catalog_state,
)
from notehop.indexing.stores.chroma import mirror_problem
from notehop.indexing.stores.lexical_segments import read_segments
from notehop.indexing.stores.lock import read_holder

INDEX = "notehop index"
REBUILD = "notehop index --rebuild"
ELSEWHERE = "notehop index --index-dir NEW_FOLDER"

NEAR_FOR = 500
"""Names that lead nowhere for which near misses are looked for: 3 s among 100,000 names."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with a part of an index.

    ``broken`` tells whether answers suffer or notes are missing; if not, it only takes room.
    """

    part: str
    problem: str
    command: str
    broken: bool = True


class IndexCheck(StrictModel):
    """Whether the parts of the index agree with the catalog.

    ``exists`` is false where nothing was indexed yet. ``findings`` begin with those that are broken.
    ``not_done`` are checks that could not be made, and why.
    """

    exists: bool = True
    generation: int | None = None
    pending: int | None = None
    findings: list[Finding] = Field(default_factory=list)
    not_done: list[str] = Field(default_factory=list)

    def add(self, part: str, problem: str, command: str, *, broken: bool = True) -> None:
        self.findings.append(Finding(part, problem, command, broken=broken))


class BrokenLinks(StrictModel):
    """What links name that leads nowhere, or to one of several files: how many, and where they stand.

    ``target`` is as the first of them writes it; of a heading or block, with the path of its note.
    ``places`` are ``path:line``; ``meant`` are the files, headings or blocks that may be meant.
    """

    target: str
    count: int
    places: list[str]
    meant: list[str] = Field(default_factory=list)


class DoctorReport(StrictModel):
    """What is to be mended, each kind with the worst first; a kind that was not asked for is None.

    All but ``index`` is read from the files as they are now: ``notes`` and ``links`` are those that
    an index of them holds. ``broken`` tells whether a finding of ``index`` is.
    """

    vault: str
    name: str
    notes: int | None = None
    links: int | None = None
    index: IndexCheck | None = None
    unresolved: list[BrokenLinks] | None = None
    fragments: list[BrokenLinks] | None = None
    ambiguous: list[BrokenLinks] | None = None
    warnings: list[str] | None = None
    orphans: list[str] | None = None
    broken: bool = False


def examine(place: Place, kind: str | None = None) -> DoctorReport:
    """Look for what is to be mended: the field of that name, or all.

    :raises VaultError: if the vault cannot be listed.
    """
    report = DoctorReport(vault=str(place.vault), name=place.name)
    if kind in (None, "index"):
        report.index = check_index(place)
        report.broken = any(one.broken for one in report.index.findings)
    if kind == "index":
        return report
    found = Survey(place)
    report.notes, report.links = len(found.notes), len(found.links)
    checks = {
        "unresolved": _unresolved,
        "fragments": _fragments,
        "ambiguous": lambda found: [row for row, _ in _broken(_of(found, Status.AMBIGUOUS))],
        "warnings": lambda found: [said for note in found.notes.values() for said in note.warnings],
        "orphans": _orphans,
    }
    for name, check in checks.items():
        if kind in (None, name):
            setattr(report, name, check(found))
    return report


def _orphans(found: Survey) -> list[str]:
    joined: set[str] = set()
    for one in found.links:
        target = one.resolution.path
        if target is not None and target != one.source and target in found.notes:
            joined.update((one.source, target))
    return sorted(found.notes.keys() - joined)


def _of(found: Survey, status: Status) -> Iterator[tuple[str, str, ResolvedLink]]:
    """The links of a status, each with what it names, as :func:`_broken` takes them."""
    for one in found.links:
        if one.resolution.status is status:
            yield "", one.link.target or one.link.raw, one


def _broken(links: Iterable[tuple[str, str, ResolvedLink]]) -> list[tuple[BrokenLinks, ResolvedLink]]:
    """Links by what they name, most of them first, with the first of each.

    Those that would lead to the same new note go together: case and ``.md`` make no difference, but in
    the path of the note, if any, whose fragment is named.
    """
    groups: dict[tuple[str, str], list[tuple[str, int, str, ResolvedLink]]] = {}
    for path, name, one in links:
        key = path, fold(name).strip().removesuffix(NOTE_SUFFIX)
        target = f"{path}#{name}" if path else name
        groups.setdefault(key, []).append((one.source, one.link.line, target, one))
    rows: list[tuple[BrokenLinks, ResolvedLink]] = []
    for group in groups.values():
        group.sort(key=lambda one: one[:3])
        row = BrokenLinks(
            target=group[0][2],
            count=len(group),
            places=[f"{path}:{line}" for path, line, *_ in group],
            meant=sorted({path for *_, one in group for path in one.resolution.candidates}),
        )
        rows.append((row, group[0][3]))
    return sorted(rows, key=lambda one: (-one[0].count, one[0].target))


def _unresolved(found: Survey) -> list[BrokenLinks]:
    """The names that lead nowhere: those near to a name that exists first, then by links."""
    rows = [row for row, _ in _broken(_of(found, Status.UNRESOLVED))]
    names = [
        (name, path)
        for path, note in found.notes.items()
        for name in chain((PurePosixPath(path).stem, note.title), note.aliases)
    ]
    names += [(path.rpartition("/")[2], path) for path in found.others]
    near = near_names(names, {link_name(row.target) for row in rows[:NEAR_FOR]})
    for row in rows:
        row.meant = near.get(link_name(row.target), [])
    return sorted(rows, key=lambda row: not row.meant)


def _fragments(found: Survey) -> list[BrokenLinks]:
    """The headings and blocks that links name and notes do not have, most links first."""
    rows = _broken(
        (one.resolution.path, (one.link.fragment or "").strip(), one)
        for one in found.links
        if one.fragment_found is False and one.resolution.path is not None
    )
    for row, link in rows:
        outline = found.outline(str(link.resolution.path))
        assert outline is not None  # or nothing would be known of the fragment
        last = row.target.rpartition("#")[2].strip()
        texts = [text for text, *_ in outline.blocks]
        if not last.startswith("^"):
            texts = [text for _, text, _ in outline.headings]
        last = last.removeprefix("^")
        row.meant = near_names(((text, text) for text in texts), [last])[last]
    return [row for row, _ in rows]


def check_index(place: Place) -> IndexCheck:
    """Check every derived part of an index against its catalog, and the catalog in itself; nothing is
    repaired. While somebody writes, only the catalog: that others are behind then means nothing."""
    layout, found = place.layout, IndexCheck()
    try:
        at = layout.database
        if not any(path.exists() for path in layout.contents) and not (at and Catalog.exists(at)):
            return IndexCheck(exists=False)
        if (writer := read_holder(layout)) is not None:
            found.not_done.append(f"all but the catalog: {writer} is writing this index")
        with Catalog.of(layout) as catalog:
            catalog.verify()
            with catalog.snapshot() as view:
                found.generation = view.generation
                if view.fingerprint is not None:
                    _check_catalog(found, place, view)
                    if writer is None:
                        _check_derived(found, place, view)
                        _check_left(found, place, view)
                elif writer is None:
                    found.add("catalog", "the first run was cut off", INDEX)
                if read_holder(layout) != writer or catalog.generation != view.generation:
                    # Parts of two generations were compared.
                    found.findings = []
                    found.not_done.append("the index was written meanwhile; look again")
                try:
                    found.pending = pending_changes(place, catalog).pending
                except errors.NotehopError as exc:
                    found.not_done.append(f"changes since the last run: {exc}")
    except errors.IndexFailure as exc:
        anew = isinstance(exc, errors.IndexDamaged | errors.IndexMismatch)
        found.add("catalog", _said_of(exc), REBUILD if anew else INDEX)
    found.findings.sort(key=lambda one: not one.broken)
    return found


def _said_of(error: Exception) -> str:
    """What an error says, without what it says to do: the finding names that."""
    return " ".join(str(error).partition("; run:")[0].split())


def _check_catalog(found: IndexCheck, place: Place, view: CatalogSnapshot) -> None:
    layout = place.layout
    try:
        check_vault(view.meta(), place.vault, layout.root)
        check_fingerprint(view.fingerprint or {}, expected_fingerprint(place.settings))
    except (errors.IndexMismatch, errors.ModelError) as exc:
        found.add("catalog", _said_of(exc), REBUILD)
    # Whether the catalog still knows what it knew when the last run ended.
    state = read_catalog_state(layout)
    if state is not None and state.stamp == view.stamp and view.generation < state.generation:
        lost = f"generations {view.generation + 1} to {state.generation} are lost"
        found.add("catalog", lost, INDEX)
    for line in advice(place.vault, place.settings, view):
        found.add("language", line, REBUILD, broken=False)


def _check_derived(found: IndexCheck, place: Place, view: CatalogSnapshot) -> None:
    layout = place.layout
    marked = layout.marker.is_file()
    if layout.database is not None and not marked:
        # A machine that has only asked so far.
        found.not_done.append("lexical: this machine keeps none; notehop index makes it")
    else:
        if not marked:
            gone = f"{layout.marker} is gone, so no run writes to this folder"
            found.add("marker", gone, ELSEWHERE)
        try:
            _, generation, stamp = read_segments(layout.postings)
            if stamp != view.stamp or generation > view.generation:
                found.add("lexical", "it is of another index", INDEX)
        except errors.IndexDamaged as exc:
            if view.has_chunks:
                found.add("lexical", _said_of(exc), INDEX)
        manifest = read_manifest(layout.model)
        if manifest is None or not manifest.is_sound(layout.model):
            found.add("model", "the model for queries is not there or not whole", INDEX)
        served = vector_server_now(place, view.stamp)
        if served is not None and served.problem is not None:
            found.add("chroma", served.problem, INDEX)
        mirror = served is None and place.settings.index.mirror
        if mirror and (says := mirror_problem(layout, view)) is not None:
            found.add("chroma", says, INDEX, broken=False)


def _check_left(found: IndexCheck, place: Place, view: CatalogSnapshot) -> None:
    """What a run that was cut off left."""
    layout = place.layout
    if view.meta().get("under_way"):
        found.add("catalog", "the last run was cut off: notes are missing", INDEX)
    if layout.purge_mark.exists():
        left = "words of withdrawn notes may stand in files"
        found.add("purge", left, INDEX, broken=False)
    if layout.left_over():
        left = "a rebuild was cut off, or an earlier version left files, which takes room"
        found.add("rebuild", left, INDEX, broken=False)
