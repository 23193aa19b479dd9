"""Shows what is neither an answer nor a status: notes around others, themes, links, models, a captured
note, what an index run did.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from notehop.app.cli.output import headline, place_of, show, styled, title_of, warn, written_by
from notehop.app.cli.show_answer import snippet
from notehop.app.models import (
    BrowsedNote,
    BrowseQuery,
    BrowseResult,
    Captured,
    HeldModel,
    ModelList,
    PulledModel,
    Suggestions,
    ThemesResult,
    ThemeView,
)
from notehop.indexing.graph.model import ResolvedLink, Status
from notehop.indexing.report import Report, report_lines, warning_lines
from notehop.indexing.shown import counted, on_one_line, shown_time

_ARROWS = {"forward": "→", "backward": "←", "both": "↔"}

PASSAGE = 280
"""Characters of a passage that are shown; `--json` has all of it."""


def show_browse(found: BrowseResult, asked: BrowseQuery) -> None:
    """Print the notes around the seeds, best first."""
    for seed in found.seeds:
        show(styled((on_one_line(seed.title), "bold cyan"), "  ", (on_one_line(seed.path), "dim")))
    for note in found.notes:
        _show_note(note, asked)
    noun = "passage" if asked.results == "chunks" else "note"
    if not found.notes:
        show(styled("\nNothing is linked there." if not found.total else "\nNothing is left."))
    elif found.total > len(found.notes):
        more = counted(found.total, noun)
        show(styled((f"\n{len(found.notes)} of {more}; --max {asked.max} is the most", "dim")))


def show_suggestions(found: Suggestions) -> None:
    """Print links that are missing, the most likely first, each with the sentence that shows it."""
    for one in found.suggestions:
        why = {"alike": "alike", "mention": "named", "dangling": f"{one.notes} notes link to it"}
        link, place = on_one_line(one.link), on_one_line(f"{one.source}:{one.line}")
        show(
            styled(
                (link, "bold cyan"), f"  in {place}", (f"  {one.score:.2f} {why[one.kind]}", "dim")
            )
        )
        show(styled(f"    “{on_one_line(one.text)}”"))
    if not found.suggestions:
        show(styled("No link is missing that notehop can see."))


def _show_note(note: BrowsedNote, asked: BrowseQuery) -> None:
    whole = asked.results == "notes"
    place = on_one_line(note.path) if whole else place_of(note.path, note.lines, note.heading)
    title = title_of(note.title, note.heading)
    told = [f"{counted(note.edges, 'link')}"]
    if note.depth > 1:
        told.append(f"{note.depth} links away")
    if asked.rank == "recency":
        told.append(f"changed {shown_time(note.modified)}")
    headline(f"{_ARROWS[note.way]} {title}", f"{place}  ({', '.join(told)})")
    if note.text.strip():
        show(styled((snippet(note.text, PASSAGE), "dim"), written_by(note.written_by)), indent=4)
    link = note.links[0]
    said = f"“{snippet(link.sentence)}”" if link.sentence else "a link in its properties"
    show(styled((f"{on_one_line(link.source)}:{link.line}  ", "dim"), said), indent=4)


def show_themes(found: ThemesResult) -> None:
    """Print each theme with its words, its summary and its first notes; then what is in none."""
    if not found.themes:
        told = "No theme is left." if found.filters else "The links make no themes."
        show(styled(told))
    for theme in found.themes:
        _show_theme(theme)
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


def _show_theme(theme: ThemeView) -> None:
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


_ORIGINS = {
    "bundled": "comes with notehop",
    "extra": "extra `multilingual`",
    "hub": "hub cache",
    "folder": "folder",
    "missing": "not on this machine",
}

_SEVERAL = 6
"""Languages that are named; of more the number is told."""


def show_models(held: ModelList) -> None:
    """Print the models, those in use first."""
    for number, model in enumerate(held.models):
        if number:
            show(styled(""))
        used = f"  in use: {', '.join(model.used_by)}" if model.used_by else ""
        show(styled((on_one_line(model.name), "bold"), (used, "green")))
        show(styled((_described(model), "dim")), indent=2)
        if model.folder is not None:
            show(styled((on_one_line(model.folder), "dim")), indent=2)
    others = counted(held.others, "model") + " of other kinds, or not whole, in " + held.cache
    if held.others:
        show(styled(("\n" + on_one_line(others), "dim")))
    if held.exports_bytes:
        size = f"{held.exports_bytes / 1e6:,.1f} MB"
        told = f"exported for queries, shared by all indexes: {size} in {held.exports}"
        show(styled(("\n" + on_one_line(told), "dim")))
    warn([model.problem for model in held.models if model.problem])


def show_pulled(pulled: PulledModel, *, dry_run: bool) -> None:
    """Print what became of a fetch, and how to use the model."""
    if dry_run and pulled.folder is None:
        for name in pulled.files:
            show(styled(on_one_line(name)), indent=2)
        return
    done = "fetched" if pulled.fetched else "here already"
    show(styled((on_one_line(pulled.name), "bold"), f" {done}: {on_one_line(pulled.folder or '')}"))
    if pulled.setting is None:
        show(styled("It is neither an embedding model nor a cross-encoder that notehop knows."))
        return
    then = ", then run: notehop index --rebuild" if pulled.kind == "embedding" else ""
    show(styled(f'To use it, set {pulled.setting} = "{on_one_line(pulled.name)}"{then}'))


def _described(model: HeldModel) -> str:
    kinds = {"embedding": "embedding", "reranker": "cross-encoder", "unknown": "of unknown kind"}
    told = [kinds[model.kind], _ORIGINS[model.origin]]
    if model.bytes is not None:
        told.append(f"{model.bytes / 1e6:,.1f} MB")
    if model.dimensions is not None:
        told.append(f"{model.dimensions} dimensions")
    if model.languages == ["mul"]:
        told.append("many languages")
    elif len(model.languages) > _SEVERAL:
        told.append(counted(len(model.languages), "language"))
    elif model.languages:
        told.append(" ".join(model.languages))
    return ", ".join(told)


def show_captured(found: Captured) -> None:
    """Print where the note is, then the related notes with the links to paste."""
    show(styled(found.message))
    if not found.connections:
        return
    headline("Related in your vault")
    for number, one in enumerate(found.connections):
        if number:
            show(styled(""))
        title = title_of(one.title, one.heading)
        show(styled((title, "bold"), "  ", (on_one_line(one.folder or "/"), "dim")))
        show(styled((one.snippet, "dim"), written_by(one.written_by)), indent=4)
        show(styled((one.link, "cyan")), indent=4)


def show_report(report: Report) -> None:
    """Print what the run did, what the index holds now, and why each note left out was left out."""
    first, *rest = report_lines(report)
    show(styled((first, "bold")))
    for line in rest:
        show(styled(line))
    warn(warning_lines(report))
