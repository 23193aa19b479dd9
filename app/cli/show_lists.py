"""Shows what is neither an answer nor a status: themes, links, what an index run did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from notehop.app import models
from notehop.app.cli.output import headline, show, show_line, warn
from notehop.indexing.graph.resolve import ResolvedLink
from notehop.indexing.report import Report, report_lines, warning_lines
from notehop.indexing.shown import counted

ReplyT = TypeVar("ReplyT", bound=BaseModel)

WHOLE = 1_000_000  # tokens: all of it


def as_text(write: Callable[[ReplyT, int], str]) -> Callable[[ReplyT], None]:
    """Shows a reply as agents read it; what it warns of is said beside it."""
    return lambda found: show(
        write(found.model_copy(update={"warnings": [], "pending": None}), WHOLE)
    )


def show_themes(found: models.ThemesResult) -> None:
    """Print each theme with its summary and its first notes; then what is in none."""
    if not found.themes:
        show("No theme is left." if found.filters else "The links make no themes.")
    for theme in found.themes:
        headline(theme.name, counted(theme.count, "note"))
        if theme.summary:
            show(theme.summary, indent=4)
        show_line("; ".join(note.title for note in theme.notes), indent=4, style="dim")
    rest = (
        (found.total - len(found.themes), f"more, shown with --max {found.total}"),
        (found.small, "in groups too small to be themes"),
        (found.unlinked, "that no link connects with another"),
    )
    for count, what in rest:
        if count:
            show(f"\n{count:,} {what}", style="dim")


def as_values(found: ResolvedLink) -> dict[str, Any]:
    """A link as plain values; ``lines`` is the span that its fragment names."""
    link, resolution, span = found.link, found.resolution, found.span
    return {
        "source": found.source,
        "line": link.line,
        "raw": link.raw,
        "kind": link.kind,
        "status": resolution.status.value,
        "target": resolution.path,
        "fragment": link.fragment,
        "via": resolution.via,
        "display": link.display,
        "candidates": list(resolution.candidates),
        "fragment_found": found.fragment_found,
        "lines": [span.first_line, span.last_line] if span else None,
    }


def show_links(found: Sequence[ResolvedLink], leading: Sequence[ResolvedLink] | None) -> None:
    """Print a line a link, and a count by status; of one note also the links that are ``leading`` to it,
    each with its sentence."""
    for one in found:
        link, resolution = one.link, one.resolution
        target = " or ".join(resolution.candidates) or resolution.path or "?"
        target += f"#{link.fragment}" if resolution.path and link.fragment else ""
        missing = ", not found there" if one.fragment_found is False else ""
        about = f"{link.kind}, {resolution.status.value}{missing}"
        show_line(f"{one.source}:{link.line}  {' '.join(link.raw.split())} -> {target}  ({about})")
    counts = Counter(one.resolution.status.value for one in found)
    told = ", ".join(f"{count:,} {status}" for status, count in counts.most_common())
    show(f"\n{counted(len(found), 'link')}{f': {told}' if told else ''}")
    if leading is not None:
        headline(f"{counted(len(leading), 'link')} from other notes")
    for one in leading or ():
        said = one.link.sentence or f'property "{one.link.property}"'
        show_line(f"{one.source}:{one.link.line}  {said}")


def show_report(report: Report) -> None:
    """Print what the run did, what the index holds now, and why each note left out was left out."""
    for at, line in enumerate(report_lines(report)):
        show(line, style="" if at else "bold")
    warn(warning_lines(report))
