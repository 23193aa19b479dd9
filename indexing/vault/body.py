"""What the text of a note holds below its front matter. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from notehop.indexing.vault.block_rules import lay_out
from notehop.indexing.vault.block_state import Layout, Piece, TextBlock
from notehop.indexing.vault.context import flatten, sentences_at
from notehop.indexing.vault.inline_grammar import scan
from notehop.indexing.vault.inline_state import Found, FoundLink
from notehop.indexing.vault.lines import Lines
from notehop.indexing.vault.model import Block, CommentLinks, Edit, Heading, Link, LinkKind, Tag


@dataclass(slots=True)
class Body:
    """Everything found, in the order of the text. ``too_deep`` is a line, None if all was read."""

    headings: list[Heading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)
    edits: tuple[Edit, ...] = ()
    too_deep: int | None = None


def read_body(text: str, lines: Lines, first_line: int, *, comment_links: CommentLinks) -> Body:
    """Read a note from ``first_line`` (counted from 1) to its end."""
    layout = lay_out(text, first_line - 1)
    body = Body()
    if layout.too_deep is not None:
        body.too_deep = lines.at(layout.too_deep)
    found = [_read(text, block, layout, comment_links) for block in layout.texts]
    hidden = [Edit(start, end, "") for start, end in layout.hidden]
    hidden += _html_comments(text, layout.html)
    hidden += [Edit(named.start, named.end, "") for named in layout.ids]
    hidden += [_below_title(text, *between) for between in layout.titles]
    body.edits = _disjoint([*hidden, *(edit for one in found for edit in one.edits)])
    for one in found:
        body.tags += [Tag(text[s + 1 : e], lines.at(s), s, e) for s, e in one.tags]
        body.links += _links(text, lines, one)
        if one.id is not None:
            body.blocks.append(_block(lines, one.id, one.start, one.end))
    body.blocks += [_block(lines, named.id, *named.target) for named in layout.ids]
    body.blocks.sort(key=lambda block: (block.start, block.end, block.id))
    of_block = {id(one.block): one for one in found}
    for heading in layout.headings:
        pieces = heading.block.parts[0]
        words = flatten(text, [pieces], of_block[id(heading.block)].edits).text
        body.headings.append(
            Heading(
                text="\n".join(text[start:end] for start, end in pieces).strip(),
                level=heading.level,
                line=lines.at(heading.start),
                start=heading.start,
                end=heading.end,
                plain=" ".join(words.split()),
            )
        )
    return body


@dataclass(slots=True)
class _Read:
    """One block of text and what it holds, by offsets of the note; ``edits`` are sorted."""

    block: TextBlock
    links: list[tuple[int, int, FoundLink]] = field(default_factory=list)
    tags: list[Piece] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    id: str | None = None
    start: int = 0
    end: int = 0


def _read(text: str, block: TextBlock, layout: Layout, comment_links: CommentLinks) -> _Read:
    read = _Read(block)
    comment = block.kind == "comment"
    if comment and comment_links != "all":
        return read
    for pieces in block.parts:
        if len(pieces) == 1:
            ((start, end),) = pieces
            content, starts = text[start:end], [0]
        else:
            content, starts = _join(text, pieces)
        one = scan(content, layout.references, comment_links=comment_links, comment=comment)
        if one.links or one.tags or one.edits:
            _place(read, one, pieces, starts)
    read.edits.sort(key=lambda edit: edit.start)
    if block.kind in ("paragraph", "heading") and block.parts[0]:
        _find_id(text, read)
    return read


def _join(text: str, pieces: list[Piece]) -> tuple[str, list[int]]:
    """The lines of a part as one text, and where in it each begins."""
    starts = []
    length = 0
    for start, end in pieces:
        starts.append(length)
        length += end - start + 1
    return "\n".join(text[start:end] for start, end in pieces), starts


def _place(read: _Read, found: Found, pieces: list[Piece], starts: list[int]) -> None:
    """Turn offsets of a part into offsets of the note."""

    def at(offset: int) -> int:
        number = bisect_right(starts, offset) - 1
        return pieces[number][0] + offset - starts[number]

    def span(start: int, end: int) -> Piece:
        # The end belongs to the last character, not to the line that may follow it.
        return at(start), at(end - 1) + 1

    read.links += [(*span(link.start, link.end), link) for link in found.links]
    read.tags += [span(*tag) for tag in found.tags]
    read.edits += [Edit(*span(start, end), words) for start, end, words in found.edits]


_ID = re.compile(r"[A-Za-z0-9-]+")


def _find_id(text: str, read: _Read) -> None:
    """Find ``^id`` at the end of a block's last line, after a blank."""
    pieces = read.block.parts[0]
    start, end = pieces[-1]
    mark = text.rfind("^", start, end)
    if mark <= start or not text[mark - 1].isspace() or not _ID.fullmatch(text, mark + 1, end):
        return
    read.id = text[mark + 1 : end]
    read.start = pieces[0][0] if read.block.item is None else read.block.item
    read.end = end
    words_end = start + len(text[start:mark].rstrip())
    read.edits.append(Edit(words_end, end, ""))


def _block(lines: Lines, name: str, start: int, end: int) -> Block:
    return Block(name, lines.at(start), lines.at(max(end - 1, start)), start, end)


def _links(text: str, lines: Lines, read: _Read) -> Iterable[Link]:
    if not read.links:
        return
    if read.block.kind == "comment":
        sentences = [""] * len(read.links)
    else:
        flat = flatten(text, read.block.parts, read.edits)
        sentences = sentences_at(read.block, flat, [(start, end) for start, end, _ in read.links])
    for (start, end, found), sentence in zip(read.links, sentences, strict=True):
        yield Link(
            kind=LinkKind.EMBED if found.embed else LinkKind.LINK,
            syntax=found.syntax,
            raw=text[start:end],
            target=found.text.target,
            fragment=found.text.fragment,
            display=found.text.display,
            line=lines.at(start),
            start=start,
            end=end,
            sentence="" if found.comment else sentence,
        )


def _below_title(text: str, start: int, end: int) -> Edit:
    """Part the title of a callout from its text: without its type it would be their first words."""
    marks = text[start + 1 : end]
    return Edit(start, start + 1, f"\n{marks.rstrip()}\n")


def _html_comments(text: str, blocks: Iterable[Piece]) -> Iterable[Edit]:
    for start, end in blocks:
        at = text.find("<!--", start, end)
        while at >= 0:
            close = text.find("-->", at + 2, end)
            after = close + 3 if close >= 0 else end
            yield Edit(at, after, "")
            at = text.find("<!--", after, end)


def _disjoint(edits: list[Edit]) -> tuple[Edit, ...]:
    """Sort edits; of two that overlap, the outer one, which begins first, stands."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if edit.start < edit.end and (not kept or edit.start >= kept[-1].end):
            kept.append(edit)
    return tuple(kept)
