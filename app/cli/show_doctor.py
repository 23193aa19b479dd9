"""Shows what the doctor found to a person: the worst first, a few of each kind, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from notehop.app.cli.output import headline, show, show_line
from notehop.app.services.doctor import BrokenLinks, DoctorReport
from notehop.indexing.shown import counted

LISTED = 5  # findings of each kind that are shown; `notehop doctor KIND` lists all of one
NAMED = 3  # files that a finding names

Row = tuple[str, str, str]
"""One finding: what it is about, what it may mean, and what more is told of it."""


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
    for kind, title, rows in _parts(report, everything):
        if not rows:
            continue
        headline(title, f"{len(rows):,}")
        for name, meant, told in rows if everything else rows[:LISTED]:
            show_line(
                name, (meant and f" -> {meant}", "green"), (told and f"  {told}", "dim"), indent=2
            )
        left = 0 if everything else max(0, len(rows) - LISTED)
        if left:
            show((f"and {left:,} more; all of them: notehop doctor {kind}", "dim"), indent=2)
    if counts and not any(rows for *_, rows in _parts(report, everything)):
        headline("Links, names and notes", "nothing to mend")
    # A rebuild repairs what a run does too.
    if report.index is not None and report.index.findings:
        command = max((one.command for one in report.index.findings), key=len)
        show("\n", ("To repair the index, run: ", "bold"), command)


def _parts(report: DoctorReport, everything: bool) -> Iterator[tuple[str, str, list[Row]]]:
    """Findings of a kind: their title, and each of them."""

    def links(found: Sequence[BrokenLinks] | None) -> list[Row]:
        rows: list[Row] = []
        for one in found or ():
            # The first place and how many there are, or all of them.
            where = one.places if everything else _few(one.places, 1)
            rows.append((one.target, ", ".join(_few(one.meant, NAMED)), ", ".join(where)))
        return rows

    yield "unresolved", "Links that lead nowhere, and what they may mean", links(report.unresolved)
    title = "Links to headings or blocks that their note does not have"
    yield "fragments", title, links(report.fragments)
    yield "ambiguous", "Links to a name that several files have", links(report.ambiguous)
    warnings = [warning.partition(": ") for warning in report.warnings or ()]
    title = "Notes that say something that cannot be read as meant"
    yield "warnings", title, [(at, "", what) for at, _, what in warnings]
    orphans = [(path, "", "") for path in report.orphans or ()]
    yield "orphans", "Notes that no link joins with another", orphans


def _few(names: Sequence[str], most: int) -> list[str]:
    left = len(names) - most
    return [*names[:most], *([f"{left:,} more"] if left > 0 else [])]
