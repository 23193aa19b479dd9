"""Which stretches of a note are text, and where they stand. Pure.

markdown-it's tokens know lines only, so its block state is extended to note the exact offsets while
they are known: behind quote marks, list bullets and the pipes of a table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

Piece = tuple[int, int]
"""A stretch of one line, as offsets into the note."""


@dataclass(slots=True)
class TextBlock:
    """A stretch of inline Markdown. ``parts`` are parsed apart: the cells of a row, else one.

    The pieces of a part are its lines, without what belongs to quotes and lists around it.
    ``item`` is the offset of the bullet if this is the first text of a list item.
    """

    kind: Literal["paragraph", "heading", "row", "comment"]
    parts: list[list[Piece]]
    item: int | None = None


@dataclass(slots=True)
class HeadingBlock:
    """A heading outside quotes and lists."""

    level: int
    start: int
    end: int
    block: TextBlock


@dataclass(slots=True)
class IdBlock:
    """A line that holds only ``^id``, and the block above it that it names."""

    id: str
    start: int
    end: int
    target: Piece


@dataclass(slots=True)
class Layout:
    """What the lines of a note are. Offsets are those of the note; all lists are in its order.

    ``hidden`` are stretches that no reader sees: comments and reference definitions. ``titles`` are
    those between the title of a callout and the text on the line below: a line end and the marks of
    that line. ``html`` are HTML blocks. ``references`` maps normalised labels to destinations.
    ``too_deep`` is the offset of the first line that was nested too deeply to be told apart.
    """

    texts: list[TextBlock] = field(default_factory=list)
    headings: list[HeadingBlock] = field(default_factory=list)
    ids: list[IdBlock] = field(default_factory=list)
    hidden: list[Piece] = field(default_factory=list)
    titles: list[Piece] = field(default_factory=list)
    html: list[Piece] = field(default_factory=list)
    references: dict[str, str] = field(default_factory=dict)
    too_deep: int | None = None


class PlacedState(StateBlock):
    """Adds to markdown-it's state the places of what it finds."""

    def __init__(self, src: str, grammar: MarkdownIt) -> None:
        super().__init__(src, grammar, {}, [])
        self.layout = Layout()
        self.quotes = 0  # how many quotes the current line stands in
        self._starts = list(self.bMarks)
        self._ends = list(self.eMarks)
        self._row = Token("", "", 0)
        self._row_line = -1
        self._item: int | None = None
        self._html: list[Token] = []
        self._last: dict[int, Token] = {}  # the last block of each depth, for an id after it

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        token = super().push(ttype, tag, nesting)
        if ttype == "inline":
            self._text()
        elif nesting >= 0:
            self._last[token.level] = token
            self._last.pop(token.level + 1, None)
        if ttype == "tr_open":
            self._row = token
        elif ttype == "list_item_open":
            self._item = self.text_start(self.line)
        elif ttype == "html_block":
            self._html.append(token)
        return token

    def say_too_deep(self, line: int) -> None:
        """Note that from this line on something was nested too deeply to be told apart."""
        if self.layout.too_deep is None:
            self.layout.too_deep = self.text_start(line)

    def text_start(self, line: int) -> int:
        """Offset of the first character of a line behind the quotes and bullets it stands in."""
        return self.bMarks[line] + self.tShift[line]

    def block_before(self) -> Piece | None:
        """Span of the block before the current line at the same depth; None if a heading."""
        token = self._last.get(self.level)
        if token is None or token.type == "heading_open" or token.map is None:
            return None
        if token.type == "block_id":
            named: Piece | None = token.meta.get("target")
            return named
        first, end = token.map
        while end > first + 1 and self.isEmpty(end - 1):
            end -= 1
        return self.text_start(first), self.eMarks[end - 1]

    def finish(self) -> Layout:
        """Add what is known only when all lines are read."""
        layout = self.layout
        for token in self._html:
            layout.html.append(self._whole(token.map or [0, 1]))
        definitions = self.env.get("references", {})
        layout.references = {label: found["href"] for label, found in definitions.items()}
        for found in [*definitions.values(), *self.env.get("duplicate_refs", [])]:
            layout.hidden.append(self._whole(found["map"]))
        layout.hidden.sort()
        return layout

    def _whole(self, lines: list[int]) -> Piece:
        return self._starts[lines[0]], self._ends[max(lines[1] - 1, lines[0])]

    def _text(self) -> None:
        """Note the text whose token was just pushed; the token before it says what it stands in."""
        opening = self.tokens[-2]
        item, self._item = self._item, None
        if len(self.tokens) < 3 or self.tokens[-3].type != "list_item_open":
            item = None
        if opening.type in ("th_open", "td_open"):
            self._cells()
        elif opening.type == "heading_open":
            self._heading(opening, item)
        else:
            first, end = opening.map or [self.line, self.line + 1]
            self._paragraph(self._pieces(first, end), item)

    def _heading(self, opening: Token, item: int | None) -> None:
        first, end = opening.map or [self.line, self.line + 1]
        if opening.markup.startswith("#"):
            start = self.text_start(first) + len(opening.markup)
            pieces = [_without_closing_marks(self.src, start, self.eMarks[first])]
        else:
            pieces = self._pieces(first, end - 1)
        block = TextBlock("heading", [pieces], item)
        self.layout.texts.append(block)
        if opening.level == 0:
            span = self.text_start(first), self.eMarks[end - 1]
            self.layout.headings.append(HeadingBlock(int(opening.tag[1:]), *span, block))

    def _paragraph(self, pieces: list[Piece], item: int | None) -> None:
        texts = self.layout.texts
        if len(self.tokens) > 2 and self.tokens[-3].type == "blockquote_open":
            start, end = pieces[0]
            if title := _CALLOUT.match(self.src, start, end):
                self.layout.hidden.append(title.span())
                texts.append(TextBlock("paragraph", [[(title.end(), end)]]))
                pieces = pieces[1:]
                if pieces and self.src[title.end() : end].strip():
                    self.layout.titles.append((end, pieces[0][0]))
        if pieces:
            texts.append(TextBlock("paragraph", [pieces], item))

    def _pieces(self, first: int, end: int) -> list[Piece]:
        pieces = [(self.text_start(line), self.eMarks[line]) for line in range(first, end)]
        start, last = pieces[-1]
        pieces[-1] = start, start + len(self.src[start:last].rstrip(" \t"))
        return pieces

    def _cells(self) -> None:
        line = (self._row.map or [self.line])[0]
        if line != self._row_line:  # once a row, at its first cell
            self._row_line = line
            cells = _split_row(self.src, self.text_start(line), self.eMarks[line])
            self.layout.texts.append(TextBlock("row", [[cell] for cell in cells]))


_CALLOUT = re.compile(r"\[![^\]\n]+\][-+]?[ \t]*")


def _without_closing_marks(src: str, start: int, end: int) -> Piece:
    start, end = _trim(src, start, end)
    body = src[start:end].rstrip("#")
    if not body or body[-1] in " \t":
        end = start + len(body.rstrip(" \t"))
    return start, end


def _split_row(src: str, start: int, end: int) -> list[Piece]:
    """Spans of the cells of a table row, without blanks around them; ``\\|`` parts no cells."""
    start, end = _trim(src, start, end)
    cells: list[Piece] = []
    cell = at = start
    while (at := src.find("|", at, end)) >= 0:
        if at == start or src[at - 1] != "\\":
            cells.append((cell, at))
            cell = at + 1
        at += 1
    cells.append((cell, end))
    if cells[0] == (start, start):
        cells = cells[1:]
    if cells and cells[-1] == (end, end):
        cells = cells[:-1]
    return [_trim(src, *piece) for piece in cells]


def _trim(src: str, start: int, end: int) -> Piece:
    inner = src[start:end]
    start += len(inner) - len(inner.lstrip(" \t"))
    return start, start + len(inner.strip(" \t"))
