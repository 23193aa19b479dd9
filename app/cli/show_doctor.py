"""Shows what the doctor found to a person: the worst first, a few of each kind, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from notehop.app.cli.output import headline, show, show_line
from notehop.app.models import Kept
from notehop.app.services.doctor import Kind
from notehop.app.services.doctor.index import IndexCheck
from notehop.app.services.doctor.vault import (
    AmbiguousTarget,
    BrokenFragment,
    DoctorReport,
    LinkPlace,
    UnresolvedTarget,
)
from notehop.app.services.notes.find_note import Near
from notehop.indexing.shown import counted

LISTED = 5  # findings of each kind that are shown; `notehop doctor KIND` lists all of one
_NAMED = 3  # files that a finding names


@dataclass(frozen=True, slots=True)
class _Row:
    """One finding: what it is about, what it may mean, and where it stands."""

    name: str
    meant: str = ""
    told: str = ""
    places: Sequence[LinkPlace] = ()


@dataclass(frozen=True, slots=True)
class _FindingsOfKind:
    """A kind of findings. ``few`` are the rows that stand for all of them; None: the first."""

    kind: Kind
    title: str
    rows: Sequence[_Row]
    note: str = ""
    few: Sequence[_Row] | None = None


def show_doctor(report: DoctorReport, *, everything: bool) -> None:
    """Print the report.

    :param everything: list all findings, not the first of each kind only.
    """
    counts = ""
    if report.notes is not None and report.links is not None:
        counts = f": {counted(report.notes, 'note')}, {counted(report.links, 'link')}"
    show_line((report.name, "bold"), counts)
    if report.index is not None:
        _show_index(report.index)
    parts = [part for part in _parts(report) if part.rows]
    for part in parts:
        _show_part(part, everything)
    if counts and not parts:
        headline("Links, names and notes", "nothing to mend")
    # A rebuild repairs what a run does too.
    if report.index is not None and report.index.findings:
        command = max((one.command for one in report.index.findings), key=len)
        show("\n", ("To repair the index, run: ", "bold"), command)


def _show_index(check: IndexCheck) -> None:
    if not check.exists:
        headline("Index", "none yet; run: notehop index")
        return
    wrong = sum(one.broken for one in check.findings)
    state = f"{counted(wrong, 'part')} broken" if wrong else "sound"
    generation = "" if check.generation is None else f", generation {check.generation}"
    pending = f", {counted(check.pending, 'note')} changed since" if check.pending else ""
    headline("Index", f"{state}{generation}{pending}")
    for one in check.findings:
        count = f"{one.count:,} x " if one.count > 1 else ""
        style = "red" if one.broken else "yellow"
        show_line((f"{one.part}: ", style), f"{count}{one.problem}", indent=2)
        if one.examples:
            show_line((", ".join(one.examples), "dim"), indent=4)
    for said in check.not_done:
        show_line(("not checked  ", "yellow"), said, indent=2)


def _parts(report: DoctorReport) -> Iterator[_FindingsOfKind]:
    targets = report.unresolved or ()
    slips = [one for one in targets if one.near]
    others = [one for one in targets if not one.near]
    note, looked = _links(others), report.near_misses_for or 0
    if looked < len(targets):
        note += f"; near names were looked for of the {looked:,} most linked"
    for title, found, said in (
        ("Links that lead nowhere, and what they may mean", slips, _links(slips)),
        ("Links to notes that are not there", others, note),
    ):
        rows = [_Row(one.target, _meant(one.near), places=one.places) for one in found]
        yield _FindingsOfKind(Kind.UNRESOLVED, title, rows, said)
    broken = report.fragments or ()
    title = "Links to headings or blocks that their note does not have"
    rows = [_Row(f"{one.path}#{one.fragment}", _meant(one.near), "", one.places) for one in broken]
    yield _FindingsOfKind(Kind.FRAGMENTS, title, rows, _links(broken))
    several = report.ambiguous or ()
    title = "Links to a name that several files have"
    rows = [_Row(one.target, f"-> {_few(one.candidates)}", "", one.places) for one in several]
    yield _FindingsOfKind(Kind.AMBIGUOUS, title, rows, _links(several))
    title = "Copies that sync tools made of two versions"
    rows = [
        _Row(one.path, told=f"by {one.tool}, of {one.of or 'a file that is not there'}")
        for one in report.conflicts or ()
    ]
    yield _FindingsOfKind(Kind.CONFLICTS, title, rows, "merge each into its note and delete it")
    warnings = [warning.partition(": ") for warning in report.warnings or ()]
    title = "Notes that say something that cannot be read as meant"
    yield _FindingsOfKind(Kind.WARNINGS, title, [_Row(at, told=what) for at, _, what in warnings])
    yield _kept("Notes that cannot be read", report.failed)
    duplicates = report.duplicates or ()
    kinds = Counter(one.kind for one in duplicates)
    plural = {"name": "names", "title": "titles", "alias": "aliases"}
    rows = [_Row(f"{one.kind} {one.name}", told=_few(one.paths)) for one in duplicates]
    note = ", ".join(f"{n:,} {kind if n == 1 else plural[kind]}" for kind, n in kinds.items())
    yield _FindingsOfKind(Kind.DUPLICATES, "Names that several notes have", rows, note)
    yield _kept("Notes that are kept out", report.skipped)
    yield _kept("Files that are no part of the vault", report.passed_over)
    orphans = report.orphans or ()
    folders = Counter(path.rpartition("/")[0] for path in orphans)
    largest = sorted(folders.items(), key=lambda item: (-item[1], item[0]))
    yield _FindingsOfKind(
        Kind.ORPHANS,
        "Notes that no link joins with another",
        [_Row(path) for path in orphans],
        f"in {counted(len(folders), 'folder')}",
        # Five paths of hundreds say nothing.
        [_Row(f"{folder or '.'}/", told=counted(count, "note")) for folder, count in largest]
        if len(orphans) > LISTED
        else None,
    )


def _kept(title: str, kept: Sequence[Kept] | None) -> _FindingsOfKind:
    rows = [_Row(one.path, told=one.reason) for one in kept or ()]
    return _FindingsOfKind(Kind.LEFT_OUT, title, rows)


def _show_part(part: _FindingsOfKind, everything: bool) -> None:
    headline(part.title, f"{len(part.rows):,}" + (f"  {part.note}" if part.note else ""))
    rows = part.rows if everything or part.few is None else part.few
    for row in rows if everything else rows[:LISTED]:
        meant = f" {row.meant}" if row.meant else ""
        told = (row.told, _where(row.places, everything))
        tail = "".join(f"  {one}" for one in told if one)
        show_line(row.name, (meant, "green"), (tail, "dim"), indent=2)
    left = len(rows) - LISTED
    if not everything and (left > 0 or rows is not part.rows):
        more = f"and {left:,} more; " if left > 0 else ""
        show((f"{more}all of them: notehop doctor {part.kind}", "dim"), indent=2)


def _where(places: Sequence[LinkPlace], everything: bool) -> str:
    """The first place and how many there are, or all of them."""
    named = [f"{one.path}:{one.line}" for one in (places if everything else places[:1])]
    return ", ".join(named) + (f" and {len(places) - 1:,} more" if len(places) > len(named) else "")


def _links(found: Sequence[UnresolvedTarget | BrokenFragment | AmbiguousTarget]) -> str:
    return counted(sum(one.count for one in found), "link")


def _meant(near: Sequence[Near]) -> str:
    named = [one.name if one.via in ("heading", "block") else _by(one) for one in near]
    return f"-> {_few(named, ' or ')}?" if named else ""


def _by(near: Near) -> str:
    if near.via == "name":
        return near.path
    return f"{near.path} (its {near.via}{f' {near.name}' if near.distance else ''})"


def _few(names: Sequence[str], comma: str = ", ") -> str:
    left = len(names) - _NAMED
    return comma.join(names[:_NAMED]) + (f" and {left:,} more" if left > 0 else "")
