"""Shows answers and hits to a person: evidence first, context apart from it, and what of an answer its
sources do not support.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.text import Text

from notehop.app.cli.output import headline, place_of, show, styled, title_of
from notehop.app.cli.show_explanation import show_explanation
from notehop.app.models import (
    Answer,
    Citation,
    Claim,
    ConnectedNote,
    LeftOut,
    Reply,
    SearchResult,
    Source,
)
from notehop.indexing.graph.files import is_note
from notehop.indexing.shown import on_one_line

UNSURE = " [?]"
"""What stands behind a sentence that is not to be taken on trust; the list below says why."""

SUPPORT = {
    "high": ("supported", "green"),
    "partial": ("supported in part", "yellow"),
    "none": ("not supported", "red"),
}

QUOTED = 200
"""Characters of a quote that are shown; `--json` has all of them."""


def marked(answer: Answer) -> Text:
    """The text of an answer, with a mark behind each sentence that is not to be taken on trust."""
    parts: list[str | tuple[str, str]] = []
    at = 0
    for claim in answer.claims:
        if _doubt(claim):
            end = claim.span[1]
            parts += [answer.answer[at:end], (UNSURE, "bold yellow")]
            at = end
    return styled(*parts, answer.answer[at:])


def show_doubts(answer: Answer) -> None:
    """Print the sentences of an answer that are not to be taken on trust, and why not."""
    doubts = [claim for claim in answer.claims if _doubt(claim)]
    if not doubts:
        return
    headline("Check these sentences", "the notes do not bear them out")
    for claim in doubts:
        show(styled(("[?] ", "bold yellow"), _short(claim.text)))
        show(styled((_doubt(claim), "dim")), indent=4)


def show_support(citation: Citation, mode: str) -> None:
    """Print how far a source supports the answer, and by which words.

    :param mode: that of the answer; where it is made of quotes, they stand there already.
    """
    if citation.support is None or mode == "extractive":
        return
    word, style = SUPPORT[citation.support]
    if not citation.quote:
        show(styled((word, style)), indent=4)
        return
    first, last = citation.quote_lines or citation.lines
    lines = f", line {first}" if first == last else f", lines {first}-{last}"
    if not is_note(citation.path):
        lines = ""
    show(styled((word, style), f"{lines}: “{_short(citation.quote)}”"), indent=4)


def show_left_out(left_out: list[LeftOut]) -> None:
    """Print what the language model was not shown."""
    if not left_out:
        return
    headline("Left out", "the language model had no room for it")
    for one in left_out:
        marker = one.marker if one.marker.startswith("[") else f"[{one.marker}]"
        part = "all of it" if one.part == "whole" else "its end"
        where = f"  {place_of(one.path, one.lines, one.heading)}  {part}, {one.tokens:,} tokens"
        title = title_of(one.title, one.heading)
        show(styled((marker, "bold cyan"), " ", (title, "bold"), (where, "dim")))


def _doubt(claim: Claim) -> str:
    """Why a sentence is not to be taken on trust; empty if it can be."""
    lacks = ", ".join(on_one_line(one) for one in claim.lacks)
    named = "".join(claim.markers)
    if claim.flag == "uncited":
        return "names no source"
    if claim.flag == "context":
        names = ", ".join(f"[{label}]" for label in claim.mentioned)
        return f"rests on {names} alone: context, not evidence"
    if claim.flag == "unsupported":
        said = "do not say" if len(claim.markers) > 1 else "does not say"
        return f"{named} {said} {lacks}" if lacks else f"{named} {said} this"
    if lacks:
        said = "lack" if len(claim.markers) > 1 else "lacks"
        return f"{named} {said} {lacks}"
    return ""


def _short(text: str) -> str:
    flat = on_one_line(" ".join(text.split()))
    return flat if len(flat) <= QUOTED else flat[:QUOTED].rsplit(" ", 1)[0] + " …"


SNIPPET = 280
"""Characters of a hit that are shown; `--json` has all of them."""


GLIMPSE = 160
"""Characters of a connected note that are shown: enough to see what it is about."""

_HEADINGS = re.compile(r"\A(?:\s*#{1,6} [^\n]*\n)+")


def show_answer(answer: Answer, *, written: bool = False) -> None:
    """Print an answer, what it cites and how far that supports it, and the connected notes.

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
    _close(answer, answer.sources)


def show_hits(result: SearchResult, *, scores: bool = False) -> None:
    """Print the hits of a search with their beginnings, and the connected notes.

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
    _close(result, result.hits)


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
            (title_of(source.title, source.heading), "bold"),
            "  ",
            (place_of(source.path, source.lines, source.heading), "dim"),
            (f"  {', '.join(told)}" if told else "", "yellow"),
        )
    )


def _close(reply: Reply, sources: Sequence[Source]) -> None:
    _connected(reply.connected_notes)
    show_explanation(reply, sources)
    if reply.filters:
        show(styled((f"filters: {on_one_line(' '.join(reply.filters))}", "dim")))


def _connected(notes: Sequence[ConnectedNote]) -> None:
    if not notes:
        return
    headline("Connected notes", "context, not evidence")
    for note in notes:
        title, place = (
            title_of(note.title, note.heading),
            place_of(note.path, note.lines, note.heading),
        )
        show(
            styled((f"[{note.label}]", "bold magenta"), " ", (title, "bold"), "  ", (place, "dim"))
        )
        show(styled(note.reason), indent=5)
        show(styled((snippet(note.text, GLIMPSE), "dim")), indent=5)
