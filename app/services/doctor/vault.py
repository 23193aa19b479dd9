"""What is to be mended in a vault, and whether its index is sound; no model is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import PurePosixPath

from pydantic import Field

from notehop.app.models.query import Strict
from notehop.app.services.doctor import Kind
from notehop.app.services.doctor.index import IndexCheck, check_index
from notehop.app.services.links import Survey
from notehop.app.services.notes.find_note import near_names
from notehop.app.services.open_vault import Place
from notehop.indexing.graph.files import NOTE_SUFFIX, fold, link_name
from notehop.indexing.graph.resolve import ResolvedLink, Status

NEAR_FOR = 500
"""Names that lead nowhere for which near misses are looked for: 3 s among 100,000 names."""


class BrokenLinks(Strict):
    """What links name that leads nowhere, or to one of several files: how many, and where they stand.

    ``target`` is as the first of them writes it; of a heading or block, with the path of its note.
    ``places`` are ``path:line``; ``meant`` are the files, headings or blocks that may be meant.
    """

    target: str
    count: int
    places: list[str]
    meant: list[str] = Field(default_factory=list)


class DoctorReport(Strict):
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


def examine(place: Place, kind: Kind | None = None) -> DoctorReport:
    """Look for what is to be mended; of one kind, or of all.

    :raises VaultError: if the vault cannot be listed.
    """

    def asks(for_: Kind) -> bool:
        return kind in (None, for_)

    report = DoctorReport(vault=str(place.vault), name=place.name)
    if asks("index"):
        report.index = check_index(place)
        report.broken = any(one.broken for one in report.index.findings)
    if kind == "index":
        return report
    found = Survey(place)
    report.notes, report.links = len(found.notes), len(found.links)
    if asks("unresolved"):
        report.unresolved = _unresolved(found)
    if asks("fragments"):
        report.fragments = _fragments(found)
    if asks("ambiguous"):
        report.ambiguous = [row for row, _ in _broken(_of(found, Status.AMBIGUOUS))]
    if asks("warnings"):
        report.warnings = [said for note in found.notes.values() for said in note.warnings]
    if asks("orphans"):
        joined: set[str] = set()
        for one in found.links:
            target = one.resolution.path
            if target is not None and target != one.source and target in found.notes:
                joined.update((one.source, target))
        report.orphans = sorted(found.notes.keys() - joined)
    return report


def _of(found: Survey, status: Status) -> Iterator[tuple[str, str, ResolvedLink]]:
    """The links of a status, each with what it names, as :func:`_broken` takes them."""
    for one in found.links:
        if one.resolution.status is status:
            yield "", one.link.target or one.link.raw, one


def _broken(
    links: Iterable[tuple[str, str, ResolvedLink]],
) -> list[tuple[BrokenLinks, ResolvedLink]]:
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
    near = near_names(_names(found), {link_name(row.target) for row in rows[:NEAR_FOR]})
    for row in rows:
        row.meant = near.get(link_name(row.target), [])
    return sorted(rows, key=lambda row: not row.meant)


def _names(found: Survey) -> Iterator[tuple[str, str]]:
    for path, note in found.notes.items():
        for name in chain((PurePosixPath(path).stem, note.title), note.aliases):
            yield name, path
    yield from ((path.rpartition("/")[2], path) for path in found.others)


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
        blocks = last.startswith("^")
        texts = (
            [text for text, *_ in outline.blocks] if blocks else [t for _, t, _ in outline.headings]
        )
        last = last.removeprefix("^")
        row.meant = near_names(((text, text) for text in texts), [last])[last]
    return [row for row, _ in rows]
