"""What the text of a note holds below its front matter, and the words around each link. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from notehop.indexing.vault.markdown_blocks import Piece, PlacedState, TextBlock
from notehop.indexing.vault.markdown_inline import Inline
from notehop.indexing.vault.model import (
    Block,
    CommentLinks,
    Edit,
    Heading,
    Lines,
    Link,
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
    for number, part in enumerate(parts):
        previous: Piece | None = None
        for piece in part:
            if previous is not None:
                flat.add(previous[1], _joint(text, previous, piece))
            elif number:
                flat.add(piece[0], " | ")
            flat.add_edited(text, *piece, edits)
            previous = piece
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
    starts, ends = [first for first, _ in spans] or [0], [end for _, end in spans] or [0]
    found = []
    for link in links:
        at, last = (max(flat.to_plain(offset), start) for offset in link)
        first = max(bisect_right(starts, at) - 1, 0)
        end = ends[max(first, bisect_left(ends, last))]
        found.append(_clip(flat.text, max(starts[first], start), end, at))
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
    """What a note holds below its front matter, in the order of its text; tags without ``#``."""

    headings: list[Heading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    edits: tuple[Edit, ...] = ()


def read_body(
    text: str, lines: Lines, parts: Iterable[tuple[int, int]], *, comment_links: CommentLinks
) -> Body:
    """Read lines of a note.

    :param parts: (first, last) line of each stretch, from 1, that is read as a text of its own.
    """
    state = PlacedState(text)
    body = Body()
    edits: list[Edit] = []
    for first, last in parts:
        state.read(first - 1, last)
        body.blocks += state.blocks
        edits += [Edit(start, end, "") for start, end in state.hidden]
        comments = (found for block in state.html for found in _COMMENT.finditer(text, *block))
        edits += [Edit(*found.span(), "") for found in comments]
        # The title of a callout is parted from its text: without its type it would be their first words.
        edits += [
            Edit(end, end + 1, f"\n{text[end + 1 : start].rstrip()}\n")
            for end, start in state.titles
        ]
        for block in state.texts:
            inline = Inline(text, lines, state.references, comment_links)
            edits += _read_block(block, inline, body)
    body.blocks.sort(key=lambda block: (block.first_line, block.last_line, block.id))
    body.edits = _disjoint(edits)
    return body


def _read_block(block: TextBlock, inline: Inline, body: Body) -> list[Edit]:
    """Add what a block of text holds to the rest; return its edits, sorted."""
    text, lines = inline.note, inline.lines
    comment = block.kind == "comment"
    if comment and inline.comment_links != "all":
        return []
    for pieces in block.parts:
        joined = OffsetMap()
        for number, (start, end) in enumerate(pieces, 1):
            joined.add(start, text[start:end] + "\n" * (number < len(pieces)))
        inline.scan(joined, comment=comment)
    edits = sorted(inline.edits, key=lambda edit: edit.start)
    if block.kind in ("paragraph", "heading") and (found := _id_at_end(text, *block.parts[0][-1])):
        start, end = block.parts[0][0][0] if block.item is None else block.item, found.end()
        body.blocks.append(Block(found[0], lines.at(start), lines.at(end - 1)))
        words_end = start + len(text[start : found.start() - 1].rstrip())
        edits.append(Edit(words_end, end, ""))
    body.tags += inline.tags
    if inline.links:
        found_links = sorted(inline.links, key=lambda one: one[0].start)
        spans = [(link.start, link.end) for link, _ in found_links]
        sentences = sentences_at(block, flatten(text, block.parts, edits), spans)
        body.links += [
            link if hidden else replace(link, sentence=sentence)
            for (link, hidden), sentence in zip(found_links, sentences, strict=True)
        ]
    if block.level:
        pieces = block.parts[0]
        body.headings.append(
            Heading(
                text="\n".join(text[start:end] for start, end in pieces).strip(),
                level=block.level,
                line=lines.at(block.span[0]),
                start=block.span[0],
                end=block.span[1],
                plain=" ".join(flatten(text, [pieces], edits).text.split()),
            )
        )
    return edits


_ID = re.compile(r"[A-Za-z0-9-]+")
_COMMENT = re.compile(r"<!(?=--)(?:.*?-->|.*)", re.DOTALL)


def _id_at_end(text: str, start: int, end: int) -> re.Match[str] | None:
    """The id of ``^id`` at the end of a block's last line, after a blank."""
    mark = text.rfind("^", start, end)
    return _ID.fullmatch(text, mark + 1, end) if mark > start and text[mark - 1].isspace() else None


def _disjoint(edits: list[Edit]) -> tuple[Edit, ...]:
    """Sort edits; of two that overlap, the outer one, which begins first, stands."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if edit.start < edit.end and (not kept or edit.start >= kept[-1].end):
            kept.append(edit)
    return tuple(kept)
