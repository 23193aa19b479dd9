"""Cuts the text of a source into what can be quoted: sentences, list items, table rows, code. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from notehop.app.answer.citations import MappedText, Range
from notehop.app.answer.quotes.blocks import (
    ATTRIBUTION_DASHES,
    CODE_GOES_ON,
    EMPTY_TEXT,
    STRIKETHROUGH,
    MarkdownBlock,
    Passage,
    split_into_blocks,
)
from notehop.indexing.vault.plain import LABELLED, answers, line_ends
from notehop.indexing.vault.properties import BETWEEN

if TYPE_CHECKING:
    pass

SentenceSpans = Callable[[str], Sequence[Range]]
"""Text -> half-open character ranges of its sentences, in order."""

MAX_WHOLE_ITEM_CHARS = 300
"""A list item up to this many characters is quoted whole: cut, it loses what it was listed for."""

MAX_FRAGMENT_WORDS = 2  # words of a sentence that says nothing by itself: "No.", "It depends."
CACHED_SOURCES = 512  # sources whose passages are remembered: questions come back to the same notes

_ATTRIBUTION = re.compile(r"(?m)^(?![—–]).*\n+(?=([—–] ?(?!\d)\S.{,160})$(?!\n+[—–]))")
"""A line above one that says whose words it is, which is of no list or dialogue."""

_LABEL = re.compile(r"(\*\*|__)[^*_]+\1:?")
_ONE_LETTER = re.compile(r".\d*:")
_WORD = re.compile(r"\w")
_NUMBER = re.compile(r"\d")
_TOKEN = re.compile(r"\w+")
BARE_ADDRESS = re.compile(r"\S*(?:://|[^\W\d_][./][^\W\d_])\S*")
"""An address, or the name of a file or module, that stands alone: no answer, and no sentence."""

_EMBEDDED_FILE = re.compile(
    r"(?i)(?:(?![.!?:]\s).)*\.(?:avif|bmp|gif|jpe?g|m4a|mkv|mov|mp[34]|ogg|pdf|png|svg|wav|webm|webp"
    r"|(?:base|canvas)(?: > .*)?)"
)
"""All that is left of an embedded picture, recording or view: its name says nothing that answers, without a
label ("File names: SITE_year.jpg")."""

_PROPERTY = re.compile(r"(?P<key>[^\s:][^:\n]{0,60}):[ \n](?P<value>.+?)(?: ·(?:\n+|$)|$)", re.DOTALL)
"""A property, as :mod:`notehop.indexing.vault.properties` writes it among others."""
_ONE_PROPERTY = re.compile(r"\s*[\w-]{1,40}:(?: [^\n]+|(?:\n[^\n]+,)+\n[^\n]+)\s*")


@lru_cache(maxsize=CACHED_SOURCES)
def split_into_passages(text: str, sentences: SentenceSpans, table_head: str = "") -> tuple[Passage, ...]:
    """Return the passages of ``text`` in order; HTML and bare rules are none, and headings only
    where they may spell out an abbreviation.

    A sentence that ends with a colon before a list or code says nothing alone: it is the lead of
    what follows. The title of a callout is the
    lead of what it says below, and a passage if it has a number in it. The properties of a note are one.

    :param table_head: that of the table whose rows the text begins with, if it stands before it.
    """
    if table_head:
        begins = len(table_head) + 1
        return tuple(
            replace(
                one,
                ranges=_shift_ranges(one.ranges, begins),
                lead_ranges=_shift_ranges(one.lead_ranges, begins),
            )
            for one in split_into_passages(f"{table_head}\n{text}", sentences)
        )
    if (f"{BETWEEN}\n" in text or _ONE_PROPERTY.fullmatch(text)) and (listed := split_properties(text)):
        words = f"{BETWEEN} ".join(one.text for one in listed)
        places = tuple(place for one in listed for place in one.ranges)
        return (Passage(words, 0, kind="property", ranges=places),)
    passages: list[Passage] = []
    leads: dict[int, MappedText] = {}
    above: tuple[str, ...] = ()
    for number, block in enumerate(_split_entries(_join_attributions([*split_into_blocks(text)]))):
        if block.template.headings != above:
            above, leads = block.template.headings, {}
        lead = leads.get(block.depth - 1 if block.kind == "item" else block.depth, EMPTY_TEXT)
        lead = lead if lead.text else block.title
        if block.kind == "code":
            code = _make_passage(block.body, number, block, lead)
            is_introduced = lead.text or block.follows_heading
            if CODE_GOES_ON in code.markdown:
                is_introduced = lead.text and code.is_command
            passages.append(replace(code, is_fragment=not is_introduced))
            leads.pop(block.depth, None)
            continue
        if block.kind in ("heading", "row"):
            passages.append(_make_passage(block.body, number, block, block.head))
            continue
        pieces = _split_block(block, sentences)
        last = pieces[-1] if pieces else EMPTY_TEXT
        opens = last.text.endswith(":")
        is_address = len(pieces) == 1 and not lead.text and BARE_ADDRESS.fullmatch(last.text)
        if opens and block.introduces:
            pieces.pop()
        breaks = [*line_ends(block.body.text)]
        introduction = lead if block.kind == "item" else block.title
        passages += [
            _make_passage(piece, number, block, introduction, breaks, first=not at)
            for at, piece in enumerate(pieces)
            if _WORD.search(piece.text) and not is_address
        ]
        introduced = block.introduces and (block.depth > 0 or opens or block.before_code)
        leads = {depth: text for depth, text in leads.items() if depth < block.depth}
        leads[block.depth] = last if introduced else EMPTY_TEXT
    return tuple(passages)


def _shift_ranges(ranges: Iterable[Range], back: int) -> tuple[Range, ...]:
    return tuple((start - back, end - back) for start, end in ranges if start >= back)


def split_properties(text: str) -> tuple[Passage, ...]:
    """The properties of a note one by one, if a text is nothing else."""
    properties: list[Passage] = []
    at = 0
    while at < len(text):
        one = _PROPERTY.match(text, at)
        if one is None:
            return ()
        words = " ".join(f"{one['key']}: {one['value']}".split())
        place = (one.start(), one.end("value"))
        properties.append(Passage(words, 0, kind="property", ranges=(place,)))
        at = one.end()
    return tuple(properties)


def _make_passage(
    piece: MappedText,
    number: int,
    block: MarkdownBlock,
    lead: MappedText,
    breaks: Sequence[int] = (),
    *,
    first: bool = True,
) -> Passage:
    """:param breaks: where lines of the block begin that were kept apart."""
    at = bisect_left(block.body.origins, piece.origins[0]) if breaks and piece.origins else 0
    within = bisect_right(breaks, at) < bisect_left(breaks, at + len(piece.text))
    as_lines = breaks if block.is_whole else within and block.kind == "prose"
    return replace(
        block.template,
        text=piece.words(),
        block=number,
        lead=lead.words(),
        ranges=block.row_ranges or piece.ranges(),
        lead_ranges=lead.ranges(),
        mark=block.template.mark if first else "",
        # A mark may stand in between.
        begins_line=bisect_left(breaks, at - 2) < bisect_right(breaks, at),
        markdown=block.template.markdown
        or (piece.text if as_lines or _attribution_starts(piece.text) else ""),
    )


def _split_block(block: MarkdownBlock, sentences: SentenceSpans) -> list[MappedText]:
    body = block.body
    if _EMBEDDED_FILE.fullmatch(body.words()):
        return []
    whole = block.depth or block.is_whole or _attribution_starts(body.text)
    if whole and len(body.text) <= MAX_WHOLE_ITEM_CHARS:
        return [body.part(0, len(body.text))]
    return [body.part(start, end) for start, end in _join_scraps(body.text, sentences(body.text))]


def _join_scraps(text: str, spans: Sequence[Range]) -> list[Range]:
    """The sentences, one of a word or two ("No.") joined to the one that says why, and a label to what it
    labels, and whose words they are to the last of them."""
    sentences: list[Range] = []
    sources, struck = _attribution_starts(text), [*STRIKETHROUGH.finditer(text)]
    for start, end in spans:
        before = text[slice(*sentences[-1])] if sentences else ""
        marks = not _WORD.search(text, start, end)  # "3.\*."
        line = text.rfind("\n", 0, start) + 1
        source = line in sources or (line < start and text.startswith(ATTRIBUTION_DASHES, start))
        leads = (marks or _is_scrap_or_label(before)) and not before.endswith("\n")
        leads = leads or (line == start and answers(before, text[start:end]))
        leads = leads or any(one.start() < start < one.end() for one in struck)
        if sentences and (source or leads):
            sentences[-1] = sentences[-1][0], end
        else:
            sentences.append((start, end))
    return sentences


def _is_scrap_or_label(text: str) -> bool:
    return len(_TOKEN.findall(text)) <= MAX_FRAGMENT_WORDS or _LABEL.fullmatch(text.strip()) is not None


def _join_attributions(blocks: Sequence[MarkdownBlock]) -> list[MarkdownBlock]:
    """The blocks, a paragraph that says whose the words above it are as the last line of that."""
    joined: list[MarkdownBlock] = []
    for block, after in zip(blocks, [*blocks[1:], MarkdownBlock(EMPTY_TEXT, Passage("", 0))], strict=False):
        last, body = joined[-1] if joined else block, block.body
        lines = f"{last.body.text}\n{body.text}"
        same = block.kind == "prose" and replace(last.template, group=block.template.group) == block.template
        same = same and not body.text.endswith((".", "!", "?"))  # "— Bring the pump, she said."
        below = len(last.body.text) + 1 in _attribution_starts(f"{lines}\n{after.body.text}")
        if joined and same and below:
            origins = [*last.body.origins, body.origins[0] - 1, *body.origins]
            joined[-1] = replace(last, body=MappedText(lines, origins))
        else:
            joined.append(block)
    return joined


def _attribution_starts(text: str) -> list[int]:
    """Return where lines begin that say whose the words above them are."""
    return [one.end() for one in _ATTRIBUTION.finditer(text)]


MIN_ENTRIES = 3  # paragraphs or commands of one shape from which on each is one of several


def _split_entries(blocks: Sequence[MarkdownBlock]) -> Iterator[MarkdownBlock]:
    """The blocks, a paragraph of labelled lines as one a line, with the numbers of entries."""
    shapes = [_shape_of_entry(block) for block in blocks]
    counts = Counter(
        (shape, block.template.headings)
        for shape, block in zip(shapes, blocks, strict=True)
        if block.kind in ("prose", "item")
    )
    number, led = 0, False
    for shape, block in zip(shapes, blocks, strict=True):
        count, others = (counts[one, block.template.headings] for one in (shape, None))
        many = shape is not None and count >= MIN_ENTRIES and 2 * count > others
        number += many
        if shape == "lines":
            *lines, last = _labelled_lines(block.body)
            first = replace(block, introduces=False, before_code=False)
            for entry, line in [*((first, line) for line in lines), (block, last)]:
                number += 1
                yield replace(_with_entry(entry, number), body=line, is_whole="\n" in line.text)
        elif many or (led and block.kind == "code"):
            yield replace(_with_entry(block, number), is_whole=shape == "card")
        else:
            yield block
        led = many and shape == "command"


def _with_entry(block: MarkdownBlock, number: int) -> MarkdownBlock:
    return replace(block, template=replace(block.template, entry=number))


def _shape_of_entry(block: MarkdownBlock) -> Literal["lines", "card", "command"] | None:
    """Return the shape of a paragraph that is, or holds, entries; None for others."""
    if block.kind != "prose":
        return None
    if block.before_code:
        return "command"
    text = block.body.text
    end = next(line_ends(text), None)
    if end is None or (text[:end].rstrip().endswith(".") and not LABELLED.match(text)):
        return None
    return "lines" if len(_labelled_lines(block.body)) > 1 else "card"


def _labelled_lines(body: MappedText) -> list[MappedText]:
    """The labelled lines of a paragraph, with those up to the next that has the label of the first; one
    where fewer are labelled, or by a letter each: question and answer."""
    text = body.text
    lines = (at for at in line_ends(text) if not answers(text[max(0, at - 9) : at], text[at : at + 40]))
    ends = [0, *lines]
    matches = (LABELLED.match(body.text, at) for at in ends)
    labels = [label[0].strip() if label else "" for label in matches]
    if 2 * sum(map(bool, labels)) < len(labels):
        return [body]
    if labels.count(labels[0]) > 1:
        ends = [at for at, label in zip(ends, labels, strict=True) if label == labels[0]]
    elif _ONE_LETTER.fullmatch(labels[0]):
        return [body]
    return [body.part(start, end) for start, end in pairwise([*ends, len(body.text)])]
