"""The report of an index run as lines of text: every note of the vault is in one of its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from notehop.indexing.report import Report
from notehop.indexing.shown import counted, on_one_line

LISTED = 10
"""Reasons and warnings that are shown; ``--json`` has all of them."""


def report_lines(report: Report) -> list[str]:
    """What the run did, what the index holds now, and why each note left out was left out."""
    links = report.links
    notes = {
        "added": report.added,
        "changed": report.changed,
        "moved": report.moved,
        "deleted": report.deleted,
        "unchanged": report.unchanged,
        "skipped": len(report.skipped),
        "failed": len(report.failed),
    }
    targets = {
        "resolved": links.resolved,
        "ambiguous": links.ambiguous,
        "unresolved": links.unresolved,
        "excluded": links.excluded,
    }
    seconds = report.seconds.get("total", 0.0)
    return [
        f"{counted(report.notes, 'note')} in {counted(report.chunks, 'chunk')}, "
        f"generation {report.generation}, in {seconds:.1f} s",
        f"  notes  {_all(notes)}",
        f"  links  {_all(targets)}",
        on_one_line(f"  index  {report.index_dir}"),
        *(() if report.enrichment is None else report.enrichment.lines()),
        *_reasons("skipped", report.skipped),
        *_reasons("failed", report.failed),
        *(on_one_line(f"  advice  {said}") for said in report.advice),
    ]


def warning_lines(report: Report) -> list[str]:
    """What the owner of the notes may want to mend, the first ones of it."""
    shown = (on_one_line(warning) for warning in report.warnings[:LISTED])
    return [*shown, *_more(len(report.warnings), "warnings")]


def _all(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "none"


def _reasons(name: str, items: Sequence[tuple[str, str]]) -> Iterator[str]:
    for path, reason in items[:LISTED]:
        yield on_one_line(f"  {name}  {path}: {reason}")
    for line in _more(len(items), name):
        yield f"  {line}"


def _more(count: int, name: str) -> list[str]:
    left = count - LISTED
    return [f"and {left:,} more {name}; --json lists all"] if left > 0 else []
