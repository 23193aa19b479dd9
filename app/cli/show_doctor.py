"""Shows what the doctor found to a person: the worst first, a few of each kind, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from notehop.app.cli.output import headline, show, show_line
from notehop.app.models import Kept
from notehop.app.services.doctor import Kind
from notehop.app.services.doctor.vault import BrokenLinks, DoctorReport
from notehop.indexing.shown import counted

LISTED = 5  # findings of each kind that are shown; `notehop doctor KIND` lists all of one
_NAMED = 3  # files that a finding names

Row = tuple[str, str, str]
"""One finding: what it is about, what it may mean, and what more is told of it."""

Part = tuple[Kind, str, str, Sequence[Row]]
"""Findings of a kind: their title, what is said beside it, and each of them."""


def show_doctor(report: DoctorReport, *, everything: bool) -> None:
    """Print all findings of a report, or the first of each kind only."""
    counts = ""
    if report.notes is not None and report.links is not None:
        counts = f": {counted(report.notes, 'note')}, {counted(report.links, 'link')}"
    show_line((report.name, "bold"), counts)
    if (check := report.index) is not None:
        wrong = sum(one.broken for one in check.findings)
        state = f"{counted(wrong, 'part')} broken" if wrong else "sound"
        state += "" if check.generation is None else f", generation {check.generation}"
        state += f", {counted(check.pending, 'note')} changed since" if check.pending else ""
        headline("Index", state if check.exists else "none yet; run: notehop index")
        for one in check.findings:
            style = "red" if one.broken else "yellow"
            show_line((f"{one.part}: ", style), one.problem, indent=2)
        for said in check.not_done:
            show_line(("not checked  ", "yellow"), said, indent=2)
    parts = [part for part in _parts(report, everything) if part[3]]
    for kind, title, note, rows in parts:
        headline(title, f"{len(rows):,}" + (f"  {note}" if note else ""))
        for name, meant, told in rows if everything else rows[:LISTED]:
            show_line(
                name, (meant and f" {meant}", "green"), (told and f"  {told}", "dim"), indent=2
            )
        left = 0 if everything else max(0, len(rows) - LISTED)
        if left:
            show((f"and {left:,} more; all of them: notehop doctor {kind}", "dim"), indent=2)
    if counts and not parts:
        headline("Links, names and notes", "nothing to mend")
    # A rebuild repairs what a run does too.
    if report.index is not None and report.index.findings:
        command = max((one.command for one in report.index.findings), key=len)
        show("\n", ("To repair the index, run: ", "bold"), command)


def _parts(report: DoctorReport, everything: bool) -> Iterator[Part]:
    def of_links(kind: Kind, title: str, found: Sequence[BrokenLinks], note: str = "") -> Part:
        rows = []
        for one in found:
            # The first place and how many there are, or all of them.
            shown = one.places if everything else one.places[:1]
            more = one.count - len(shown)
            where = ", ".join(f"{place.path}:{place.line}" for place in shown)
            rows.append((one.target, _meant(one), where + (f" and {more:,} more" if more else "")))
        links = counted(sum(one.count for one in found), "link")
        return kind, title, links + note, rows

    found = report.unresolved or []
    slips, gone = ([row for row in found if bool(row.near) is meant] for meant in (True, False))
    yield of_links(Kind.UNRESOLVED, "Links that lead nowhere, and what they may mean", slips)
    looked = report.near_misses_for or 0
    note = f"; near names were looked for of the {looked:,} most linked"
    note = note if looked < len(found) else ""
    yield of_links(Kind.UNRESOLVED, "Links to notes that are not there", gone, note)
    title = "Links to headings or blocks that their note does not have"
    yield of_links(Kind.FRAGMENTS, title, report.fragments or [])
    title = "Links to a name that several files have"
    yield of_links(Kind.AMBIGUOUS, title, report.ambiguous or [])
    warnings = [warning.partition(": ") for warning in report.warnings or ()]
    title = "Notes that say something that cannot be read as meant"
    yield Kind.WARNINGS, title, "", [(at, "", what) for at, _, what in warnings]
    yield _kept("Notes that cannot be read", report.failed)
    yield _kept("Notes that are kept out", report.skipped)
    yield _kept("Files that are no part of the vault", report.passed_over)
    orphans = [(path, "", "") for path in report.orphans or ()]
    yield Kind.ORPHANS, "Notes that no link joins with another", "", orphans


def _kept(title: str, kept: Sequence[Kept] | None) -> Part:
    return Kind.LEFT_OUT, title, "", [(one.path, "", one.reason) for one in kept or ()]


def _meant(links: BrokenLinks) -> str:
    if links.candidates:
        return f"-> {_few(links.candidates)}"
    named: list[str] = []
    for one in links.near:
        via = "" if one.via == "name" else f" (its {one.via}{f' {one.name}' * bool(one.distance)})"
        named.append(one.name if one.via in ("heading", "block") else one.path + via)
    return f"-> {_few(named, ' or ')}?" if named else ""


def _few(names: Sequence[str], comma: str = ", ") -> str:
    left = len(names) - _NAMED
    return comma.join(names[:_NAMED]) + (f" and {left:,} more" if left > 0 else "")
