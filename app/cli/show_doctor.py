"""Shows what the doctor found to a person: the worst first, a few of each kind, and what to do.

Touches: terminal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from notehop.app.cli.output import headline, show, styled
from notehop.app.models import (
    AmbiguousTarget,
    BrokenFragment,
    ConflictCopy,
    DoctorReport,
    Duplicate,
    IndexCheck,
    IndexFinding,
    Kept,
    LinkPlace,
    NearMiss,
    UnresolvedTarget,
)
from notehop.app.services.doctor import Kind
from notehop.indexing.shown import counted, on_one_line

LISTED = 5
"""Findings of each kind that are shown; `notehop doctor KIND` lists all of one."""

_NAMED = 3
"""Files that a finding names."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One finding: what it is about, what it may mean, and where it stands."""

    name: str
    meant: str = ""
    told: str = ""
    places: Sequence[LinkPlace] = ()


@dataclass(frozen=True, slots=True)
class _Part:
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
    show(styled((on_one_line(report.name), "bold"), counts))
    if report.index is not None:
        _index(report.index)
    parts = [part for part in _parts(report) if part.rows]
    for part in parts:
        _show(part, everything)
    if counts and not parts:
        headline("Links, names and notes", "nothing to mend")
    if report.index is not None:
        _commands(report.index.findings)


def _index(check: IndexCheck) -> None:
    if not check.exists:
        headline("Index", "none yet; run: notehop index")
        return
    wrong = sum(one.broken for one in check.findings)
    state = f"{counted(wrong, 'part')} broken" if wrong else "sound"
    generation = "" if check.generation is None else f", generation {check.generation}"
    headline("Index", f"{state}{generation}{_pending(check.pending)}")
    for one in check.findings:
        count = f"{one.count:,} x " if one.count > 1 else ""
        said = on_one_line(f"{count}{one.problem}")
        style = "red" if one.broken else "yellow"
        show(styled((f"{one.part}: ", style), said), indent=2)
        if one.examples:
            show(styled((on_one_line(", ".join(one.examples)), "dim")), indent=4)
    for said in check.not_done:
        show(styled(("not checked  ", "yellow"), on_one_line(said)), indent=2)


def _pending(count: int | None) -> str:
    return "" if not count else f", {counted(count, 'note')} changed since"


def _commands(findings: Iterable[IndexFinding]) -> None:
    """A rebuild repairs what a run does too."""
    commands = {one.command for one in findings}
    if commands:
        show(styled("\n", ("To repair the index, run: ", "bold"), max(commands, key=len)))


def _parts(report: DoctorReport) -> Iterator[_Part]:
    yield from _unresolved(report.unresolved or (), report.near_misses_for or 0)
    yield _fragments(report.fragments or ())
    yield _ambiguous(report.ambiguous or ())
    yield _conflicts(report.conflicts or ())
    yield _warnings(report.warnings or ())
    yield _kept("Notes that cannot be read", report.failed or ())
    yield _duplicates(report.duplicates or ())
    yield _kept("Notes that are kept out", report.skipped or ())
    yield _kept("Files that are no part of the vault", report.passed_over or ())
    yield _orphans(report.orphans or ())


def _unresolved(targets: Sequence[UnresolvedTarget], looked: int) -> Iterator[_Part]:
    slips = [one for one in targets if one.near]
    others = [one for one in targets if not one.near]
    note = _links(others)
    if looked < len(targets):
        note += f"; near names were looked for of the {looked:,} most linked"
    for title, found, said in (
        ("Links that lead nowhere, and what they may mean", slips, _links(slips)),
        ("Links to notes that are not there", others, note),
    ):
        rows = [_Row(one.target, _meant(one.near), places=one.places) for one in found]
        yield _Part(Kind.UNRESOLVED, title, rows, said)


def _fragments(broken: Sequence[BrokenFragment]) -> _Part:
    return _Part(
        Kind.FRAGMENTS,
        "Links to headings or blocks that their note does not have",
        [_Row(f"{one.path}#{one.fragment}", _meant(one.near), places=one.places) for one in broken],
        _links(broken),
    )


def _ambiguous(targets: Sequence[AmbiguousTarget]) -> _Part:
    return _Part(
        Kind.AMBIGUOUS,
        "Links to a name that several files have",
        [_Row(one.target, f"-> {_few(one.candidates)}", places=one.places) for one in targets],
        _links(targets),
    )


def _conflicts(copies: Sequence[ConflictCopy]) -> _Part:
    return _Part(
        Kind.CONFLICTS,
        "Copies that sync tools made of two versions",
        [_Row(one.path, told=f"by {one.tool}, {_copied(one)}") for one in copies],
        "merge each into its note and delete it",
    )


def _copied(copy: ConflictCopy) -> str:
    return f"of {copy.of}" if copy.of else "of a file that is not there"


def _warnings(warnings: Sequence[str]) -> _Part:
    said = [warning.partition(": ") for warning in warnings]
    rows = [_Row(where, told=what) for where, _, what in said]
    return _Part(Kind.WARNINGS, "Notes that say something that cannot be read as meant", rows)


def _duplicates(found: Sequence[Duplicate]) -> _Part:
    kinds = Counter(one.kind for one in found)
    plural = {"name": "names", "title": "titles", "alias": "aliases"}
    return _Part(
        Kind.DUPLICATES,
        "Names that several notes have",
        [_Row(f"{one.kind} {one.name}", told=_few(one.paths)) for one in found],
        ", ".join(
            f"{count:,} {kind if count == 1 else plural[kind]}" for kind, count in kinds.items()
        ),
    )


def _kept(title: str, kept: Sequence[Kept]) -> _Part:
    return _Part(Kind.LEFT_OUT, title, [_Row(one.path, told=one.reason) for one in kept])


def _orphans(paths: Sequence[str]) -> _Part:
    folders = Counter(path.rpartition("/")[0] for path in paths)
    largest = sorted(folders.items(), key=lambda item: (-item[1], item[0]))
    return _Part(
        Kind.ORPHANS,
        "Notes that no link joins with another",
        [_Row(path) for path in paths],
        f"in {counted(len(folders), 'folder')}",
        # Five paths of hundreds say nothing.
        [_Row(f"{folder or '.'}/", told=counted(count, "note")) for folder, count in largest]
        if len(paths) > LISTED
        else None,
    )


def _show(part: _Part, everything: bool) -> None:
    note = f"{len(part.rows):,}" + (f"  {part.note}" if part.note else "")
    headline(part.title, on_one_line(note))
    rows = part.rows if everything or part.few is None else part.few
    for row in rows if everything else rows[:LISTED]:
        meant = f" {on_one_line(row.meant)}" if row.meant else ""
        told = [told for told in (row.told, _where(row.places, everything)) if told]
        tail = "".join(f"  {on_one_line(one)}" for one in told)
        show(styled(on_one_line(row.name), (meant, "green"), (tail, "dim")), indent=2)
    left = len(rows) - LISTED
    if not everything and (left > 0 or rows is not part.rows):
        more = f"and {left:,} more; " if left > 0 else ""
        show(styled((f"{more}all of them: notehop doctor {part.kind}", "dim")), indent=2)


def _where(places: Sequence[LinkPlace], everything: bool) -> str:
    """The first place and how many there are, or all of them."""
    if not places:
        return ""
    named = [f"{one.path}:{one.line}" for one in (places if everything else places[:1])]
    return ", ".join(named) + (f" and {len(places) - 1:,} more" if len(places) > len(named) else "")


def _links(found: Sequence[UnresolvedTarget | BrokenFragment | AmbiguousTarget]) -> str:
    return counted(sum(one.count for one in found), "link")


def _meant(near: Sequence[NearMiss]) -> str:
    named = [one.name if one.via in ("heading", "block") else _by(one) for one in near]
    return f"-> {_few(named, ' or ')}?" if named else ""


def _by(near: NearMiss) -> str:
    if near.via == "name":
        return near.path
    return f"{near.path} (its {near.via}{f' {near.name}' if near.distance else ''})"


def _few(names: Sequence[str], comma: str = ", ") -> str:
    left = len(names) - _NAMED
    return comma.join(names[:_NAMED]) + (f" and {left:,} more" if left > 0 else "")
