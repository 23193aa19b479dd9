"""Shows the state of an index or of a note to a person.

Touches: terminal.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from app.cli.output import headline, show, styled, warn
from app.models import IndexStatus, Kept, NoteStatusReport, StatusLink
from indexing.shown import counted, on_one_line

LISTED = 10
"""Notes or links that are shown of each kind; `--json` has all of them."""


def show_status(told: IndexStatus | NoteStatusReport) -> None:
    """Print what there is to say, the most important first."""
    if isinstance(told, IndexStatus):
        _index(told)
    else:
        _note(told)


def _index(told: IndexStatus) -> None:
    indexed = told.notes.get("indexed", 0)
    held = f"{counted(indexed, 'note')} in {counted(told.chunks, 'chunk')}"
    show(styled((on_one_line(told.name), "bold"), f": {held}"))
    _row("state", _state(told))
    _row("updated", f"{_time(told.updated)}, generation {told.generation}")
    _row("links", _counts(told.links))
    _row("model", f"{told.made_with.get('model')}, {told.made_with.get('dimensions')} dimensions")
    _row("words", f"language {told.made_with.get('language')}")
    _row("vault", told.vault)
    _row("index", f"{told.index_dir}, {told.bytes / 1e6:,.1f} MB")
    _row("settings", told.settings_file)
    _kept("Skipped", told.skipped)
    _kept("Failed", told.failed)
    _kept("Passed over", told.passed_over)


def _state(told: IndexStatus) -> str:
    if told.problem is not None:
        return told.problem
    if told.pending is None:
        return "the vault cannot be looked at"
    left = {
        "to read": told.pending.read,
        "to leave out": told.pending.skip,
        "to forget": told.pending.gone,
    }
    said = ", ".join(f"{count:,} {name}" for name, count in left.items() if count)
    return f"changed since: {said}; run: notehop index" if said else "up to date"


def _note(told: NoteStatusReport) -> None:
    show(styled((on_one_line(told.title), "bold"), f"  {on_one_line(told.path)}"))
    _row("state", told.status + (f": {told.reason}" if told.reason else ""))
    if told.changed is None:
        _row("file", "gone; run: notehop index")
    elif told.changed:
        _row("file", "changed since it was indexed; run: notehop index")
    _row("modified", _time(told.modified))
    for name, values in (("aliases", told.aliases), ("tags", told.tags)):
        if values:
            _row(name, ", ".join(values))
    if told.chunks:
        headline("Chunks")
    for chunk in told.chunks:
        show(
            styled(
                (f"{chunk.lines[0]}-{chunk.lines[1]}", "dim"), f"  {on_one_line(chunk.heading)}"
            ),
            indent=2,
        )
    _links("Links", told.links, lambda link: f"{link.raw} -> {link.target or link.status}")
    _links("Linked from", told.backlinks, lambda link: f"{link.source}: {link.raw}")
    warn(told.warnings)


def _links(name: str, links: list[StatusLink], line: Callable[[StatusLink], str]) -> None:
    if not links:
        return
    headline(name, f"{len(links):,}")
    for link in links[:LISTED]:
        show(styled((f"{link.line:>5}  ", "dim"), on_one_line(line(link))))
    _more(len(links))


def _kept(name: str, notes: list[Kept]) -> None:
    if not notes:
        return
    headline(name, f"{len(notes):,}")
    for note in notes[:LISTED]:
        path, reason = on_one_line(note.path), on_one_line(note.reason)
        show(styled(path, (f"  {reason}", "dim")), indent=2)
    _more(len(notes))


def _more(count: int) -> None:
    if count > LISTED:
        show(styled((f"and {count - LISTED:,} more; --json lists all", "dim")), indent=2)


def _row(name: str, value: str) -> None:
    show(styled((f"  {name:<9}", "dim"), on_one_line(value)))


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "none"


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
