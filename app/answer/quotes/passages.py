"""Cuts the text of a source into what can be quoted: sentences, list items, table rows, code. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from notehop.app.answer.citations import Range, Stretch, stretch_of
from notehop.indexing.vault.markdown_blocks import with_more_than
from notehop.indexing.vault.plain import LABELLED, line_ends
from notehop.indexing.vault.properties import BETWEEN

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

SentenceSpans = Callable[[str], Sequence[Range]]
"""Text -> half-open character ranges of its sentences, in order."""

Kind = Literal["prose", "item", "row", "code", "property", "heading"]

LONGEST_ITEM = 300
"""A list item up to this many characters is quoted whole: cut, it loses what it was listed for."""

SHORTEST = 2  # words of a sentence that says nothing by itself: "No.", "It depends."
TITLE = 7  # words from which on the first line of a callout is no title, but what it has to say
LONGEST_CODE = 15  # lines of a block of code that are quoted
REMEMBERED = 512  # sources whose passages are remembered: questions come back to the same notes

_BLOCK_ID = re.compile(r"(?<![ \t])[ \t]+\^[A-Za-z0-9-]+\s*$")

_BEHIND = ("— ", "– ")
_OF_WHOM = re.compile(r"(?m)^(?![—–]).*\n+(?=([—–] ?(?!\d)\S.{,160})$(?!\n+[—–]))")
"""A line above one that says whose words it is, which is of no list or dialogue."""

_LABEL = re.compile(r"(\*\*|__)[^*_]+\1:?")
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

_SPELT_OUT = re.compile(
    r"(?=[^()]*[^\W\d_])[^()]+ \([^()]+\)|(?=[^:–—]*[^\W\d_])[^:()]{2,8}(?::| [–—-]) [^:]+"
)
"""A heading that says what an abbreviation stands for: "Chain of thought (CoT)", "KPI: Key …"; not a number
and its date, "4.2 (8 October 2024)"."""

_PROPERTY = re.compile(
    r"(?P<key>[^\s:][^:\n]{0,60}):[ \n](?P<value>.+?)(?: ·(?:\n+|$)|$)", re.DOTALL
)
"""A property, as :mod:`notehop.indexing.vault.properties` writes it among others."""
_PROGRAM = re.compile(
    r"(?i)\s*(?:```|~~~)\s*(?:tsx?|jsx?|typescript|javascript|python|py|java|kotlin|c|cpp|cs|rust|go|ruby|rb"
    r"|php|swift|scala)\b"
)

_ONE_PROPERTY = re.compile(r"\s*[\w-]{1,40}:(?: [^\n]+|(?:\n[^\n]+,)+\n[^\n]+)\s*")


@dataclass(frozen=True, slots=True)
class Passage:
    """Words of a source as they stand there, white space aside, without list and quote marks.

    ``ranges`` say where. ``block`` numbers the paragraph, item or row it is part of, counted from 0
    within the source; ``lead`` is what introduces it: the sentence or item above its list, the
    sentence above its code, the head of its table; empty if nothing does. ``mark`` is the list mark
    it begins with (``-``, ``2.``) and ``depth`` the number of lists around it. ``written`` is how
    it is shown where that is not its text: a row or code as it stands there; ``frame`` what has to
    stand before it then. ``group`` is one number for all of a list, table or paragraph, ``headings``
    those above it within the source, the outermost first. ``begins_line`` tells that a line break
    stands before it in its paragraph, which is there on purpose. ``entry`` is a number of its own for
    each of several things that stand beside one another and go on with none: a labelled line, a card, a
    command with the line that says what it does; 0 for all else. ``is_fragment`` tells that it is code that
    says nothing alone: the beginning of a program, or what no sentence or heading introduces. ``part``
    counts the rules (``---``) above it in the source.
    """

    text: str
    block: int
    lead: str = ""
    kind: Kind = "prose"
    ranges: tuple[Range, ...] = ()
    lead_ranges: tuple[Range, ...] = ()
    mark: str = ""
    depth: int = 0
    written: str = ""
    frame: str = ""
    group: int = 0
    headings: tuple[str, ...] = ()
    begins_line: bool = False
    entry: int = 0
    is_fragment: bool = False
    part: int = 0

    @property
    def heading(self) -> str:
        """The nearest heading above within the source."""
        return self.headings[-1] if self.headings else ""

    @property
    def is_command(self) -> bool:
        """Whether it is a block of code that may be typed, and no program: that says how something works."""
        return self.kind == "code" and not _PROGRAM.match(self.written)


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
    for number, block in enumerate(_with_entries(_with_sources([*_blocks(text)]))):
        if block.shape.headings != above:
            above, leads = block.shape.headings, {}
        lead = leads.get(block.depth - 1 if block.kind == "item" else block.depth, _NOTHING)
        lead = lead if lead.text else block.title
        if block.kind == "code":
            code = _passage(block.body, number, block, lead)
            told = lead.text or block.headed
            if _REST in code.written:
                told = lead.text and code.is_command
            found.append(replace(code, is_fragment=not told))
            leads.pop(block.depth, None)
            continue
        if block.kind in ("heading", "row"):
            found.append(_passage(block.body, number, block, block.head))
            continue
        pieces = _pieces(block, sentences)
        last = pieces[-1] if pieces else _NOTHING
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
        leads[block.depth] = last if introduced else _NOTHING
    return tuple(found)


_NOTHING = Stretch()


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


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph, list item, table row or block of code; ``shape`` is that of its passages.

    ``introduces`` tells that a list or code follows right below, ``before_code`` that it is code.
    ``place`` is that of a row, which has bars between its words. ``headed`` tells that nothing stands
    between the block and its heading. ``title`` is that of its callout; ``whole`` tells that it is one
    passage, if it is not long.
    """

    body: Stretch
    shape: Passage
    introduces: bool = False
    before_code: bool = False
    head: Stretch = _NOTHING
    place: tuple[Range, ...] = ()
    headed: bool = False
    title: Stretch = _NOTHING
    whole: bool = False

    @property
    def kind(self) -> Kind:
        return self.shape.kind

    @property
    def depth(self) -> int:
        """The number of lists around it."""
        return self.shape.depth


def _passage(
    piece: Stretch,
    number: int,
    block: _Block,
    lead: Stretch,
    breaks: Sequence[int] = (),
    *,
    first: bool = True,
) -> Passage:
    """:param breaks: where lines of the block begin that were kept apart."""
    at = bisect_left(block.body.origins, piece.origins[0]) if breaks and piece.origins else 0
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
        written=block.shape.written
        or (piece.text if (block.whole and breaks) or _of_whom(piece.text) else ""),
    )


def _pieces(block: _Block, sentences: SentenceSpans) -> list[Stretch]:
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
    sources = _of_whom(text)
    for start, end in spans:
        before = text[slice(*found[-1])] if found else ""
        marks = not _WORD.search(text, start, end)  # "3.\*."
        line = text.rfind("\n", 0, start) + 1
        source = line in sources or (line < start and text.startswith(_BEHIND, start))
        leads = (marks or _leads(before)) and not before.endswith("\n")
        if found and (source or leads):
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
    return found


def _leads(text: str) -> bool:
    return len(_TOKEN.findall(text)) <= SHORTEST or _LABEL.fullmatch(text.strip()) is not None


def _with_sources(blocks: Sequence[_Block]) -> list[_Block]:
    """The blocks, a paragraph that says whose the words above it are as the last line of that."""
    found: list[_Block] = []
    for block, after in zip(blocks, [*blocks[1:], _Block(_NOTHING, Passage("", 0))], strict=False):
        last, own = found[-1] if found else block, block.body
        lines = f"{last.body.text}\n{own.text}"
        same = block.kind == "prose" and replace(last.shape, group=block.shape.group) == block.shape
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


def _with_entries(blocks: Sequence[_Block]) -> Iterator[_Block]:
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


def _numbered(block: _Block, number: int) -> _Block:
    return replace(block, shape=replace(block.shape, entry=number))


def _shape_of_entry(block: _Block) -> Literal["lines", "card", "command"] | None:
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
    ends = [0, *line_ends(body.text)]
    found = (LABELLED.match(body.text, at) for at in ends)
    labels = [label[0].strip() if label else "" for label in found]
    if 2 * sum(map(bool, labels)) < len(labels):
        return [body]
    if labels.count(labels[0]) > 1:
        ends = [at for at, label in zip(ends, labels, strict=True) if label == labels[0]]
    elif len(labels[0]) == len("Q:"):
        return [body]
    return [body.part(start, end) for start, end in pairwise([*ends, len(body.text)])]


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Only block structure is needed; the text inside is kept as it is written.
    md = MarkdownIt("commonmark").enable("table").disable("inline")
    return with_more_than(md)


_LISTS = ("bullet_list_open", "ordered_list_open")
_CODE = ("fence", "code_block")
_REST = "\n…\n"  # what stands below code that goes on
STOPS = (".", "!", "?", ":", ";", "…", "。", "！", "？")
_GROUPS = (*_LISTS, "table_open", "paragraph_open")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|$)")


def _blocks(text: str) -> Iterator[_Block]:
    tokens = _markdown().parse(text)
    lines = [(one.start(), one.end()) for one in _LINE.finditer(text)]
    marks: list[str] = []
    head: Token | None = None
    group, part, headed = 0, 0, False
    above: dict[str, str] = {}  # rank of a heading ("h2") -> its text
    titles: list[Stretch] = []  # of the quotes around a block; empty where one has none

    def shape(kind: Kind, **more: Any) -> Passage:
        headings = tuple(above.values())
        return Passage("", 0, kind=kind, group=group, part=part, headings=headings, **more)

    for at, token in enumerate(tokens):
        before = tokens[at - 1].type if at else ""
        if token.type == "list_item_open":
            marks.append(f"{token.info}{token.markup}")
        elif token.type == "list_item_close":
            marks.pop()
        elif token.type == "blockquote_open":
            titles.append(titles[-1] if titles else _NOTHING)
        elif token.type == "blockquote_close":
            titles.pop()
        elif token.type in _GROUPS and not marks:
            group += 1
        elif token.type == "hr":
            part += 1
        elif token.type == "inline" and before == "heading_open":
            rank, heading, headed = tokens[at - 1].tag, token.content.strip(), True
            above = {one: text for one, text in above.items() if one < rank} | {rank: heading}
            if token.map and _SPELT_OUT.fullmatch(heading):
                body = stretch_of(token.content, text, lines[token.map[0] : token.map[1]])
                group += 1
                yield _Block(body, shape("heading"))
        elif token.type == "tr_open":
            if before == "thead_open":
                head = token
            elif head is not None:
                yield _row(text, lines, tokens, at, head, shape("row"))
                headed = False
        elif token.type in _CODE and token.map is not None:
            group += not marks and before != "paragraph_close"
            body, written = _code(text, lines, token)
            its = shape("code", depth=len(marks), written=written)
            yield _Block(body, its, headed=headed, title=[_NOTHING, *titles][-1])
            headed = False
        elif token.type == "inline" and before == "paragraph_open" and token.map:
            below = (one.type for one in tokens[at + 2 :] if one.type != "html_block")
            follows = next(below, "")  # whatever box it stands in
            body = stretch_of(token.content, text, lines[token.map[0] : token.map[1]])
            title = [_NOTHING, *titles][-1]
            if _is_callout_title(tokens, at):
                titles[-1] = body.part(0, len(body.text))
                if not _NUMBER.search(body.text):
                    continue
            item = at > 1 and tokens[at - 2].type == "list_item_open"
            kind: Kind = "item" if marks else "prose"
            its = shape(kind, depth=len(marks), mark=marks[-1] if item else "")
            block_id = _BLOCK_ID.search(body.text)
            body = body.part(0, block_id.start() if block_id else len(body.text))
            if body.text:
                leads, code = follows in (*_LISTS, *_CODE), follows in _CODE
                yield _Block(body, its, leads, code, headed=headed, title=title)
                headed = False


def _code(text: str, lines: Sequence[Range], token: Token) -> tuple[Stretch, str]:
    """A block of code, and how it is shown: between fences; of a long one its beginning."""
    first, end = token.map or [0, 0]
    first += bool(token.markup)
    content = token.content.removesuffix("\n").split("\n")
    shown = content[:LONGEST_CODE]
    body = stretch_of("\n".join(shown), text, lines[first : first + len(shown)], code=True)
    # A fence that is not closed goes on behind the end of the source.
    is_open = token.markup and end - first == len(content)
    rest = _REST if is_open or len(content) > len(shown) else "\n"
    fence = token.markup or "```"
    return body, f"{fence}{token.info.strip()}\n{body.text}{rest}{fence}"


def _is_callout_title(tokens: Sequence[Token], at: int) -> bool:
    """Whether a paragraph is a title: in the text of a source nothing says that a quote is a callout.

    It is the first of several in its quote, short, and no sentence.
    """
    text = tokens[at].content.rstrip()
    return (
        at > 1
        and tokens[at - 2].type == "blockquote_open"
        and at + 2 < len(tokens)
        and tokens[at + 2].type != "blockquote_close"
        and len(_TOKEN.findall(text)) < TITLE
        and not text.endswith(STOPS)
        and not tokens[at + 3].content.startswith(_BEHIND)
    )


def _row(
    text: str, lines: Sequence[Range], tokens: Sequence[Token], at: int, head: Token, shape: Passage
) -> _Block:
    """The row that begins at a token, with the head of its table."""
    first = (head.map or [0])[0]
    own = (tokens[at].map or [0])[0]
    frame = "\n".join(text[slice(*_trimmed(text, lines[number]))] for number in (first, first + 1))
    place = _trimmed(text, lines[own])
    return _Block(
        _cells(text, lines[own], tokens, at),
        replace(shape, written=text[slice(*place)], frame=frame),
        head=_cells(text, lines[first], tokens, tokens.index(head)),
        place=(place,),
    )


def _trimmed(text: str, line: Range) -> Range:
    """A line of a table without the marks of the quote it stands in."""
    written = text[slice(*line)]
    bare = written.lstrip("> \t")
    start = line[0] + len(written) - len(bare)
    return start, start + len(bare.rstrip())


def _cells(source: str, line: Range, tokens: Sequence[Token], at: int) -> Stretch:
    """The words of a row, with a bar between its cells."""
    text = ""
    origins: list[int] = []
    after = line[0]
    while tokens[at].type != "tr_close":
        token = tokens[at]
        at += 1
        cell = token.content.strip() if token.type == "inline" else ""
        if not cell:
            continue
        # A bar in a cell is written with a backslash before it.
        place = source.find(cell, after, line[1])
        origin = place if place >= 0 else after
        shown = f" | {cell}" if text else cell
        text += shown
        after = origin + len(cell)
        origins += range(after - len(shown), after)
    return Stretch(text, origins)
