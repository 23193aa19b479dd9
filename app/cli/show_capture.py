"""Shows a person what became of a captured text.

Touches: terminal.
"""

from __future__ import annotations

from notehop.app.cli.output import headline, show, styled, written_by
from notehop.app.models import Captured
from notehop.indexing.shown import on_one_line


def show_captured(found: Captured) -> None:
    """Print where the note is, then the related notes with the links to paste."""
    show(styled(found.message))
    if not found.connections:
        return
    headline("Related in your vault")
    for number, one in enumerate(found.connections):
        if number:
            show(styled(""))
        title = on_one_line(" > ".join(part for part in (one.title, one.heading) if part))
        show(styled((title, "bold"), "  ", (on_one_line(one.folder or "/"), "dim")))
        show(styled((one.snippet, "dim"), written_by(one.written_by)), indent=4)
        show(styled((one.link, "cyan")), indent=4)
