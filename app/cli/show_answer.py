"""Shows answers and hits to a person: evidence first, context apart from it, then how it came about."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from notehop.app import models
from notehop.app.cli.output import Part, headline, show, show_line, title_of
from notehop.indexing.graph.files import is_note
from notehop.indexing.shown import location

UNSURE = " [?]"
"""What stands behind a sentence that is not to be taken on trust; the list below says why."""

SUPPORT = {
    "high": ("supported", "green"),
    "partial": ("supported in part", "yellow"),
    "none": ("not supported", "red"),
}

QUOTED, SNIPPET, GLIMPSE = 200, 280, 160
"""Characters of a quote, a hit and a connected note that are shown; `--json` has all of them."""

_HEADINGS = re.compile(r"\A(?:\s*#{1,6} [^\n]*\n)+")


def show_answer(answer: models.Answer, *, written: bool = False) -> None:
    """Print an answer, unless it was written already, what it cites and how far that supports it, and the
    connected notes.
    """
    _searched(answer)
    doubts = [claim for claim in answer.claims if claim.doubt]
    if not written:
        parts: list[Part] = []
        at = 0
        for claim in doubts:
            parts += [answer.answer[at : claim.span[1]], (UNSURE, "bold yellow")]
            at = claim.span[1]
        show(*parts, answer.answer[at:])
    if answer.model is not None:
        show_line((f"— written by {answer.model}", "dim"))
    if doubts:
        headline("Check these sentences", "the notes do not bear them out")
    for claim in doubts:
        show(("[?] ", "bold yellow"), _cut(claim.text, QUOTED))
        show_line((claim.doubt, "dim"), indent=4)
    if answer.citations:
        headline("Citations")
    for citation in answer.citations:
        _show_place(citation)
        # Where an answer is made of quotes, they stand there already.
        if citation.support is None or answer.mode == "extractive":
            continue
        said = ""
        if citation.quote:
            first, last = citation.quote_lines or citation.lines
            lines = f", line {first}" if first == last else f", lines {first}-{last}"
            lines = lines if is_note(citation.path) else ""
            said = f"{lines}: “{_cut(citation.quote, QUOTED)}”"
        show(SUPPORT[citation.support], said, indent=4)
    cited = {citation.marker for citation in answer.citations}
    others = [source for source in answer.sources if source.marker not in cited]
    if others:
        headline("Also found" if answer.citations else "Found", "not cited")
    for source in others:
        _show_place(source)
    if answer.left_out:
        headline("Left out", "the language model had no room for it")
    for one in answer.left_out:
        _show_named(f"[{one.marker.strip('[]')}]", one, f"  {one.tokens:,} tokens")
    _close(answer, answer.sources)


def show_hits(result: models.SearchResult, *, scores: bool = False) -> None:
    """Print the hits of a search with their beginnings, and the connected notes."""
    _searched(result)
    if not result.hits:
        show("Nothing in the vault matches.")
    for number, hit in enumerate(result.hits):
        if number:
            show("")
        _show_place(hit, scores=scores)
        show((snippet(hit.text), "dim"), indent=4)
    _close(result, result.hits)


def snippet(text: str, most: int = SNIPPET) -> str:
    """The beginning of a text on one line, cut between words, without the heading it stands under."""
    return _cut(_HEADINGS.sub("", text), most)


def _cut(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[:most].rsplit(" ", 1)[0] + " …"


def _searched(reply: models.Reply) -> None:
    """Say what was searched for, where that is not what was typed."""
    if reply.searched_for:
        told = ", ".join(f"{new} (for {old})" for old, new in reply.searched_for.items())
        show_line((f"searched for {told}", "yellow"))


def _show_place(source: models.Source, *, scores: bool = False) -> None:
    told = [f"relevance {source.relevance:.2f}"] if scores and source.relevance is not None else []
    told += ["weak match"] if source.weak else []
    if source.second_look:
        told.append(f"found by way of {source.second_look.title}")
    _show_named(source.marker, source, yellow=f"  {', '.join(told)}" if told else "")


def _show_named(
    marker: str,
    place: models.Source | models.ConnectedNote | models.LeftOut,
    more: str = "",
    yellow: str = "",
    colour: str = "cyan",
) -> None:
    where = location(place.path, place.lines, place.heading) + more
    title = (title_of(place.title, place.heading), "bold")
    show_line((marker, f"bold {colour}"), " ", title, (f"  {where}", "dim"), (yellow, "yellow"))


def _close(reply: models.Reply, sources: Sequence[models.Source]) -> None:
    if reply.connected_notes:
        headline("Connected notes", "context, not evidence")
    for note in reply.connected_notes:
        _show_named(f"[{note.label}]", note, colour="magenta")
        show(note.reason, indent=5)
        show((snippet(note.text, GLIMPSE), "dim"), indent=5)
    if reply.explanation is not None:
        _show_explanation(reply, reply.explanation, sources)
    if reply.filters:
        show_line((f"filters: {' '.join(reply.filters)}", "dim"))


def _show_explanation(
    reply: models.Reply, told: models.Explanation, sources: Sequence[models.Source]
) -> None:
    """Print how a reply came about, as JSON: intent, votes of each signal, why notes are connected."""
    headline("How this was found")
    kept = {"score", "signals", "rerank", "expanded_from", "held_back"}
    each = {one.marker: one.model_dump(include=kept, exclude_none=True) for one in sources}
    each |= {note.label: note.evidence or {} for note in reply.connected_notes}
    facts = {**told.model_dump(exclude_none=True), **each, "timings_ms": reply.timings_ms}
    show(json.dumps(facts, ensure_ascii=False, indent=1))
