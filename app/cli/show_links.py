"""Shows links to a person, a line each, and as plain values to a program.

Touches: terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from notehop.app.cli.output import headline, show, styled
from notehop.indexing.graph.model import ResolvedLink, Status
from notehop.indexing.shown import counted, on_one_line

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
        "kind": link.kind.value,
        "status": resolution.status.value,
        "target": resolution.path,
        "fragment": link.fragment,
        "via": resolution.via.value if resolution.via else None,
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
        show(_line(one), indent=2)
    counts = {status: sum(one.resolution.status is status for one in found) for status in Status}
    told = ", ".join(f"{count:,} {status.value}" for status, count in counts.items() if count)
    show(
        styled(
            f"{chr(10) if found else ''}{counted(len(found), 'link')}", f": {told}" if told else ""
        )
    )


def _line(found: ResolvedLink) -> Any:
    link, resolution = found.link, found.resolution
    target = resolution.path or "?"
    if resolution.path and link.fragment:
        target += f"#{link.fragment}"
        if found.fragment_found is False:
            target += " (not found there)"
    if len(resolution.candidates) > 1:
        target += f"  of {len(resolution.candidates)}: {', '.join(resolution.candidates)}"
    via = (
        f" via {resolution.via.value}" if resolution.via and resolution.via.value == "alias" else ""
    )
    return styled(
        (f"{link.line:>5}  ", "dim"),
        (f"{link.kind.value:<8}  ", "dim"),
        (f"{resolution.status.value:<10}  ", _STYLES[resolution.status]),
        " ".join(link.raw.split()),
        (" -> ", "dim"),
        on_one_line(target),
        (via, "dim"),
    )
