"""Shows the themes of a vault to a person.

Touches: terminal.
"""

from __future__ import annotations

from collections.abc import Callable

from notehop.app.cli.output import headline, show, styled, warn
from notehop.app.models import ThemesResult, ThemeView
from notehop.indexing.shown import counted, on_one_line


def show_themes(found: ThemesResult, remedy: Callable[[], str]) -> None:
    """Print each theme with its words, its summary and its first notes; then what is in none.

    :param remedy: tells what becomes of notes that are not indexed yet.
    """
    if not found.themes:
        told = "No theme is left." if found.filters else "The links make no themes."
        show(styled(told))
    for theme in found.themes:
        _show(theme)
    rest = []
    if found.total > len(found.themes):
        more = counted(found.total - len(found.themes), "more theme")
        rest.append(f"{more}; --max {found.total} shows all")
    searched = any(theme.found is not None for theme in found.themes)
    if found.small and not searched:
        rest.append(f"{counted(found.small, 'note')} in groups too small to be themes")
    if found.unlinked and not searched:
        rest.append(f"{counted(found.unlinked, 'note')} that no link connects with another")
    if rest:
        show(styled((f"\n{'; '.join(rest)}", "dim")))
    warn(found.warnings)
    if found.pending:
        notes = counted(found.pending, "note")
        warn([f"{notes} may have changed since the index was made; {remedy()}"])


def _show(theme: ThemeView) -> None:
    told = counted(theme.count, "note")
    if theme.found is not None:
        told += f", {theme.found} of them found"
    headline(theme.name, told)
    if theme.words:
        show(styled((on_one_line(", ".join(theme.words)), "cyan")), indent=4)
    if theme.summary:
        show(styled(theme.summary), indent=4)
    titles = "; ".join(on_one_line(note.title) for note in theme.notes)
    show(styled((titles, "dim")), indent=4)
