"""Shows what the doctor found to a person: the worst first, a few of each kind, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

from notehop.app.cli.output import headline, show, show_first, show_line
from notehop.app.services.doctor import BrokenLinks, DoctorReport, IndexCheck
from notehop.indexing.shown import counted

LISTED = 5  # findings of each kind that are shown; `notehop doctor KIND` lists all of one
NAMED = 3  # files that a finding names

_TITLES = {
    "unresolved": "Links that lead nowhere, and what they may mean",
    "fragments": "Links to headings or blocks that their note does not have",
    "ambiguous": "Links to a name that several files have",
    "warnings": "Notes that say something that cannot be read as meant",
    "orphans": "Notes that no link joins with another",
}


def show_doctor(report: DoctorReport, *, everything: bool, at: str) -> None:
    """Print all findings of a report, or the first of each kind only; ``at`` are the options by which the
    vault was named."""
    counts = ""
    if report.notes is not None and report.links is not None:
        counts = f": {counted(report.notes, 'note')}, {counted(report.links, 'link')}"
    show_line(report.name + counts, style="bold")
    if report.index is not None:
        _show_index(report.index)

    def shown(one: BrokenLinks | str) -> str:
        if isinstance(one, str):
            return one
        meant = f" -> {', '.join(_few(one.meant, NAMED))}" if one.meant else ""
        # The first place and how many there are, or all of them.
        where = one.places if everything else _few(one.places, 1)
        return f"{one.target}{meant}  {', '.join(where)}"

    parts = {kind: [shown(one) for one in getattr(report, kind) or ()] for kind in _TITLES}
    for kind, rows in parts.items():
        most = None if everything else LISTED
        show_first(_TITLES[kind], rows, most, f"all of them: notehop doctor {kind}{at}")
    if counts and not any(parts.values()):
        headline("Links, names and notes", "nothing to mend")
    # A rebuild repairs what a run does too.
    if report.index is not None and report.index.findings:
        command = max((one.command for one in report.index.findings), key=len)
        show(f"\nTo repair the index, run: {command}{'' if 'NEW_FOLDER' in command else at}")


def _show_index(check: IndexCheck) -> None:
    wrong = sum(one.broken for one in check.findings)
    state = f"{counted(wrong, 'part')} broken" if wrong else "sound"
    state += "" if check.generation is None else f", generation {check.generation}"
    state += f", {counted(check.pending, 'note')} changed since" if check.pending else ""
    headline("Index", state if check.exists else "none yet; run: notehop index")
    for one in check.findings:
        show_line(f"{one.part}: {one.problem}", indent=2, style="red" if one.broken else "yellow")
    for said in check.not_done:
        show_line(f"not checked  {said}", indent=2, style="yellow")


def _few(names: Sequence[str], most: int) -> list[str]:
    left = len(names) - most
    return [*names[:most], *([f"{left:,} more"] if left > 0 else [])]
