"""Shows what lies around notes to a person: each note with the link that leads there.

Touches: terminal.
"""

from __future__ import annotations

from collections.abc import Callable

from notehop.app.cli.output import headline, show, styled, warn, written_by
from notehop.app.cli.show_answer import snippet
from notehop.app.models import BrowsedNote, BrowseQuery, BrowseResult
from notehop.indexing.shown import counted, on_one_line, shown_time

_ARROWS = {"forward": "→", "backward": "←", "both": "↔"}

PASSAGE = 280
"""Characters of a passage that are shown; `--json` has all of it."""


def show_browse(found: BrowseResult, asked: BrowseQuery, remedy: Callable[[], str]) -> None:
    """Print the notes around the seeds, best first.

    :param remedy: tells what becomes of notes that are not indexed yet.
    """
    for seed in found.seeds:
        show(styled((on_one_line(seed.title), "bold cyan"), "  ", (on_one_line(seed.path), "dim")))
    for note in found.notes:
        _show(note, asked)
    noun = "passage" if asked.results == "chunks" else "note"
    if not found.notes:
        show(styled("\nNothing is linked there." if not found.total else "\nNothing is left."))
    elif found.total > len(found.notes):
        more = counted(found.total, noun)
        show(styled((f"\n{len(found.notes)} of {more}; --max {asked.max} is the most", "dim")))
    warn(found.warnings)
    if found.pending:
        notes = counted(found.pending, "note")
        warn([f"{notes} may have changed since the index was made; {remedy()}"])


def _show(note: BrowsedNote, asked: BrowseQuery) -> None:
    title = on_one_line(" > ".join(part for part in (note.title, note.heading) if part))
    told = [f"{counted(note.edges, 'link')}"]
    if note.depth > 1:
        told.append(f"{note.depth} links away")
    if asked.rank == "recency":
        told.append(f"changed {shown_time(note.modified)}")
    headline(f"{_ARROWS[note.way]} {title}", f"{_at(note, asked)}  ({', '.join(told)})")
    if note.text.strip():
        show(styled((snippet(note.text, PASSAGE), "dim"), written_by(note.written_by)), indent=4)
    link = note.links[0]
    said = f"“{snippet(link.sentence)}”" if link.sentence else "a link in its properties"
    show(styled((f"{on_one_line(link.source)}:{link.line}  ", "dim"), said), indent=4)


def _at(note: BrowsedNote, asked: BrowseQuery) -> str:
    path, (first, last) = on_one_line(note.path), note.lines
    if asked.results == "notes":
        return path
    return f"{path}:{first}" if first == last else f"{path}:{first}-{last}"
