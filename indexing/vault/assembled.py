"""Notes made of files that are no Markdown: parts under headings, laid out as a text. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from notehop.indexing.vault.body import Body, read_body
from notehop.indexing.vault.model import (
    Block,
    CommentLinks,
    Edit,
    Heading,
    Lines,
    Link,
    Note,
    Section,
    Tag,
)

TOP_RANKS = 2
"""Ranks that the parts' own headings take; those that a part's text has stand below."""


class Unreadable(ValueError):
    """Why a file of a known kind gives no note; the message follows the file's path."""


Placed = TypeVar("Placed", Heading, Block, Link, Tag, Edit)


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a file that is found and cited by itself: a card, a view, a page.

    ``headings`` are those that begin with it, (rank, text), rank 1 or 2, outermost first.
    ``markdown`` tells whether the text is the owner's Markdown, whose links and tags count; of any
    other text nothing does.
    """

    headings: tuple[tuple[int, str], ...]
    text: str
    markdown: bool = False


def assemble(
    path: str,
    data: bytes,
    parts: Iterable[Part],
    *,
    comment_links: CommentLinks = "inline",
    warnings: Iterable[str] = (),
) -> Note:
    """Make a note whose sections are the parts, each read by itself.

    An open code block or comment of one part hides nothing of the next.

    :param data: the file, for the content hash.
    """
    texts: list[str] = []
    whole = Body()
    edits: list[Edit] = []
    sections: list[Section] = []
    at, line, above = 0, 1, ""
    for part in parts:
        start, first_line = at, line
        shown: tuple[str, ...] = ()
        for level, words in part.headings:
            plain = " ".join(words.split())
            written = f"{'#' * level} {plain}\n\n"
            heading = Heading(plain, level, line, at, at + len(written) - 2, plain)
            whole.headings.append(heading)
            texts.append(written)
            at, line = at + len(written), line + 2
            if level == 1:
                above = plain
            shown = (plain,) if level == 1 or not above else (above, plain)
        text = part.text.strip("\n") + "\n"
        if part.markdown:
            body = _moved(
                read_body(text, Lines(text), 1, comment_links=comment_links), at, line - 1
            )
            whole.headings += body.headings
            whole.blocks += body.blocks
            whole.links += body.links
            whole.tags += body.tags
            edits += body.edits
        texts.append(f"{text}\n")
        at, line = at + len(text) + 1, line + text.count("\n") + 1
        level = part.headings[-1][0] if part.headings else 0
        sections.append(Section(shown, level, first_line, line - 1, start, at))
    name = path.rpartition("/")[2]
    tags = {tag.name.strip("/").casefold(): tag.name.strip("/") for tag in reversed(whole.tags)}
    return Note(
        path=path,
        name=name,
        title=name,
        text="".join(texts),
        body_start=0,
        content_hash=hashlib.sha256(data).hexdigest(),
        tags=tuple(reversed(tags.values())),
        headings=tuple(whole.headings),
        sections=tuple(sections),
        sections_apart=True,
        blocks=tuple(whole.blocks),
        links=tuple(whole.links),
        inline_tags=tuple(whole.tags),
        edits=tuple(edits),
        warnings=tuple(warnings),
    )


def _moved(body: Body, offset: int, lines: int) -> Body:
    """What a part holds, by the offsets and lines of the whole."""

    def move(one: Placed) -> Placed:
        return replace(one, start=one.start + offset, end=one.end + offset)

    return Body(
        headings=[
            replace(move(one), line=one.line + lines, level=min(one.level + TOP_RANKS, 6))
            for one in body.headings
        ],
        blocks=[
            replace(move(one), first_line=one.first_line + lines, last_line=one.last_line + lines)
            for one in body.blocks
        ],
        links=[replace(move(one), line=one.line + lines) for one in body.links],
        tags=[replace(move(one), line=one.line + lines) for one in body.tags],
        edits=tuple(map(move, body.edits)),
    )
