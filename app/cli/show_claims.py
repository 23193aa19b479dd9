"""Shows what of an answer its sources support, and what they do not.

Touches: terminal.
"""

from __future__ import annotations

from rich.text import Text

from notehop.app.cli.output import headline, show, styled
from notehop.app.models import Answer, Citation, Claim, LeftOut
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
    lines = f"line {first}" if first == last else f"lines {first}-{last}"
    show(styled((word, style), f", {lines}: “{_short(citation.quote)}”"), indent=4)


def show_left_out(left_out: list[LeftOut]) -> None:
    """Print what the language model was not shown."""
    if not left_out:
        return
    headline("Left out", "the language model had no room for it")
    for one in left_out:
        marker = one.marker if one.marker.startswith("[") else f"[{one.marker}]"
        title = on_one_line(" > ".join(part for part in (one.title, one.heading) if part))
        first, last = one.lines
        part = "all of it" if one.part == "whole" else "its end"
        where = f"  {on_one_line(one.path)}:{first}-{last}  {part}, {one.tokens:,} tokens"
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
