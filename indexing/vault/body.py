"""What the text of a note holds below its front matter, and the words around each link. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest

from notehop.indexing.vault.markdown_blocks import TEMPLATE_LINE, Piece, PlacedState, TextBlock, is_wrapped
from notehop.indexing.vault.markdown_inline import Inline
from notehop.indexing.vault.model import Block, CommentLinks, Edit, Heading, Lines, Link, PropertyValue
from notehop.indexing.vault.plain import LinkText, OffsetMap, clipped, sentence_spans, words
from notehop.indexing.vault.properties import TAG_CHARACTERS, inline_fields, is_tag

MAX_CHARACTERS = 500  # what a person reads at a glance, and a model embeds whole
ITEM_CHARACTERS = 240  # a list item up to this length is one thought; a longer one is prose
_TASK = re.compile(r"\[.\][ \t]+")
_ID = re.compile(r"[A-Za-z0-9-]+")
_TAG_LINE = re.compile(rf"^[ \t]*(?:#{TAG_CHARACTERS}+(?:[ \t]+|$))+$", re.MULTILINE)
_FACT = re.compile(r"(?P<key>[^\W\d_][^\d:]{0,30}):[ \t]+(?P<value>\S.{0,80})")
_WORD = re.compile(r"\w+")
_PARAGRAPH = re.compile(r"^[ \t]*</?p(?:[ \t][^<>\n]*)?>[ \t]*$", re.MULTILINE | re.IGNORECASE)


@dataclass(slots=True)
class Body:
    """What a note holds below its front matter, in the order of its text; tags without ``#``; ``facts``
    are headings that are none (:func:`_fact`), ``fields`` the (key, value) of inline fields."""

    headings: list[Heading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    facts: list[PropertyValue] = field(default_factory=list)
    fields: list[tuple[str, str]] = field(default_factory=list)
    edits: tuple[Edit, ...] = ()


def read_body(
    text: str, lines: Lines, parts: Iterable[tuple[int, int]], *, comment_links: CommentLinks
) -> Body:
    """Read lines of a note; ``parts`` are (first, last) line, from 1, of texts of their own."""
    state = PlacedState(text)
    body = Body()
    edits: list[Edit] = []
    for first, last in parts:
        state.read(first - 1, last)
        body.blocks += state.blocks
        edits += [Edit(start, end, "") for start, end in state.hidden]
        for block in state.html:
            edits += _comments(text, *block)
            edits += [Edit(*found.span(), "") for found in _PARAGRAPH.finditer(text, *block)]
        for end, start in state.seams:
            edits.append(Edit(end, end + 1, f"\n{text[end + 1 : start].rstrip()}\n"))
        for found in state.texts:
            if found.kind != "comment" or comment_links == "all":
                inline = Inline(text, lines, state.references, comment_links)
                edits += _read_block(found, inline, body)
    for heading, following in zip_longest(body.headings, body.headings[1:]):
        if one := _fact(heading, following, text, body.links):
            body.facts.append(one)
            edits.append(Edit(heading.start, heading.end, ""))
    facts = {one.line for one in body.facts}
    body.headings = [replace(one, fact=one.line in facts) for one in body.headings]
    body.blocks.sort(key=lambda block: (block.first_line, block.last_line, block.id))
    body.edits = tuple(_outermost(edits))
    return body


def _outermost(edits: Iterable[Edit]) -> list[Edit]:
    """Edits in order; of two that overlap, the outer one, which begins first, stands."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if edit.start < edit.end and (not kept or edit.start >= kept[-1].end):
            kept.append(edit)
    return kept


def _comments(text: str, start: int, end: int) -> Iterator[Edit]:
    """The comments that begin in a block of HTML: an empty line within ends the block, and no comment; within
    a paragraph one takes its lines with it."""
    at = start
    while (begin := text.find("<!--", at, end)) >= 0:
        shut = text.find("-->", begin + 2)
        at = shut + 3 if shut >= 0 else end
        at += start < begin and text[begin - 1] + text[at : at + 1] == "\n\n"
        yield Edit(begin, at, "")


def _fact(
    heading: Heading, following: Heading | None, text: str, links: Iterable[Link]
) -> PropertyValue | None:
    """What a heading says that is no heading but a property: `#### Date: 10/9/2025`.

    It heads nothing, neither text nor a heading of a lower rank; before its colon stand at most three
    words without a digit, behind it stands a link or something with a digit in it, and at most two
    words beside. `Part 2: The return`, `FAQ: setup` and `Day: 12 May` above a text are headings.
    """
    found = _FACT.fullmatch(heading.plain)
    if found is None or (following is not None and following.level > heading.level):
        return None
    inside = [link for link in links if heading.start <= link.start < heading.end]
    shown = found["value"]
    for link in inside:
        shown = shown.replace(words(LinkText(link.target, link.fragment, link.display)), "")
    said = _WORD.findall(shown)
    plain = [word for word in said if not any(map(str.isdigit, word))]
    is_fact = bool(inside or len(plain) < len(said)) and len(plain) <= 2
    below = text[heading.end : len(text) if following is None else following.start]
    if not is_fact or len(found["key"].split()) > 3 or below.strip():
        return None
    return PropertyValue(found["key"], found["value"], heading.line, heading.line)


def _read_block(block: TextBlock, inline: Inline, body: Body) -> list[Edit]:
    """Add what a block of text holds to the rest; return its edits, sorted."""
    text, lines = inline.note, inline.lines
    for pieces in block.parts:
        joined = OffsetMap()
        for number, (start, end) in enumerate(pieces, 1):
            joined.add(start, text[start:end] + "\n" * (number < len(pieces)))
        inline.scan(joined, comment=block.kind == "comment")
        for begin, end in _no_text(block, joined.text):
            first, last = joined.to_raw(begin), joined.to_raw(end - 1)
            if first is not None and last is not None:
                inline.edits.append(Edit(first, last + 1, ""))
    edits = _outermost(inline.edits)
    if block.kind in ("paragraph", "heading"):
        # The id of the block, at the end of its last line, after a blank.
        start, end = block.parts[0][-1]
        mark = text.rfind("^", start, end)
        if mark > start and text[mark - 1].isspace() and _ID.fullmatch(text, mark + 1, end):
            start = block.parts[0][0][0] if block.item is None else block.item
            body.blocks.append(Block(text[mark + 1 : end], lines.at(start), lines.at(end - 1)))
            edits.append(Edit(start + len(text[start:mark].rstrip()), end, ""))
    body.tags += inline.tags
    for start, end in chain(*block.parts) if block.kind == "paragraph" else ():
        body.fields += ((key, value) for key, value, _ in inline_fields(text[start:end]))
    if inline.links:
        links = sorted(inline.links, key=lambda one: one[0].start)
        spans = [(link.start, link.end) for link, _ in links]
        sentences = _sentences_at(block, _flatten(text, block.parts, edits), spans)
        body.links += [
            link if hidden else replace(link, sentence=sentence)
            for (link, hidden), sentence in zip(links, sentences, strict=True)
        ]
    if block.level:
        written = "\n".join(text[start:end] for start, end in block.parts[0]).strip()
        plain = " ".join(_flatten(text, block.parts, edits).text.split())
        at = lines.at(block.span[0])
        body.headings.append(Heading(written, block.level, at, *block.span, plain))
    return edits


def _no_text(block: TextBlock, text: str) -> Iterator[Piece]:
    """The lines of a block that hold nothing but code of a template, or tags, which are known as such."""
    if block.kind in ("paragraph", "heading"):
        yield from (found.span() for found in TEMPLATE_LINE.finditer(text))
    if block.kind == "paragraph":
        yield from (
            found.span()
            for found in _TAG_LINE.finditer(text)
            if (found.start() or block.item is None) and all(is_tag(word[1:]) for word in found[0].split())
        )


def _flatten(text: str, parts: Sequence[Sequence[Piece]], edits: Sequence[Edit]) -> OffsetMap:
    """The running text of a block, edits applied, `` | `` between parts; lines that an editor wrapped, and
    not the writer, since the next word would not have fitted, are joined."""
    flat = OffsetMap()
    for number, part in enumerate(parts):
        for at, (start, end) in enumerate(part):
            if at:
                before = part[at - 1]
                flat.add(before[1], " " if is_wrapped(text, before, (start, end)) else "\n\n")
            elif number:
                flat.add(start, " | ")
            flat.add_edited(text, start, end, edits)
    return flat


def _sentences_at(block: TextBlock, flat: OffsetMap, links: Sequence[Piece]) -> list[str]:
    """The words around each link of a block; one whose words hold the end of a sentence joins both."""
    start, length = 0, len(flat.text)
    if block.item is not None and (task := _TASK.match(flat.text)):
        start = task.end()
    is_item = block.item is not None and length - start <= ITEM_CHARACTERS
    whole = is_item or block.kind in ("heading", "row")
    spans = [(start, length)] if whole else sentence_spans(flat.text)
    starts, ends = [first for first, _ in spans] or [0], [end for _, end in spans] or [0]
    found = []
    for link in links:
        at, last = (max(flat.to_plain(offset), start) for offset in link)
        first = max(bisect_right(starts, at) - 1, 0)
        end = ends[max(first, bisect_left(ends, last))]
        found.append(clipped(flat.text, max(starts[first], start), end, at, MAX_CHARACTERS))
    return found
