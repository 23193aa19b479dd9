"""Makes the replies of the tools out of those of the vault, within a budget of tokens. Pure.

Every model counts otherwise, and none of their tokenizers is here: three bytes of UTF-8 a token is
on the safe side for prose (English has four to five, Cyrillic four, Chinese three).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, TypeVar

from pydantic import BaseModel

from notehop.app.mcp.replies import (
    AskReply,
    BrowseReply,
    CapturedLink,
    CaptureReply,
    Cited,
    Doubt,
    Found,
    Heading,
    Nearby,
    NoteReply,
    Passage,
    Place,
    SearchReply,
    Seen,
)
from notehop.app.models import (
    Answer,
    BrowsedNote,
    BrowseResult,
    Captured,
    ConnectedNote,
    NoteView,
    Reply,
    SearchResult,
    Source,
)

BYTES = 3
"""Bytes of a token."""

ItemT = TypeVar("ItemT", bound=BaseModel)


def tokens(text: str) -> int:
    """About how many tokens a text is, rather too many than too few."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES)


class Purse:
    """What is left of a budget."""

    def __init__(self, budget: int) -> None:
        self.left = budget

    def pay(self, text: str) -> None:
        """Spend what has to be said in any case."""
        self.left -= tokens(text)

    def buys(self, text: str) -> bool:
        """Spend what a text costs, if there is enough."""
        cost = tokens(text)
        if cost > self.left:
            return False
        self.left -= cost
        return True

    def first(self, items: Iterable[ItemT]) -> list[ItemT]:
        """The first of some items, up to the one that there is not enough for.

        None beyond it, though it may be smaller: what is best stays first.
        """
        found: list[ItemT] = []
        for item in items:
            if not self.buys(item.model_dump_json(exclude_defaults=True)):
                break
            found.append(item)
        return found

    def lines(self, lines: Sequence[str]) -> int:
        """How many of the lines there is enough for, and spend it."""
        for number, line in enumerate(lines):
            if not self.buys(f"{line}\n"):
                return number
        return len(lines)


NAMED = 5
"""Passages that are named though they did not fit."""

NAMED_LINKS = 30
"""Notes that are named of those that a note links to, or that link to it."""


def search_reply(result: SearchResult, budget: int) -> SearchReply:
    """Passages whole, best first, then the connected notes by name: their text is not asked for."""
    purse = Purse(budget)
    wanted = [
        Passage(
            **_place(hit),
            marker=hit.marker,
            score=round(hit.score, 4),
            relevance=hit.relevance,
            weak=hit.weak,
            text=hit.text,
        )
        for hit in result.hits
    ]
    hits = purse.first(wanted)
    near = purse.first(_near(note, text="") for note in result.connected_notes)
    return SearchReply(
        hits=hits, connected_notes=near, **_told(result, wanted[len(hits) :], result.hits)
    )


def ask_reply(answer: Answer, budget: int) -> AskReply:
    """The answer in any case; then what it cites, what connects, and what else was found."""
    purse = Purse(budget)
    purse.pay(answer.answer)
    doubts = purse.first(
        Doubt(sentence=claim.text, flag=claim.flag, lacks=claim.lacks)
        for claim in answer.claims
        if claim.flag or claim.lacks
    )
    wanted = [
        Cited(
            **_place(one),
            marker=one.marker,
            support=one.support,
            quote_lines=one.quote_lines,
            text=one.text,
            uri=one.quote_uri or one.uri,
        )
        for one in answer.citations
    ]
    citations = purse.first(wanted)
    cited = {one.marker for one in answer.citations}
    others = [one for one in answer.sources if one.marker not in cited]
    # Names first: what there is matters more than what the first of it says.
    also = purse.first(Found(**_place(one), marker=one.marker) for one in others)
    near = purse.first(_near(one, text="") for one in answer.connected_notes)
    for note, whole in zip(near, answer.connected_notes, strict=False):
        if purse.buys(whole.text):
            note.text = whole.text
    return AskReply(
        answer=answer.answer,
        mode=answer.mode,
        written_by=answer.model,
        doubts=doubts,
        not_read=[one.marker for one in answer.left_out],
        citations=citations,
        also_found=also,
        connected_notes=near,
        **_told(answer, [*wanted[len(citations) :], *_places(others[len(also) :])], answer.sources),
    )


def browse_reply(result: BrowseResult, budget: int) -> BrowseReply:
    """Notes with the sentences that link them, best first."""
    notes = Purse(budget).first(_seen(note) for note in result.notes)
    return BrowseReply(
        start=list(dict.fromkeys(seed.path for seed in result.seeds)),
        notes=notes,
        total=result.total,
        left_out=len(result.notes) - len(notes),
        warnings=result.warnings,
        pending=result.pending or None,
    )


def note_reply(
    view: NoteView, budget: int, *, from_line: int = 1, outline_only: bool = False
) -> NoteReply:
    """A note from a line on, cut between lines where it does not fit.

    :param from_line: counted in the file; a line before the part that is read is its first.
    """
    purse = Purse(budget)
    first, last = view.lines
    start = min(max(from_line, first), last)
    lines = view.text.split("\n")[start - first :]
    outline = [Heading(level=x.level, heading=x.heading, line=x.line) for x in view.outline]
    out = _unique(link.target for link in view.links if link.target != view.path)
    back = _unique(link.source for link in view.backlinks)
    reply = NoteReply(
        file=view.path,
        title=view.title,
        section=view.section,
        lines=(start, last),
        links_to_count=len(out),
        linked_from_count=len(back),
        tags=view.tags,
        aliases=view.aliases,
        # Whoever reads all of it needs none; whoever reads a part, or asks for the outline, does.
        summary=view.summary if outline_only or view.section is not None else None,
        summary_by=view.summary_by if outline_only or view.section is not None else None,
        uri=view.uri,
    )
    purse.pay(reply.model_dump_json(exclude_defaults=True))
    if not outline_only:
        count = purse.lines(lines)
        reply.text = "\n".join(lines[:count])
        if count == 0:
            # At least one line, or going on would never end.
            count = 1
            reply.text = lines[0][: max(1, purse.left)]
            reply.warnings.append(f"line {start} is too long for the budget and was cut")
            purse.left = 0
        reply.lines = (start, start + count - 1)
        reply.next_line = start + count if count < len(lines) else None
    # Whoever reads a whole note sees its headings.
    if outline_only or reply.next_line is not None or view.section is not None:
        reply.outline = purse.first(outline)
    if start == first:
        reply.links_to = [path for path in out[:NAMED_LINKS] if purse.buys(path)]
        reply.linked_from = [path for path in back[:NAMED_LINKS] if purse.buys(path)]
    return reply


def capture_reply(captured: Captured) -> CaptureReply:
    """The new note, and what to link it with."""
    return CaptureReply(
        file=captured.filename,
        message=captured.message,
        connections=[
            CapturedLink(
                file=one.path,
                title=one.title,
                link=one.link,
                snippet=one.snippet,
                score=one.score,
                written_by=one.written_by,
            )
            for one in captured.connections
        ],
    )


def _place(one: Source | ConnectedNote) -> dict[str, Any]:
    return {"file": one.path, "heading": one.heading, "lines": one.lines}


def _places(sources: Iterable[Source]) -> list[Place]:
    return [Place(**_place(one)) for one in sources]


def _near(note: ConnectedNote, *, text: str) -> Nearby:
    return Nearby(**_place(note), label=note.label, reason=note.reason, text=text)


def _told(reply: Reply, left_out: Sequence[Place], sources: Sequence[Source]) -> dict[str, Any]:
    named = [Place(**one.model_dump(include={"file", "heading", "lines"})) for one in left_out]
    warnings = list(reply.warnings)
    if not sources and not warnings:
        warnings.append("nothing in the vault matches; try other words, or fewer filters")
    return {
        "left_out": named[:NAMED],
        "left_out_count": len(named),
        "warnings": warnings,
        "filters": reply.filters,
        "searched_for": reply.searched_for,
        "pending": reply.pending or None,
    }


def _seen(note: BrowsedNote) -> Seen:
    return Seen(
        file=note.path,
        title=note.title,
        heading=note.heading,
        lines=note.lines,
        depth=note.depth,
        way=note.way,
        score=round(note.score, 6),
        sentences=_unique(link.sentence for link in note.links),
        text=note.text,
        written_by=note.written_by,
    )


def _unique(values: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(chain(value for value in values if value)))
