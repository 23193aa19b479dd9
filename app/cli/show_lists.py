"""Shows what is neither an answer nor a status: notes around others, themes, links, models, a captured
note, what an index run did.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from notehop.app import models
from notehop.app.cli.output import headline, show, show_line, title_of, warn, written_by
from notehop.app.cli.show_answer import snippet
from notehop.indexing.graph.resolve import ResolvedLink, Status
from notehop.indexing.report import Report, report_lines, warning_lines
from notehop.indexing.shown import counted, shown_time

_ARROWS = {"forward": "→", "backward": "←", "both": "↔"}


def show_browse(found: models.BrowseResult, asked: models.BrowseQuery) -> None:
    """Print the notes around the seeds, best first."""
    for seed in found.seeds:
        show_line((seed.title, "bold cyan"), "  ", (seed.path, "dim"))
    for note in found.notes:
        told = [counted(note.edges, "link")]
        if note.depth > 1:
            told.append(f"{note.depth} links away")
        if asked.rank == "recency":
            told.append(f"changed {shown_time(note.modified)}")
        headline(f"{_ARROWS[note.way]} {note.title}", f"{note.path}  ({', '.join(told)})")
        if note.text.strip():
            show((snippet(note.text), "dim"), written_by(note.written_by), indent=4)
        link = note.links[0]
        said = f"“{snippet(link.sentence)}”" if link.sentence else "a link in its properties"
        show_line((f"{link.source}:{link.line}  ", "dim"), said, indent=4)
    if not found.notes:
        show("\nNothing is linked there." if not found.total else "\nNothing is left.")
    elif found.total > len(found.notes):
        more = counted(found.total, "note")
        show((f"\n{len(found.notes)} of {more}; --max {asked.max} is the most", "dim"))


def show_suggestions(found: models.Suggestions) -> None:
    """Print links that are missing, the most likely first, each with the sentence that shows it."""
    for one in found.suggestions:
        why = {"alike": "alike", "mention": "named", "dangling": f"{one.notes} notes link to it"}
        worth = f"  {one.score:.2f} {why[one.kind]}"
        show_line((one.link, "bold cyan"), f"  in {one.source}:{one.line}", (worth, "dim"))
        show_line(f"“{one.text}”", indent=4)
    if not found.suggestions:
        show("No link is missing that notehop can see.")


def show_themes(found: models.ThemesResult) -> None:
    """Print each theme with its summary and its first notes; then what is in none."""
    if not found.themes:
        show("No theme is left." if found.filters else "The links make no themes.")
    for theme in found.themes:
        headline(theme.name, counted(theme.count, "note"))
        if theme.summary:
            show(theme.summary, indent=4)
        show_line(("; ".join(note.title for note in theme.notes), "dim"), indent=4)
    rest = []
    if found.total > len(found.themes):
        more = counted(found.total - len(found.themes), "more theme")
        rest.append(f"{more}; --max {found.total} shows all")
    if found.small:
        rest.append(f"{counted(found.small, 'note')} in groups too small to be themes")
    if found.unlinked:
        rest.append(f"{counted(found.unlinked, 'note')} that no link connects with another")
    if rest:
        show((f"\n{'; '.join(rest)}", "dim"))


_STYLES = {
    Status.RESOLVED: "green",
    Status.AMBIGUOUS: "yellow",
    Status.UNRESOLVED: "red",
    Status.EXCLUDED: "dim",
}


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


def show_links(found: Sequence[ResolvedLink]) -> None:
    """Print the links under the notes that hold them, and a count by status."""
    source = None
    for one in found:
        if one.source != source:
            source = one.source
            headline(source)
        link, resolution = one.link, one.resolution
        target = resolution.path or "?"
        if resolution.path and link.fragment:
            missing = " (not found there)" if one.fragment_found is False else ""
            target += f"#{link.fragment}{missing}"
        if len(resolution.candidates) > 1:
            target += f"  of {len(resolution.candidates)}: {', '.join(resolution.candidates)}"
        show_line(
            (f"{link.line:>5}  {link.kind:<8}  ", "dim"),
            (f"{resolution.status.value:<10}  ", _STYLES[resolution.status]),
            " ".join(link.raw.split()),
            (" -> ", "dim"),
            target,
            (" via alias" if resolution.via == "alias" else "", "dim"),
            indent=2,
        )
    counts = {status: sum(one.resolution.status is status for one in found) for status in Status}
    told = ", ".join(f"{count:,} {status.value}" for status, count in counts.items() if count)
    if found:
        show("")
    show(f"{counted(len(found), 'link')}{f': {told}' if told else ''}")


def show_captured(found: models.Captured) -> None:
    """Print where the note is, then the related notes with the links to paste."""
    show(found.message)
    if found.connections:
        headline("Related in your vault")
    for number, one in enumerate(found.connections):
        if number:
            show("")
        show_line((title_of(one.title, one.heading), "bold"), "  ", (one.folder or "/", "dim"))
        show((one.snippet, "dim"), written_by(one.written_by), indent=4)
        show((one.link, "cyan"), indent=4)


def show_report(report: Report) -> None:
    """Print what the run did, what the index holds now, and why each note left out was left out."""
    first, *rest = report_lines(report)
    show((first, "bold"))
    for line in rest:
        show(line)
    warn(warning_lines(report))
