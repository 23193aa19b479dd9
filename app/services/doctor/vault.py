"""What is to be mended in a vault, and whether its index is sound; no model is loaded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from pydantic import Field

from notehop.app.models import Kept
from notehop.app.models.query import Strict
from notehop.app.services.doctor import Kind
from notehop.app.services.doctor.index import IndexCheck, check_index
from notehop.app.services.links import Survey
from notehop.app.services.notes.find_note import Near, near_names
from notehop.app.services.open_vault import Place
from notehop.indexing.graph.files import NOTE_SUFFIX, fold, link_name
from notehop.indexing.graph.resolve import ResolvedLink, Status


class LinkPlace(Strict):
    """Where a link stands. Lines count from 1."""

    path: str
    line: int


class BrokenLinks(Strict):
    """What links name that lead nowhere, or to one of several files: how many, and where they stand.

    ``target`` is as the first of them writes it; of a heading or block, with the path of its note.
    ``near`` may be meant; ``candidates`` are the files that have the name.
    """

    target: str
    count: int
    places: list[LinkPlace]
    near: list[Near] = Field(default_factory=list)
    candidates: list[str] = Field(default_factory=list)


class DoctorReport(Strict):
    """What is to be mended, each kind with the worst first; a kind that was not asked for is None.

    All but ``index`` is read from the files as they are now: ``notes`` and ``links`` are those that
    an index of them holds. ``near_misses_for`` says for how many of the ``unresolved`` names near
    misses were looked for: those that most links use. ``failed`` are notes that cannot be read,
    ``skipped`` those that are kept out, ``passed_over`` files that are no part of the vault.
    ``broken`` tells whether a finding of ``index`` is.
    """

    vault: str
    name: str
    notes: int | None = None
    links: int | None = None
    index: IndexCheck | None = None
    unresolved: list[BrokenLinks] | None = None
    near_misses_for: int | None = None
    fragments: list[BrokenLinks] | None = None
    ambiguous: list[BrokenLinks] | None = None
    warnings: list[str] | None = None
    failed: list[Kept] | None = None
    skipped: list[Kept] | None = None
    passed_over: list[Kept] | None = None
    orphans: list[str] | None = None
    broken: bool = False


NEAR_FOR = 500
"""Names that lead nowhere for which near misses are looked for: 3 s among 100,000 names."""


def _unresolved(found: Survey) -> list[BrokenLinks]:
    """The names that lead nowhere: those near to a name that exists first, then by links."""
    rows = _broken(found.links, Status.UNRESOLVED)
    asked = {row.target: link_name(row.target) for row in rows[:NEAR_FOR]}
    near = near_names(_names(found), asked.values())
    for row in rows:
        row.near = list(near.get(asked.get(row.target, ""), ()))
    return sorted(rows, key=lambda row: not row.near)


def _broken(links: Iterable[ResolvedLink], status: Status) -> list[BrokenLinks]:
    """The links of a status by what they name; most links first.

    Those that would lead to the same new note go together: case and ``.md`` make no difference.
    """
    groups: dict[str, list[tuple[str, int, str, ResolvedLink]]] = {}
    for one in links:
        if one.resolution.status is status:
            target = one.link.target or one.link.raw
            name = fold(target).strip().removesuffix(NOTE_SUFFIX)
            groups.setdefault(name, []).append((one.source, one.link.line, target, one))
    rows = [
        _row(min(group, key=lambda one: one[:3])[2], [one for *_, one in group])
        for group in groups.values()
    ]
    return sorted(rows, key=lambda row: (-row.count, row.target))


def _row(target: str, links: Sequence[ResolvedLink]) -> BrokenLinks:
    places = sorted((one.source, one.link.line) for one in links)
    return BrokenLinks(
        target=target,
        count=len(links),
        places=[LinkPlace(path=path, line=line) for path, line in places],
        candidates=sorted({path for one in links for path in one.resolution.candidates}),
    )


def _fragments(found: Survey) -> list[BrokenLinks]:
    """The headings and blocks that links name and notes do not have, most links first."""
    groups: dict[tuple[str, str], list[ResolvedLink]] = {}
    for one in found.links:
        if one.fragment_found is False and one.resolution.path is not None:
            key = one.resolution.path, fold(one.link.fragment or "").strip()
            groups.setdefault(key, []).append(one)
    rows: list[BrokenLinks] = []
    for (path, _), links in groups.items():
        fragment = (links[0].link.fragment or "").strip()
        last = fragment.rpartition("#")[2].strip()
        outline = found.outline(path)
        assert outline is not None  # or nothing would be known of the fragment
        if last.startswith("^"):
            last, via, texts = last[1:], "block", [block for block, _, _ in outline.blocks]
        else:
            via, texts = "heading", [text for _, text, _ in outline.headings]
        # All are of one note: told apart by their text in place of its path.
        near = near_names((Near(text, text, via) for text in texts), [last])[last]
        told = [replace(one, path=path) for one in near]
        row = _row(f"{path}#{fragment}", links)
        rows.append(row.model_copy(update={"near": told, "candidates": []}))
    return sorted(rows, key=lambda row: (-row.count, row.target))


def _names(found: Survey) -> Iterator[Near]:
    for path, note in found.notes.items():
        yield Near(PurePosixPath(path).stem, path, "name")
        yield from (Near(alias, path, "alias") for alias in note.aliases)
        yield Near(note.title, path, "title")
    yield from (Near(path.rpartition("/")[2], path, "name") for path in found.others)


def examine(place: Place, kinds: Collection[Kind] = tuple(Kind)) -> DoctorReport:
    """Look for what is to be mended.

    :param kinds: what to look for.
    :raises VaultError: if the vault cannot be listed.
    """
    report = DoctorReport(vault=str(place.vault), name=place.name)
    if Kind.INDEX in kinds:
        report.index = check_index(place)
        report.broken = any(one.broken for one in report.index.findings)
    if set(kinds) <= {Kind.INDEX}:
        return report
    found = Survey(place)
    report.notes, report.links = len(found.notes), len(found.links)
    if Kind.UNRESOLVED in kinds:
        report.unresolved = _unresolved(found)
        report.near_misses_for = min(NEAR_FOR, len(report.unresolved))
    if Kind.FRAGMENTS in kinds:
        report.fragments = _fragments(found)
    if Kind.AMBIGUOUS in kinds:
        report.ambiguous = _broken(found.links, Status.AMBIGUOUS)
    if Kind.WARNINGS in kinds:
        report.warnings = [said for note in found.notes.values() for said in note.warnings]
    if Kind.LEFT_OUT in kinds:
        report.failed, report.skipped, report.passed_over = (
            [Kept(path=path, reason=why) for path, why in kept]
            for kept in (found.failed, found.skipped, found.passed_over)
        )
    if Kind.ORPHANS in kinds:
        joined: set[str] = set()
        for one in found.links:
            target = one.resolution.path
            if target is not None and target != one.source and target in found.notes:
                joined.update((one.source, target))
        report.orphans = sorted(found.notes.keys() - joined)
    return report
