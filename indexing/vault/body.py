"""What the text of a note holds below its front matter, and the words around each link. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from notehop.indexing.vault.markdown_blocks import Layout, Piece, TextBlock, lay_out
from notehop.indexing.vault.markdown_inline import Found, FoundLink, scan
from notehop.indexing.vault.model import (
    Block,
    CommentLinks,
    Edit,
    Heading,
    Lines,
    Link,
    LinkKind,
    Tag,
)
from notehop.indexing.vault.plain import OffsetMap
from notehop.indexing.vault.sentences import sentence_spans

MAX_CHARACTERS = 500  # what a person reads at a glance, and a model embeds whole
ITEM_CHARACTERS = 240  # a list item up to this length is one thought; a longer one is prose
WRAP_COLUMN = 60  # text wrapped by an editor fills lines at least this far


def flatten(text: str, parts: Sequence[Sequence[Piece]], edits: Sequence[Edit]) -> OffsetMap:
    """Join the lines of a block into running text, edits applied.

    Parts are separated by `` | ``. Lines are joined by a blank where an editor wrapped them, and by
    an empty line where the writer broke them.

    :param edits: those that fall into the block, sorted and disjoint.
    """
    flat = OffsetMap()
    next_edit = skip_to = 0
    for number, part in enumerate(parts):
        previous: Piece | None = None
        for piece in part:
            if previous is not None:
                flat.add(previous[1], _joint(text, previous, piece))
            elif number:
                flat.add(piece[0], " | ")
            previous = piece
            at = max(piece[0], skip_to)
            while next_edit < len(edits) and edits[next_edit].start < piece[1]:
                edit = edits[next_edit]
                next_edit += 1
                flat.add(at, text[at : edit.start])
                flat.add(edit.start, edit.replacement)
                at = skip_to = edit.end
            if at < piece[1]:
                flat.add(at, text[at : piece[1]])
    return flat


def _joint(text: str, line: Piece, after: Piece) -> str:
    """Whether the next word would have fitted on the line: then the writer broke it."""
    space = text.find(" ", after[0], after[1])
    word = (space if space >= 0 else after[1]) - after[0]
    return "\n\n" if line[1] - line[0] + 1 + word <= WRAP_COLUMN else " "


_TASK = re.compile(r"\[.\][ \t]+")


def sentences_at(block: TextBlock, flat: OffsetMap, links: Sequence[Piece]) -> list[str]:
    """Return the words around each link of a block, at most 500 characters.

    :param links: spans in the note. A link whose words hold the end of a sentence joins both.
    """
    start = 0
    if block.item is not None and (task := _TASK.match(flat.text)):
        start = task.end()
    whole = block.kind in ("heading", "row") or (
        block.item is not None and len(flat.text) - start <= ITEM_CHARACTERS
    )
    spans = [(start, len(flat.text))] if whole else sentence_spans(flat.text)
    starts = [first for first, _ in spans]
    found = []
    for link in links:
        at, last = (max(flat.to_plain(offset), start) for offset in link)
        number = max(bisect_right(starts, at) - 1, 0)
        end = spans[number][1] if spans else 0
        while end < last:
            number += 1
            end = spans[number][1]
        first = spans[max(bisect_right(starts, at) - 1, 0)][0] if spans else 0
        found.append(_clip(flat.text, max(first, start), end, at))
    return found


def _clip(text: str, start: int, end: int, at: int) -> str:
    """``text[start:end]`` on one line; if it is too long, the words around ``at``."""
    if end - start <= MAX_CHARACTERS:
        return " ".join(text[start:end].split())
    room = MAX_CHARACTERS - 2  # for the marks that say where it was cut
    first = max(start, min(at - room // 2, end - room))
    last = min(first + room, end)
    if first > start and (blank := text.find(" ", first, at)) >= 0:
        first = blank + 1
    if last < end and (blank := text.rfind(" ", at, last)) > at:
        last = blank
    cut = " ".join(text[first:last].split())
    return f"{'…' if first > start else ''}{cut}{'…' if last < end else ''}"


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
        joined = OffsetMap()
        for number, (start, end) in enumerate(pieces, 1):
            joined.add(start, text[start:end] + "\n" * (number < len(pieces)))
        one = scan(joined.text, layout.references, comment_links=comment_links, comment=comment)
        if one.links or one.tags or one.edits:
            _place(read, one, joined)
    read.edits.sort(key=lambda edit: edit.start)
    if block.kind in ("paragraph", "heading") and block.parts[0]:
        _find_id(text, read)
    return read


def _place(read: _Read, found: Found, joined: OffsetMap) -> None:
    """Turn offsets of a part into offsets of the note."""

    def span(start: int, end: int) -> Piece:
        # The end belongs to the last character, not to the line that may follow it.
        first, last = joined.to_raw(start), joined.to_raw(end - 1)
        assert first is not None
        assert last is not None
        return first, last + 1

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
