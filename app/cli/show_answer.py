"""Shows answers and hits to a person: evidence first, context apart from it, then how it came about."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from notehop.app import models
from notehop.app.cli.output import headline, show, show_line
from notehop.app.models.text import uncited
from notehop.indexing.shown import location
from notehop.indexing.vault.plain import flat

SUPPORT = {"high": "supported", "partial": "supported in part", "none": "not supported"}

QUOTED, SNIPPET = 200, 280
"""Characters of a quote and of a hit that are shown; `--json` has all of them. Words of a query are looked
for in the first of these, so that something follows them."""


def show_answer(answer: models.Answer, *, written: bool = False) -> None:
    """Print an answer, unless it was written already, what it cites and how far that supports it, and the
    connected notes.
    """
    _searched(answer)
    if not written:
        show(answer.answer)
    if answer.model is not None:
        show_line(f"— written by {answer.model}", style="dim")
    doubts = [claim for claim in answer.claims if claim.doubt]
    if doubts:
        headline("Check these sentences", "the notes do not bear them out")
    for claim in doubts:
        show(f"[?] {_cut(claim.text, QUOTED)}", style="yellow")
        show_line(claim.doubt, indent=4, style="dim")
    if answer.citations:
        headline("Citations")
    for citation in answer.citations:
        quoted = citation.quote_lines or citation.lines
        _show_source(citation.model_copy(update={"lines": quoted}))
        # Where an answer is made of quotes, they stand there already.
        if citation.support is not None and answer.mode != "extractive":
            said = f": “{_cut(citation.quote, QUOTED)}”" if citation.quote else ""
            show(SUPPORT[citation.support] + said, indent=4)
    if others := uncited(answer):
        headline("Also found" if answer.citations else "Found", "not cited")
    for source in others:
        _show_source(source)
    if answer.left_out:
        headline("Left out", "the language model had no room for it")
    for one in answer.left_out:
        _show_place(f"[{one.marker.strip('[]')}]", one, f"{one.tokens:,} tokens")
    _close(answer, answer.sources)


def show_hits(result: models.SearchResult, query: str = "", *, scores: bool = False) -> None:
    """Print the hits of a search, with what of each has most words of the query, and connected notes."""
    _searched(result)
    query = " ".join((query, *result.searched_for.values()))
    if not result.hits:
        show("Nothing in the vault matches.")
    for number, hit in enumerate(result.hits):
        if number:
            show("")
        _show_source(hit, scores=scores)
        show(_snippet(hit.text, query), indent=4, style="dim")
    _close(result, result.hits)


_BEGINS = re.compile(r"\A|\n|(?<=[.!?…])\s")  # a line, or a sentence of one


def _snippet(text: str, query: str) -> str:
    """What has most words of a query, from a line or sentence on; the first where several do."""
    from notehop.indexing.tokens.tokenizer import Tokenizer
    from notehop.indexing.tokens.words import detect_language

    tokens = Tokenizer(detect_language([query, text]))
    wanted = frozenset(tokens.query(query))
    shown = (_cut(flat(text[one.end() :]), SNIPPET) for one in _BEGINS.finditer(text))
    return max(shown, key=lambda one: len(wanted.intersection(tokens(one[:QUOTED]))))


def _cut(text: str, most: int) -> str:
    """The beginning of a text on one line, cut between words."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[:most].rsplit(" ", 1)[0] + " …"


def _searched(reply: models.Reply) -> None:
    """Say what was searched for, where that is not what was typed."""
    if reply.searched_for:
        told = ", ".join(f"{new} (for {old})" for old, new in reply.searched_for.items())
        show_line(f"searched for {told}", style="yellow")


def _show_source(source: models.Source, *, scores: bool = False) -> None:
    told = [f"relevance {source.relevance:.2f}"] if scores and source.relevance is not None else []
    told += ["weak match"] if source.weak else []
    if source.second_look:
        told.append(f"found by way of {source.second_look.title}")
    _show_place(source.marker, source, ", ".join(told))


def _show_place(
    marker: str, place: models.Source | models.ConnectedNote | models.LeftOut, more: str = ""
) -> None:
    where = location(place.path, place.lines, place.heading)
    title = " > ".join(filter(None, (place.title, place.heading)))
    show_line(f"{marker} {title}  {where}{f'  {more}' if more else ''}", style="bold")


def _close(reply: models.Reply, sources: Sequence[models.Source]) -> None:
    if reply.connected_notes:
        headline("Connected notes", "context, not evidence")
    for note in reply.connected_notes:
        _show_place(f"[{note.label}]", note)
        show(_cut(note.reason, SNIPPET), indent=5, style="dim")
    if (told := reply.explanation) is not None:
        # As JSON: intent, votes of each signal, why notes are connected.
        headline("How this was found")
        kept = {"score", "signals", "rerank", "expanded_from", "held_back"}
        each = {one.marker: one.model_dump(include=kept, exclude_none=True) for one in sources}
        each |= {note.label: note.evidence or {} for note in reply.connected_notes}
        facts = {**told.model_dump(exclude_none=True), **each, "timings_ms": reply.timings_ms}
        show(json.dumps(facts, ensure_ascii=False, indent=1))
    if reply.filters:
        show_line(f"filters: {' '.join(reply.filters)}", style="dim")
