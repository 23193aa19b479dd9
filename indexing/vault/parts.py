"""Notes made of files that are no Markdown: parts under headings, laid out as a text. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from notehop.indexing.vault.body import read_body
from notehop.indexing.vault.model import CommentLinks, Heading, Lines, Note, each_once

TOP_RANKS = 2
"""Ranks that the parts' own headings take; those that a part's text has stand below."""


class Unreadable(ValueError):
    """Why a file of a known kind gives no note; the message follows the file's path."""


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


PartsRead = tuple[list[Part], list[str]]
"""The parts of a file, and warnings about it, which follow its path."""


def assemble(
    path: str,
    data: bytes,
    parts: Iterable[Part],
    warnings: Iterable[str],
    *,
    comment_links: CommentLinks,
) -> Note:
    """Make a note whose sections are the parts, each read by itself.

    An open code block or comment of one part hides nothing of the next.

    :param data: the file, for the content hash.
    """
    texts: list[str] = []
    headings: list[Heading] = []
    sections: list[int] = []
    markdown: list[tuple[int, int]] = []
    at, line = 0, 1
    for part in parts:
        sections.append(at)
        for level, words in part.headings:
            plain = " ".join(words.split())
            text = f"{'#' * level} {plain}\n\n"
            headings.append(Heading(plain, level, line, at, at + len(text) - 2, plain))
            texts.append(text)
            at, line = at + len(text), line + 2
        text = part.text.strip("\n") + "\n\n"
        below = line + text.count("\n")
        if part.markdown:
            markdown.append((line, below - 2))  # without the empty line behind it
        texts.append(text)
        at, line = at + len(text), below
    text = "".join(texts)
    body = read_body(text, Lines(text), markdown, comment_links=comment_links)
    headings += [replace(one, level=min(one.level + TOP_RANKS, 6)) for one in body.headings]
    name = path.rpartition("/")[2]
    return Note(
        path=path,
        name=name,
        title=name,
        text=text,
        body_start=0,
        content_hash=hashlib.sha256(data).hexdigest(),
        tags=each_once(tag.strip("/") for tag in body.tags),
        headings=tuple(sorted(headings, key=lambda heading: heading.start)),
        sections=tuple(sections),
        sections_apart=True,
        blocks=tuple(body.blocks),
        links=tuple(body.links),
        edits=body.edits,
        warnings=tuple(f"{path}: {warning}" for warning in warnings),
    )
