"""Reads the Markdown of a source into its blocks: paragraphs, list items, table rows, code. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from notehop.app.answer.citations import MappedText, Range, map_to_source
from notehop.indexing.vault.markdown_blocks import with_more_than

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

PassageKind = Literal["prose", "item", "row", "code", "property", "heading"]

MIN_CALLOUT_TEXT_WORDS = 7
"""Words from which on the first line of a callout is no title, but what it has to say."""

MAX_CODE_LINES = 15  # lines of a block of code that are quoted

ATTRIBUTION_DASHES = ("— ", "– ")  # begins a line that says whose the words above it are

_BLOCK_ID = re.compile(r"(?<![ \t])[ \t]+\^[A-Za-z0-9-]+\s*$")

STRIKETHROUGH = re.compile(r"~~(?=\S)(?:(?!~~).)+(?<=\S)~~", re.DOTALL)
_NUMBER = re.compile(r"\d")
_TOKEN = re.compile(r"\w+")
_EXPANSION_HEADING = re.compile(
    r"(?=[^()]*[^\W\d_])[^()]+ \([^()]+\)|(?=[^:–—]*[^\W\d_])[^:()]{2,8}(?::| [–—-]) [^:]+"
)
"""A heading that says what an abbreviation stands for: "Chain of thought (CoT)", "KPI: Key …"; not a number
and its date, "4.2 (8 October 2024)"."""

_PROGRAM = re.compile(
    r"(?i)\s*(?:```|~~~)\s*(?:tsx?|jsx?|typescript|javascript|python|py|java|kotlin|c|cpp|cs|rust|go|ruby|rb"
    r"|php|swift|scala|css)\b"
)
VIEW_FENCE = re.compile(
    r"(?:```|~~~)\s*(?:dataview(?:js)?|tasks|query|base|tracker|kanban|calendar|button|meta-bind"
    r"|mermaid|plantuml|puml|dot|graphviz|d2|chart)\b",
    re.IGNORECASE,
)
"""Blocks in whose place something else is shown, a drawing too: none says what something is."""
_FIELD = re.compile(r"[^\W\d_][\w .-]{0,40}:(?: .*[^;{,]| *)")


@dataclass(frozen=True, slots=True)
class Passage:
    """Words of a source as they stand there, white space aside, without list and quote marks.

    ``ranges`` say where. ``block`` numbers the paragraph, item or row it is part of, counted from 0
    within the source; ``lead`` is what introduces it: the sentence or item above its list, the
    sentence above its code, the head of its table; empty if nothing does. ``mark`` is the list mark
    it begins with (``-``, ``2.``) and ``depth`` the number of lists around it. ``markdown`` is how
    it is shown where that is not its text: a row or code as it stands there; ``table_head`` what has to
    stand before it then. ``group`` is one number for all of a list, table or paragraph, ``headings``
    those above it within the source, the outermost first. ``begins_line`` tells that a line break
    stands before it in its paragraph, which is there on purpose. ``entry`` is a number of its own for
    each of several things that stand beside one another and go on with none: a labelled line, a card, a
    command with the line that says what it does; 0 for all else. ``is_fragment`` tells that it is code that
    says nothing alone: the beginning of a program, or what no sentence or heading introduces. ``rule_count``
    counts the rules (``---``) above it in the source.
    """

    text: str
    block: int
    lead: str = ""
    kind: PassageKind = "prose"
    ranges: tuple[Range, ...] = ()
    lead_ranges: tuple[Range, ...] = ()
    mark: str = ""
    depth: int = 0
    markdown: str = ""
    table_head: str = ""
    group: int = 0
    headings: tuple[str, ...] = ()
    begins_line: bool = False
    entry: int = 0
    is_fragment: bool = False
    rule_count: int = 0

    @property
    def heading(self) -> str:
        """The nearest heading above within the source."""
        return self.headings[-1] if self.headings else ""

    @property
    def unstruck_text(self) -> str:
        """Its text without what is struck out."""
        return STRIKETHROUGH.sub("", self.text)

    @property
    def is_command(self) -> bool:
        """Whether it is a block of code that may be typed, and no program: that says how something works."""
        return self.kind == "code" and not _PROGRAM.match(self.markdown)


EMPTY_TEXT = MappedText()


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """A paragraph, list item, table row or block of code; ``template`` is that of its passages.

    ``introduces`` tells that a list or code follows right below, ``before_code`` that it is code.
    ``row_ranges`` are those of a row, which has bars between its words. ``follows_heading``: nothing stands
    between the block and its heading. ``title`` is that of its callout; ``is_whole`` tells that it is one
    passage, if it is not long.
    """

    body: MappedText
    template: Passage
    introduces: bool = False
    before_code: bool = False
    head: MappedText = EMPTY_TEXT
    row_ranges: tuple[Range, ...] = ()
    follows_heading: bool = False
    title: MappedText = EMPTY_TEXT
    is_whole: bool = False

    @property
    def kind(self) -> PassageKind:
        return self.template.kind

    @property
    def depth(self) -> int:
        """The number of lists around it."""
        return self.template.depth


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Only block structure is needed; the text inside is kept as it is written.
    md = MarkdownIt("commonmark").enable("table").disable("inline")
    return with_more_than(md)


_LISTS = ("bullet_list_open", "ordered_list_open")
_CODE = ("fence", "code_block")
CODE_GOES_ON = "\n…\n"  # what stands below code that goes on
END_MARKS = (".", "!", "?", ":", ";", "…", "。", "！", "？")
_GROUPS = (*_LISTS, "table_open", "paragraph_open")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|$)")


def split_into_blocks(text: str) -> Iterator[MarkdownBlock]:
    """Yield the blocks of the Markdown of a source, in text order, each with the headings above it."""
    tokens = _markdown().parse(text)
    lines = [(one.start(), one.end()) for one in _LINE.finditer(text)]
    marks: list[str] = []
    head: Token | None = None
    group, part, follows_heading = 0, 0, False
    headings_by_rank: dict[str, str] = {}  # rank of a heading ("h2") -> its text
    titles: list[MappedText] = []  # of the quotes around a block; empty where one has none

    def template(kind: PassageKind, **more: Any) -> Passage:
        headings = tuple(headings_by_rank.values())
        return Passage("", 0, kind=kind, group=group, rule_count=part, headings=headings, **more)

    for at, token in enumerate(tokens):
        before = tokens[at - 1].type if at else ""
        if token.type == "list_item_open":
            marks.append(f"{token.info}{token.markup}")
        elif token.type == "list_item_close":
            marks.pop()
        elif token.type == "blockquote_open":
            titles.append(titles[-1] if titles else EMPTY_TEXT)
        elif token.type == "blockquote_close":
            titles.pop()
        elif token.type in _GROUPS and not marks:
            group += 1
        elif token.type == "hr":
            part += 1
        elif token.type == "inline" and before == "heading_open":
            rank, heading, follows_heading = tokens[at - 1].tag, token.content.strip(), True
            headings_by_rank = {one: text for one, text in headings_by_rank.items() if one < rank} | {
                rank: heading
            }
            if token.map and _EXPANSION_HEADING.fullmatch(heading):
                body = map_to_source(token.content, text, lines[token.map[0] : token.map[1]])
                group += 1
                yield MarkdownBlock(body, template("heading"))
        elif token.type == "tr_open":
            if before == "thead_open":
                head = token
            elif head is not None:
                yield _row_block(text, lines, tokens, at, head, template("row"))
                follows_heading = False
        elif token.type in _CODE and token.map is not None:
            is_data = _is_data(token) and not marks
            group += not marks and (is_data or before != "paragraph_close")
            if is_data:
                body = map_to_source(token.content, text, lines[token.map[0] + 1 : token.map[1]])
                passage = template("prose")
            else:
                body, written = _code_block(text, lines, token)
                passage = template("code", depth=len(marks), markdown=written)
            yield MarkdownBlock(
                body, passage, follows_heading=follows_heading, title=[EMPTY_TEXT, *titles][-1]
            )
            follows_heading = False
        elif token.type == "inline" and before == "paragraph_open" and token.map:
            below = (one.type for one in tokens[at + 2 :] if one.type != "html_block")
            next_type = next(below, "")  # whatever box it stands in
            body = map_to_source(token.content, text, lines[token.map[0] : token.map[1]])
            title = [EMPTY_TEXT, *titles][-1]
            if _is_callout_title(tokens, at):
                titles[-1] = body.part(0, len(body.text))
                if not _NUMBER.search(body.text):
                    continue
            is_item_start = at > 1 and tokens[at - 2].type == "list_item_open"
            kind: PassageKind = "item" if marks else "prose"
            passage = template(kind, depth=len(marks), mark=marks[-1] if is_item_start else "")
            block_id = _BLOCK_ID.search(body.text)
            body = body.part(0, block_id.start() if block_id else len(body.text))
            if body.text:
                introduces, before_code = next_type in (*_LISTS, *_CODE), next_type in _CODE
                yield MarkdownBlock(
                    body, passage, introduces, before_code, follows_heading=follows_heading, title=title
                )
                follows_heading = False


def _is_data(token: Token) -> bool:
    """Whether at least half of the lines of a fence are `key: value`, and it is no program or view."""
    lines = [line for line in token.content.splitlines() if line.strip()]
    opens = f"{token.markup}{token.info}"
    fields = sum(_FIELD.fullmatch(line) is not None for line in lines)
    other = not token.markup or _PROGRAM.match(opens) or VIEW_FENCE.match(opens)
    return len(lines) > 1 and 2 * fields >= len(lines) and not other


def _code_block(text: str, lines: Sequence[Range], token: Token) -> tuple[MappedText, str]:
    """A block of code, and how it is shown: between fences; of a long one its beginning."""
    first, end = token.map or [0, 0]
    first += bool(token.markup)
    content = token.content.removesuffix("\n").split("\n")
    shown = content[:MAX_CODE_LINES]
    body = map_to_source("\n".join(shown), text, lines[first : first + len(shown)], code=True)
    # A fence that is not closed goes on behind the end of the source.
    is_open = token.markup and end - first == len(content)
    rest = CODE_GOES_ON if is_open or len(content) > len(shown) else "\n"
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
        and len(_TOKEN.findall(text)) < MIN_CALLOUT_TEXT_WORDS
        and not text.endswith(END_MARKS)
        and not tokens[at + 3].content.startswith(ATTRIBUTION_DASHES)
    )


def _row_block(
    text: str, lines: Sequence[Range], tokens: Sequence[Token], at: int, head: Token, shape: Passage
) -> MarkdownBlock:
    """The row that begins at a token, with the head of its table."""
    first = (head.map or [0])[0]
    row_line = (tokens[at].map or [0])[0]
    frame = "\n".join(text[slice(*_strip_quote_marks(text, lines[number]))] for number in (first, first + 1))
    place = _strip_quote_marks(text, lines[row_line])
    return MarkdownBlock(
        _cell_text(text, lines[row_line], tokens, at),
        replace(shape, markdown=_SPLIT_LINK.sub(r"\1", text[slice(*place)]), table_head=frame),
        head=_cell_text(text, lines[first], tokens, tokens.index(head)),
        row_ranges=(place,),
    )


_SPLIT_LINK = re.compile(r"\[\[[^\[\]|\n]+\|([^\[\]|\n]+)\]\]")
"""A link with a name whose bar, without a backslash, parts the cell that it stands in."""


def _strip_quote_marks(text: str, line: Range) -> Range:
    """A line of a table without the marks of the quote it stands in."""
    written = text[slice(*line)]
    bare = written.lstrip("> \t")
    start = line[0] + len(written) - len(bare)
    return start, start + len(bare.rstrip())


def _cell_text(source: str, line: Range, tokens: Sequence[Token], at: int) -> MappedText:
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
    return MappedText(text, origins)
