"""Shows answers and hits to a person: evidence first, context apart from it.

Touches: terminal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from notehop.app.cli.output import headline, show, styled, warn
from notehop.app.cli.show_claims import marked, show_doubts, show_left_out, show_support
from notehop.app.cli.show_explanation import show_explanation
from notehop.app.models import Answer, ConnectedNote, Reply, SearchResult, Source
from notehop.indexing.shown import counted, on_one_line

SNIPPET = 280
"""Characters of a hit that are shown; `--json` has all of them."""


GLIMPSE = 160
"""Characters of a connected note that are shown: enough to see what it is about."""

_HEADINGS = re.compile(r"\A(?:\s*#{1,6} [^\n]*\n)+")


def show_answer(answer: Answer, remedy: Callable[[], str], *, written: bool = False) -> None:
    """Print an answer, what it cites and how far that supports it, and the connected notes.

    :param remedy: tells what becomes of notes that are not indexed yet.
    :param written: whether the text stands there already, so that only the rest is printed.
    """
    _searched(answer)
    if not written:
        show(marked(answer))
    if answer.model is not None:
        show(styled((f"— written by {on_one_line(answer.model)}", "dim")))
    show_doubts(answer)
    if answer.citations:
        headline("Citations")
        for citation in answer.citations:
            _place(citation)
            show_support(citation, answer.mode)
    others = [s for s in answer.sources if s.marker not in {c.marker for c in answer.citations}]
    if others:
        headline("Also found" if answer.citations else "Found", "not cited")
        for source in others:
            _place(source)
    show_left_out(answer.left_out)
    _close(answer, remedy, answer.sources)


def show_hits(result: SearchResult, remedy: Callable[[], str], *, scores: bool = False) -> None:
    """Print the hits of a search with their beginnings, and the connected notes.

    :param remedy: as of :func:`show_answer`.
    :param scores: whether the relevance of each is shown, too.
    """
    _searched(result)
    if not result.hits:
        show(styled("Nothing in the vault matches."))
    for number, hit in enumerate(result.hits):
        if number:
            show(styled(""))
        _place(hit, scores=scores)
        show(styled((snippet(hit.text), "dim")), indent=4)
    _close(result, remedy, result.hits)


def snippet(text: str, most: int = SNIPPET) -> str:
    """The beginning of a text on one line, cut between words, without the heading it stands under.

    The heading is shown with the title of the note.
    """
    flat = " ".join(_HEADINGS.sub("", text).split())
    if len(flat) <= most:
        return flat
    return flat[:most].rsplit(" ", 1)[0] + " …"


def _searched(reply: Reply) -> None:
    """Say what was searched for, where that is not what was typed."""
    if reply.searched_for:
        told = ", ".join(f"{new} (for {old})" for old, new in reply.searched_for.items())
        show(styled((f"searched for {on_one_line(told)}", "yellow")))


def _place(source: Source, *, scores: bool = False) -> None:
    told = [f"relevance {source.relevance:.2f}"] if scores and source.relevance is not None else []
    told += ["weak match"] if source.weak else []
    show(
        styled(
            (source.marker, "bold cyan"),
            " ",
            (_title(source), "bold"),
            "  ",
            (_at(source), "dim"),
            (f"  {', '.join(told)}" if told else "", "yellow"),
        )
    )


def _title(place: Source | ConnectedNote) -> str:
    return on_one_line(" > ".join(part for part in (place.title, place.heading) if part))


def _at(place: Source | ConnectedNote) -> str:
    path, (first, last) = on_one_line(place.path), place.lines
    return f"{path}:{first}" if first == last else f"{path}:{first}-{last}"


def _close(reply: Reply, remedy: Callable[[], str], sources: Sequence[Source]) -> None:
    _connected(reply.connected_notes)
    show_explanation(reply, sources)
    if reply.filters:
        show(styled((f"filters: {on_one_line(' '.join(reply.filters))}", "dim")))
    warn(reply.warnings)
    if reply.pending:
        notes = counted(reply.pending, "note")
        warn([f"{notes} may have changed since the index was made; {remedy()}"])


def _connected(notes: Sequence[ConnectedNote]) -> None:
    if not notes:
        return
    headline("Connected notes", "context, not evidence")
    for note in notes:
        title = _title(note)
        show(
            styled(
                (f"[{note.label}]", "bold magenta"), " ", (title, "bold"), "  ", (_at(note), "dim")
            )
        )
        show(styled(note.reason), indent=5)
        show(styled((snippet(note.text, GLIMPSE), "dim")), indent=5)
