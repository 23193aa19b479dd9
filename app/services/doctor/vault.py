"""What is to be mended in a vault, and whether its index is sound; no model is loaded."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from rapidfuzz.fuzz import ratio

from notehop.app.models import Kept
from notehop.app.models.query import Strict
from notehop.app.services.doctor import Kind
from notehop.app.services.doctor.index import IndexCheck, check_index
from notehop.app.services.links import Survey
from notehop.app.services.notes.find_note import Near, near_names
from notehop.app.services.open_vault import Place
from notehop.indexing.graph.files import NOTE_SUFFIX, alias_key, fold, link_name
from notehop.indexing.graph.resolve import ResolvedLink, Status


class LinkPlace(Strict):
    """Where a link stands. Lines count from 1."""

    path: str
    line: int


class BrokenLinks(Strict):
    """Links that lead nowhere, or to one of several: how many, and where they stand, by note."""

    count: int
    places: list[LinkPlace]


class UnresolvedTarget(BrokenLinks):
    """A name that links use and that no file has; ``target`` as the first of them writes it."""

    target: str
    near: list[Near]


class BrokenFragment(BrokenLinks):
    """A heading or block that links name and that the note at ``path`` does not have."""

    path: str
    fragment: str
    near: list[Near]


class AmbiguousTarget(BrokenLinks):
    """A name that links use and that several files have, all of them ``candidates``."""

    target: str
    candidates: list[str]


class Duplicate(Strict):
    """A name, title or alias of more than one note; compared without case."""

    kind: Literal["name", "title", "alias"]
    name: str
    paths: list[str]


class ConflictCopy(Strict):
    """A copy that a sync tool made of two versions of a file; ``of`` is None if that is not there."""

    path: str
    of: str | None
    tool: str


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
    unresolved: list[UnresolvedTarget] | None = None
    near_misses_for: int | None = None
    fragments: list[BrokenFragment] | None = None
    ambiguous: list[AmbiguousTarget] | None = None
    conflicts: list[ConflictCopy] | None = None
    duplicates: list[Duplicate] | None = None
    warnings: list[str] | None = None
    failed: list[Kept] | None = None
    skipped: list[Kept] | None = None
    passed_over: list[Kept] | None = None
    orphans: list[str] | None = None
    broken: bool = False


_COPY = r"cop(?:y|ie|ia)|cópia|kopi[ae]|副本|コピー"
_CONFLICT = r"[ck]onfli[ck]t|conflitt?o?|冲突|衝突|競合"
_BY_NAME = (
    ("Syncthing", r"(?P<stem>.+)\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?(?P<ext>\.\w+)?"),
    ("Seafile", r"(?P<stem>.+?) \(SFConflict [^()]+\)(?P<ext>\.\w+)?"),
    (
        "Dropbox",
        r"(?P<stem>.+?) \((?:Case|Selective Sync|Unicode Encoding|White ?Space) Conflict(?: \d+)?\)"
        r"(?P<ext>\.\w+)?",
    ),
    (
        "a sync tool",
        rf"(?i)(?P<stem>.+?) \((?=[^()]*(?:{_COPY}))[^()]*(?:{_CONFLICT})[^()]*\)(?P<ext>\.\w+)?",
    ),
)
_BESIDE = (
    # The names of computers that Windows gives by itself.
    ("OneDrive", r"(?P<stem>.+)-(?:DESKTOP|LAPTOP)-[A-Z0-9]{7}(?P<ext>\.\w+)"),
    ("iCloud or Google Drive", r"(?i)(?P<stem>.+?)(?: [2-9]| \([1-9]\))(?P<ext>\.md)"),
)
"""Names that are those of copies only beside the file without what is added."""


def conflict_copies(
    paths: Collection[str], alike: Callable[[str, str], bool]
) -> list[ConflictCopy]:
    """The files that are such copies, by path.

    A number at the end says little: people write ``Meeting 2.md`` too. It counts only beside a note
    without it that says nearly the same.

    :param paths: of all files of the vault.
    :param alike: whether the texts of two notes are the same, or nearly.
    """
    there = frozenset(paths)

    def copied(path: str) -> ConflictCopy | None:
        folder, slash, name = path.rpartition("/")
        for tool, pattern in (*_BY_NAME, *_BESIDE):
            if found := re.fullmatch(pattern, name):
                base = f"{folder}{slash}{found['stem']}{found['ext'] or ''}"
                if (tool, pattern) in _BY_NAME:
                    return ConflictCopy(path=path, of=base if base in there else None, tool=tool)
                sure = base in there and (tool == "OneDrive" or alike(path, base))
                return ConflictCopy(path=path, of=base, tool=tool) if sure else None
        return None

    return [copy for path in sorted(there) if (copy := copied(path)) is not None]


NEAR_FOR = 2_000
"""Names that lead nowhere for which near misses are looked for: 3 s among 100,000 names."""


def _unresolved(found: Survey) -> list[UnresolvedTarget]:
    """The names that lead nowhere: those near to a name that exists first, then by links."""
    targets = _broken(found.links, Status.UNRESOLVED)
    asked = {target: link_name(target) for target, _ in targets[:NEAR_FOR]}
    near = near_names(_names(found), asked.values())
    rows = [
        UnresolvedTarget(
            target=target, near=list(near.get(asked.get(target, ""), ())), **_places(links)
        )
        for target, links in targets
    ]
    return sorted(rows, key=lambda row: not row.near)


def _broken(links: Iterable[ResolvedLink], status: Status) -> list[tuple[str, list[ResolvedLink]]]:
    """The links of a status by what they name, as the first of them writes it; most links first.

    Those that would lead to the same new note go together: case and ``.md`` make no difference.
    """
    groups: dict[str, list[tuple[str, int, str, ResolvedLink]]] = {}
    for one in links:
        if one.resolution.status is status:
            target = one.link.target or one.link.raw
            name = fold(target).strip().removesuffix(NOTE_SUFFIX)
            groups.setdefault(name, []).append((one.source, one.link.line, target, one))
    found = [
        (min(group, key=lambda one: one[:3])[2], [one for *_, one in group])
        for group in groups.values()
    ]
    return sorted(found, key=lambda one: (-len(one[1]), one[0]))


def _places(links: Sequence[ResolvedLink]) -> dict[str, Any]:
    places = sorted((one.source, one.link.line) for one in links)
    found = [LinkPlace(path=path, line=line) for path, line in places]
    return {"count": len(found), "places": found}


def _fragments(found: Survey) -> list[BrokenFragment]:
    """The headings and blocks that links name and notes do not have, most links first."""
    groups: dict[tuple[str, str], list[ResolvedLink]] = {}
    for one in found.links:
        if one.fragment_found is False and one.resolution.path is not None:
            key = one.resolution.path, fold(one.link.fragment or "").strip()
            groups.setdefault(key, []).append(one)
    rows: list[BrokenFragment] = []
    for (path, _), links in groups.items():
        fragment = (links[0].link.fragment or "").strip()
        last = fragment.rpartition("#")[2].strip()
        outline = found.outlines[path]
        if last.startswith("^"):
            last, via, texts = last[1:], "block", [block for block, _, _ in outline.blocks]
        else:
            via, texts = "heading", [text for _, text, _ in outline.headings]
        # All are of one note: told apart by their text in place of its path.
        near = near_names((Near(text, text, via) for text in texts), [last])[last]
        told = [replace(one, path=path) for one in near]
        rows.append(BrokenFragment(path=path, fragment=fragment, near=told, **_places(links)))
    return sorted(rows, key=lambda row: (-row.count, row.path, row.fragment))


def _names(found: Survey) -> Iterator[Near]:
    for path, note in found.notes.items():
        yield Near(PurePosixPath(path).stem, path, "name")
        yield from (Near(alias, path, "alias") for alias in note.aliases)
        yield Near(note.title, path, "title")
    yield from (Near(path.rpartition("/")[2], path, "name") for path in found.others)


def _duplicates(found: Survey) -> list[Duplicate]:
    """What names more than one note: names, titles and aliases, each by how many share it.

    An alias also counts that is another note's name: links go to that note, never to the alias.
    Titles that are shared by just the notes of one name are told as that name alone.
    """
    notes = found.notes
    names = [(link_name(path), PurePosixPath(path).stem, path) for path in notes]
    titles = [(fold(note.title).strip(), note.title, path) for path, note in notes.items()]
    aliases = [
        (alias_key(alias), alias, path) for path, note in notes.items() for alias in note.aliases
    ]
    aliased = {key for key, _, _ in aliases}
    aliases += [one for one in names if one[0] in aliased]
    shared = _shared("name", names)
    known = [one.paths for one in shared]
    others = [*_shared("title", titles), *_shared("alias", aliases)]
    return [*shared, *(one for one in others if one.paths not in known)]


def _shared(
    kind: Literal["name", "title", "alias"], named: Iterable[tuple[str, str, str]]
) -> list[Duplicate]:
    """Groups of (key, name as written, path) of more than one path; largest first."""
    groups: dict[str, dict[str, str]] = {}
    for key, name, path in named:
        if key:
            groups.setdefault(key, {}).setdefault(path, name)
    found = [
        Duplicate(kind=kind, name=group[min(group)], paths=sorted(group))
        for group in groups.values()
        if len(group) > 1
    ]
    return sorted(found, key=lambda one: (-len(one.paths), one.name))


_LONG_ENOUGH = 200
"""Characters from which two texts can be told to be nearly the same: templates are short."""

_TOO_LONG = 200_000  # characters above which they are not compared: it takes a second
_NEARLY = 90  # per cent of the characters that nearly equal texts share


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
        report.ambiguous = [
            AmbiguousTarget(
                target=target,
                candidates=sorted({path for one in links for path in one.resolution.candidates}),
                **_places(links),
            )
            for target, links in _broken(found.links, Status.AMBIGUOUS)
        ]
    if Kind.CONFLICTS in kinds:
        alike = partial(_alike, place.vault, found)
        report.conflicts = conflict_copies([*found.notes, *found.others], alike)
    if Kind.DUPLICATES in kinds:
        report.duplicates = _duplicates(found)
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


def _alike(vault: Path, found: Survey, one: str, other: str) -> bool:
    """Whether two notes say the same, or nearly."""
    notes = found.notes.get(one), found.notes.get(other)
    if notes[0] is None or notes[1] is None:
        return False
    try:
        texts = [(vault / path).read_text("utf-8", "replace") for path in (one, other)]
    except OSError:
        return False
    if notes[0].content_hash == notes[1].content_hash:
        return bool(texts[0].strip())
    if not all(_LONG_ENOUGH <= len(text) <= _TOO_LONG for text in texts):
        return False
    return ratio(*texts, score_cutoff=_NEARLY) >= _NEARLY
