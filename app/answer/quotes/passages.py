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

from notehop.app.answer.citations import Range, Stretch
from notehop.app.answer.quotes.blocks import BEHIND, NOTHING, REST, STRUCK, Block, Passage, blocks
from notehop.indexing.vault.plain import LABELLED, answers, line_ends
from notehop.indexing.vault.properties import BETWEEN

if TYPE_CHECKING:
    pass

SentenceSpans = Callable[[str], Sequence[Range]]
"""Text -> half-open character ranges of its sentences, in order."""

LONGEST_ITEM = 300
"""A list item up to this many characters is quoted whole: cut, it loses what it was listed for."""

SHORTEST = 2  # words of a sentence that says nothing by itself: "No.", "It depends."
REMEMBERED = 512  # sources whose passages are remembered: questions come back to the same notes

_OF_WHOM = re.compile(r"(?m)^(?![—–]).*\n+(?=([—–] ?(?!\d)\S.{,160})$(?!\n+[—–]))")
"""A line above one that says whose words it is, which is of no list or dialogue."""

_LABEL = re.compile(r"(\*\*|__)[^*_]+\1:?")
_ONE_LETTER = re.compile(r".\d*:")
_WORD = re.compile(r"\w")
_NUMBER = re.compile(r"\d")
_TOKEN = re.compile(r"\w+")
NAME = re.compile(r"\S*(?:://|[^\W\d_][./][^\W\d_])\S*")
"""An address, or the name of a file or module, that stands alone: no answer, and no sentence."""

_FILE = re.compile(
    r"(?i)(?:(?![.!?]\s).)*\.(?:avif|bmp|gif|jpe?g|m4a|mkv|mov|mp[34]|ogg|pdf|png|svg|wav|webm|webp"
    r"|(?:base|canvas)(?: > .*)?)"
)
"""All that is left of an embedded picture, recording or view: its name says nothing that answers."""

_PROPERTY = re.compile(
    r"(?P<key>[^\s:][^:\n]{0,60}):[ \n](?P<value>.+?)(?: ·(?:\n+|$)|$)", re.DOTALL
)
"""A property, as :mod:`notehop.indexing.vault.properties` writes it among others."""
_ONE_PROPERTY = re.compile(r"\s*[\w-]{1,40}:(?: [^\n]+|(?:\n[^\n]+,)+\n[^\n]+)\s*")


@lru_cache(maxsize=REMEMBERED)
def passages(text: str, sentences: SentenceSpans, table_head: str = "") -> tuple[Passage, ...]:
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
                one, ranges=_moved(one.ranges, begins), lead_ranges=_moved(one.lead_ranges, begins)
            )
            for one in passages(f"{table_head}\n{text}", sentences)
        )
    if (f"{BETWEEN}\n" in text or _ONE_PROPERTY.fullmatch(text)) and (listed := properties(text)):
        words = f"{BETWEEN} ".join(one.text for one in listed)
        places = tuple(place for one in listed for place in one.ranges)
        return (Passage(words, 0, kind="property", ranges=places),)
    found: list[Passage] = []
    leads: dict[int, Stretch] = {}
    above: tuple[str, ...] = ()
    for number, block in enumerate(_with_entries(_with_sources([*blocks(text)]))):
        if block.shape.headings != above:
            above, leads = block.shape.headings, {}
        lead = leads.get(block.depth - 1 if block.kind == "item" else block.depth, NOTHING)
        lead = lead if lead.text else block.title
        if block.kind == "code":
            code = _passage(block.body, number, block, lead)
            told = lead.text or block.headed
            if REST in code.written:
                told = lead.text and code.is_command
            found.append(replace(code, is_fragment=not told))
            leads.pop(block.depth, None)
            continue
        if block.kind in ("heading", "row"):
            found.append(_passage(block.body, number, block, block.head))
            continue
        pieces = _pieces(block, sentences)
        last = pieces[-1] if pieces else NOTHING
        opens = last.text.endswith(":")
        named = len(pieces) == 1 and not lead.text and NAME.fullmatch(last.text)
        if opens and block.introduces:
            pieces.pop()
        breaks = [*line_ends(block.body.text)]
        its = lead if block.kind == "item" else block.title
        found += [
            _passage(piece, number, block, its, breaks, first=not at)
            for at, piece in enumerate(pieces)
            if _WORD.search(piece.text) and not named
        ]
        introduced = block.introduces and (block.depth > 0 or opens or block.before_code)
        leads = {depth: text for depth, text in leads.items() if depth < block.depth}
        leads[block.depth] = last if introduced else NOTHING
    return tuple(found)


def _moved(ranges: Iterable[Range], back: int) -> tuple[Range, ...]:
    return tuple((start - back, end - back) for start, end in ranges if start >= back)


def properties(text: str) -> tuple[Passage, ...]:
    """The properties of a note one by one, if a text is nothing else."""
    found: list[Passage] = []
    at = 0
    while at < len(text):
        one = _PROPERTY.match(text, at)
        if one is None:
            return ()
        words = " ".join(f"{one['key']}: {one['value']}".split())
        place = (one.start(), one.end("value"))
        found.append(Passage(words, 0, kind="property", ranges=(place,)))
        at = one.end()
    return tuple(found)


def _passage(
    piece: Stretch,
    number: int,
    block: Block,
    lead: Stretch,
    breaks: Sequence[int] = (),
    *,
    first: bool = True,
) -> Passage:
    """:param breaks: where lines of the block begin that were kept apart."""
    at = bisect_left(block.body.origins, piece.origins[0]) if breaks and piece.origins else 0
    within = bisect_right(breaks, at) < bisect_left(breaks, at + len(piece.text))
    as_lines = breaks if block.whole else within and block.kind == "prose"
    return replace(
        block.shape,
        text=piece.words(),
        block=number,
        lead=lead.words(),
        ranges=block.place or piece.ranges(),
        lead_ranges=lead.ranges(),
        mark=block.shape.mark if first else "",
        # A mark may stand in between.
        begins_line=bisect_left(breaks, at - 2) < bisect_right(breaks, at),
        written=block.shape.written or (piece.text if as_lines or _of_whom(piece.text) else ""),
    )


def _pieces(block: Block, sentences: SentenceSpans) -> list[Stretch]:
    body = block.body
    if _FILE.fullmatch(body.words()):
        return []
    whole = block.depth or block.whole or _of_whom(body.text)
    if whole and len(body.text) <= LONGEST_ITEM:
        return [body.part(0, len(body.text))]
    return [body.part(start, end) for start, end in _whole(body.text, sentences(body.text))]


def _whole(text: str, spans: Sequence[Range]) -> list[Range]:
    """The sentences, one of a word or two ("No.") joined to the one that says why, and a label to what it
    labels, and whose words they are to the last of them."""
    found: list[Range] = []
    sources, struck = _of_whom(text), [*STRUCK.finditer(text)]
    for start, end in spans:
        before = text[slice(*found[-1])] if found else ""
        marks = not _WORD.search(text, start, end)  # "3.\*."
        line = text.rfind("\n", 0, start) + 1
        source = line in sources or (line < start and text.startswith(BEHIND, start))
        leads = (marks or _leads(before)) and not before.endswith("\n")
        leads = leads or (line == start and answers(before, text[start:end]))
        leads = leads or any(one.start() < start < one.end() for one in struck)
        if found and (source or leads):
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
    return found


def _leads(text: str) -> bool:
    return len(_TOKEN.findall(text)) <= SHORTEST or _LABEL.fullmatch(text.strip()) is not None


def _with_sources(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, a paragraph that says whose the words above it are as the last line of that."""
    found: list[Block] = []
    for block, after in zip(blocks, [*blocks[1:], Block(NOTHING, Passage("", 0))], strict=False):
        last, own = found[-1] if found else block, block.body
        lines = f"{last.body.text}\n{own.text}"
        same = block.kind == "prose" and replace(last.shape, group=block.shape.group) == block.shape
        same = same and not own.text.endswith((".", "!", "?"))  # "— Bring the pump, she said."
        below = len(last.body.text) + 1 in _of_whom(f"{lines}\n{after.body.text}")
        if found and same and below:
            origins = [*last.body.origins, own.origins[0] - 1, *own.origins]
            found[-1] = replace(last, body=Stretch(lines, origins))
        else:
            found.append(block)
    return found


def _of_whom(text: str) -> list[int]:
    """Where lines begin that say whose the words above them are."""
    return [one.end() for one in _OF_WHOM.finditer(text)]


CARDS = 3  # paragraphs or commands of one shape from which on each is one of several


def _with_entries(blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks, a paragraph of labelled lines as one a line, with the numbers of entries."""
    shapes = [_shape_of_entry(block) for block in blocks]
    alike = Counter(
        (shape, block.shape.headings)
        for shape, block in zip(shapes, blocks, strict=True)
        if block.kind in ("prose", "item")
    )
    number, led = 0, False
    for shape, block in zip(shapes, blocks, strict=True):
        count, others = (alike[one, block.shape.headings] for one in (shape, None))
        many = shape is not None and count >= CARDS and 2 * count > others
        number += many
        if shape == "lines":
            *lines, last = _records(block.body)
            first = replace(block, introduces=False, before_code=False)
            for one, line in [*((first, line) for line in lines), (block, last)]:
                number += 1
                yield replace(_numbered(one, number), body=line, whole="\n" in line.text)
        elif many or (led and block.kind == "code"):
            yield replace(_numbered(block, number), whole=shape == "card")
        else:
            yield block
        led = many and shape == "command"


def _numbered(block: Block, number: int) -> Block:
    return replace(block, shape=replace(block.shape, entry=number))


def _shape_of_entry(block: Block) -> Literal["lines", "card", "command"] | None:
    """What a paragraph may be that is, or holds, entries."""
    if block.kind != "prose":
        return None
    if block.before_code:
        return "command"
    text = block.body.text
    end = next(line_ends(text), None)
    if end is None or (text[:end].rstrip().endswith(".") and not LABELLED.match(text)):
        return None
    return "lines" if len(_records(block.body)) > 1 else "card"


def _records(body: Stretch) -> list[Stretch]:
    """The labelled lines of a paragraph, with those up to the next that has the label of the first; one
    where fewer are labelled, or by a letter each: question and answer."""
    text = body.text
    lines = (
        at for at in line_ends(text) if not answers(text[max(0, at - 9) : at], text[at : at + 40])
    )
    ends = [0, *lines]
    found = (LABELLED.match(body.text, at) for at in ends)
    labels = [label[0].strip() if label else "" for label in found]
    if 2 * sum(map(bool, labels)) < len(labels):
        return [body]
    if labels.count(labels[0]) > 1:
        ends = [at for at, label in zip(ends, labels, strict=True) if label == labels[0]]
    elif _ONE_LETTER.fullmatch(labels[0]):
        return [body]
    return [body.part(start, end) for start, end in pairwise([*ends, len(body.text)])]
