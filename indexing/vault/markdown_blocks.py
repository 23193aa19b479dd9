"""The grammar of lines. Pure.

Beside the rules of markdown-it and its plugins ours are ``%%`` and ``$$`` blocks, block ids, an end to
nesting, and a state that records where each line of a block stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote, paragraph, reference
from markdown_it.token import Token
from mdit_py_plugins.footnote.index import footnote_def

from notehop.indexing.vault.model import Block
from notehop.indexing.vault.plain import MORE, WRAP_COLUMN

# Code of site generators (Liquid, Jinja, Hugo, attributes of Kramdown) and of templates in the app.
_TEMPLATE = (
    r"(?:\{%(?:(?!%\})[^`]){1,500}%\}|\{\{(?:(?!\}\})[^`]){1,500}\}\}|<%(?:(?!%>)[^`]){1,500}%>"
    r"|\{:[^{}`\n]{1,500}\})"
)
TEMPLATE_LINE = re.compile(rf"^[ \t]*(?:{_TEMPLATE}[ \t]*)+$", re.MULTILINE)
_INCLUDED = re.compile(r"\s*(?:\{%-?\s*include\b[^{}%]*%\}\s*)+")

Piece = tuple[int, int]  # a stretch of one line, as offsets into the note
MAX_DEPTH = 40  # blocks in blocks (a list counts twice); each costs stack, deeper is plain text

_CALLOUT = re.compile(r"\[![^\]\n]+\][-+]?[ \t]*")
_ID = re.compile(r"\^([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)
_BAR = re.compile(r"(?<!\\)\|")


@dataclass(slots=True)
class TextBlock:
    """A stretch of inline Markdown. ``parts`` are parsed apart: the cells of a row, else one. The pieces
    of a part are its lines, without what belongs to quotes and lists around it.

    ``item`` is the offset of the bullet if this is the first text of a list item. A heading outside
    quotes and lists has a ``level`` and a ``span``, its marks included.
    """

    kind: Literal["paragraph", "heading", "row", "comment"]
    parts: list[list[Piece]]
    item: int | None = None
    level: int = 0
    span: Piece = (0, 0)


class PlacedState(StateBlock):
    """markdown-it's state of a note, which notes the places of what it finds, in order of the note.

    ``hidden`` are stretches that no reader sees: comments, reference definitions, lines of block
    ids. ``seams`` lie between what a reader sees apart and CommonMark reads as one: the title of a
    callout and the text below, a list or table and a line behind it. Each is a line end and marks.
    ``blocks`` are those that a line of ``^id`` names. ``references`` maps normalised labels to
    destinations.
    """

    texts: list[TextBlock]
    blocks: list[Block]
    hidden: list[Piece]
    seams: list[Piece]
    html: list[Piece]
    references: dict[str, str]

    def __init__(self, text: str) -> None:
        super().__init__(text, _GRAMMAR, {}, [])
        self._starts, self._ends = list(self.bMarks), list(self.eMarks)
        self._last: dict[int, Token] = {}  # the last block of each depth, for an id after it

    def read(self, first: int, end: int) -> None:
        """Parse some lines, from 0, as a text of their own; ``end`` is the line after the last."""
        self.texts, self.blocks, self.hidden, self.seams = [], [], [], []
        self.env, self._last = {}, {}
        self.lineMax = min(end, len(self._starts) - 1)
        begun = len(self.tokens)
        _GRAMMAR.block.tokenize(self, min(first, self.lineMax), self.lineMax)
        read = [(token, self._whole(token.map or [0, 1])) for token in self.tokens[begun:]]
        self.html = [span for token, span in read if token.type == "html_block"]
        # What a site generator puts in the place of such a block stands in no note.
        self.hidden += [
            span
            for token, span in read
            if token.type == "fence" and not (token.level or token.info.strip())
            if _INCLUDED.fullmatch(token.content)
        ]
        defined = self.env.get("references", {})
        self.references = {label: found["href"] for label, found in defined.items()}
        defining = (*defined.values(), *self.env.get("duplicate_refs", []))
        self.hidden += [self._whole(found["map"]) for found in defining]

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        token = super().push(ttype, tag, nesting)
        if ttype == "inline":
            self._text()
        elif nesting >= 0:
            self._last[token.level] = token
            self._last.pop(token.level + 1, None)
        if ttype == "list_item_open":
            token.meta["start"] = self.text_start(self.line)
        return token

    def text_start(self, line: int) -> int:
        """Offset of the first character of a line behind the quotes and bullets it stands in."""
        return self.bMarks[line] + self.tShift[line]

    def block_before(self) -> list[int] | None:
        """The lines of the block before the current one at the same depth; None if a heading."""
        token = self._last.get(self.level)
        if token is None or token.type == "heading_open" or token.map is None:
            return None
        first, end = token.map
        while end > first + 1 and self.isEmpty(end - 1):
            end -= 1
        return [first, end]

    def _whole(self, lines: list[int]) -> Piece:
        return self._starts[lines[0]], self._ends[max(lines[1] - 1, lines[0])]

    def _text(self) -> None:
        """Note the text whose token was just pushed; those before it say what it stands in."""
        opening = self.tokens[-2]
        around = self.tokens[-3] if len(self.tokens) > 2 else Token("", "", 0)
        first, end = opening.map or [self.line, self.line + 1]
        item = around.meta.get("start")
        if opening.type in ("th_open", "td_open"):
            if around.type == "tr_open":  # once a row, at its first cell
                line = (around.map or [self.line])[0]
                row = _trim(self.src, self.text_start(line), self.eMarks[line])
                if _BAR.search(self.src, *row):
                    self.texts.append(TextBlock("row", [[cell] for cell in _cells(self.src, *row)]))
                else:
                    self.seams.append((self.eMarks[line - 1], row[0]))
                    self.texts.append(TextBlock("paragraph", [[row]]))
        elif opening.type == "heading_open":
            if opening.markup.startswith("#"):
                at = self.text_start(first) + len(opening.markup)
                at, last = _trim(self.src, at, self.eMarks[first])
                body = self.src[at:last].rstrip("#")
                if not body or body[-1] in " \t":  # closing marks
                    last = at + len(body.rstrip(" \t"))
                pieces = [(at, last)]
            else:
                pieces = self._pieces(first, end - 1)
            block = TextBlock("heading", [pieces], item)
            if opening.level == 0:
                block.level = int(opening.tag[1:])
                block.span = self.text_start(first), self.eMarks[end - 1]
            self.texts.append(block)
        else:
            pieces = self._pieces(first, end)
            behind: list[TextBlock] = []
            at, last = pieces[0]
            if around.type == "blockquote_open" and (title := _CALLOUT.match(self.src, at, last)):
                self.hidden.append(title.span())
                self.texts.append(TextBlock("paragraph", [[(title.end(), last)]]))
                if len(pieces) > 1 and self.src[title.end() : last].strip():
                    self.seams.append((last, pieces[1][0]))
                pieces, first = pieces[1:], first + 1
            # A line behind a list that is not indented as its item is part of it where an editor wrapped it.
            for at in range(len(pieces) - 1, 0, -1):
                outside = 0 <= self.sCount[first + at] < self.blkIndent
                if outside and not is_wrapped(self.src, pieces[at - 1], pieces[at]):
                    self.seams.append((pieces[at - 1][1], pieces[at][0]))
                    behind.insert(0, TextBlock("paragraph", [pieces[at:]]))
                    pieces = pieces[:at]
            if pieces:
                self.texts.append(TextBlock("paragraph", [pieces], item))
            self.texts += behind

    def _pieces(self, first: int, end: int) -> list[Piece]:
        pieces = [(self.text_start(line), self.eMarks[line]) for line in range(first, end)]
        start, last = pieces[-1]
        pieces[-1] = start, start + len(self.src[start:last].rstrip(" \t"))
        return pieces


def is_wrapped(src: str, line: Piece, following: Piece) -> bool:
    """Whether a line of a paragraph ends where the first word of the next would not have fitted."""
    blank = src.find(" ", *following)
    word = (blank if blank >= 0 else following[1]) - following[0]
    return line[1] - line[0] + 1 + word > WRAP_COLUMN


def _cells(src: str, start: int, end: int) -> list[Piece]:
    """The cells of a table row, without blanks around them; ``\\|`` parts no cells."""
    bars = [bar.start() for bar in _BAR.finditer(src, start, end)]
    cells = zip([start, *(bar + 1 for bar in bars)], [*bars, end], strict=True)
    # Outer bars close none.
    return [_trim(src, *cell) for cell in cells if cell not in ((start, start), (end, end))]


def _trim(src: str, start: int, end: int) -> Piece:
    inner = src[start:end]
    start += len(inner) - len(inner.lstrip(" \t"))
    return start, start + len(inner.strip(" \t"))


def _too_deep(state: PlacedState, start: int, end: int, _silent: bool) -> bool:
    """Take anything as a paragraph below the deepest level: nothing is lost but its structure."""
    return state.level >= MAX_DEPTH and paragraph(state, start, end, False)


def block_end(state: StateBlock, start: int, end: int, mark: str) -> tuple[int, int] | None:
    """Where a block ends that a line begins with ``mark``: the line that holds it again, and its offset.

    None where none begins; both marks on one line are left to the inline rule, and one without a
    closing mark is text.
    """
    at = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith(mark, at) or state.is_code_block(start):
        return None
    if state.src.find(mark, at + len(mark), state.eMarks[start]) >= 0:
        return None
    for line in range(start + 1, end):
        if state.sCount[line] < state.blkIndent and not state.isEmpty(line):
            return None
        close = state.src.find(mark, state.bMarks[line] + state.tShift[line], state.eMarks[line])
        if close >= 0:
            return line, close
    return None


def _block(state: PlacedState, start: int, end: int, silent: bool, mark: str) -> bool:
    """A block between marks; what stands behind the closing one is read as a line of its own."""
    found = block_end(state, start, end, mark)
    if found is None or silent:
        return found is not None
    line, close = found
    after = close + len(mark)
    state.push(mark, "", 0).map = [start, line + 1]
    if mark == "%%":
        at = state.text_start(start)
        state.hidden.append((at, after))
        pieces = [(at + len(mark), state.eMarks[start])]
        pieces += [(state.text_start(n), state.eMarks[n]) for n in range(start + 1, line)]
        pieces.append((state.text_start(line), close))
        state.texts.append(TextBlock("comment", [[p for p in pieces if p[0] <= p[1]]]))
    state.line = line + 1
    rest = state.src[after : state.eMarks[line]]
    if rest.strip(" \t"):
        state.line = line
        state.bMarks[line] = after
        state.tShift[line] = len(rest) - len(rest.lstrip(" \t"))
        state.sCount[line] = state.blkIndent
    return True


def _block_id(state: PlacedState, start: int, _end: int, silent: bool) -> bool:
    """A line that is wholly ``^id``; it ends the list, quote, table or paragraph that it names."""
    at = state.text_start(start)
    found = _ID.match(state.src, at, state.eMarks[start])
    if not found or state.is_code_block(start):
        return False
    if silent:
        return True
    first, end = state.block_before() or (start, start + 1)
    state.push("block_id", "", 0).map = [first, end]  # so that an id below names the same
    state.blocks.append(Block(found[1], first + 1, end))
    state.hidden.append((at, state.eMarks[start]))
    state.line = start + 1
    return True


def _reference(state: PlacedState, start: int, end: int, silent: bool) -> bool:
    """A definition ``[label]: destination``; ``[^1]: …`` is a footnote, never one."""
    footnote = state.src.startswith("[^", state.text_start(start))
    return not footnote and reference(state, start, end, silent)


_MORE_THAN = re.compile(f">{MORE}")


def with_more_than(md: MarkdownIt) -> MarkdownIt:
    """Let ``>`` before a number be text: "more than". Only in a quote of several lines it is a mark."""
    options = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    md.block.ruler.at("blockquote", _quote, options)  # type: ignore[arg-type]
    return md


def _quote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    beside = range(max(start - 1, 0), min(start + 2, end))
    begins = {line: state.bMarks[line] + state.tShift[line] for line in beside}
    marked = {line for line in beside if state.src.startswith(">", begins[line])}
    more = {line for line in marked if _MORE_THAN.match(state.src, begins[line])}
    if start in more and marked == more:
        return False
    return blockquote(state, start, end, silent)


def _grammar() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": True, "maxNesting": MAX_DEPTH + 10})
    # Destinations are rewritten for browsers.
    md.normalizeLink = lambda url: url  # type: ignore[method-assign]
    md.validateLink = lambda url: True  # type: ignore[method-assign] # noqa: ARG005
    md.enable("table")
    ruler = md.block.ruler
    interrupts = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    ruler.at("reference", _reference)  # type: ignore[arg-type]
    ruler.before("table", "too_deep", _too_deep)  # type: ignore[arg-type]
    ruler.before("fence", "comment", partial(_block, mark="%%"), interrupts)  # type: ignore[arg-type]
    ruler.before("fence", "math", partial(_block, mark="$$"), interrupts)  # type: ignore[arg-type]
    ruler.before("reference", "footnote", footnote_def, {"alt": ["paragraph", "reference"]})
    ruler.before("heading", "block_id", _block_id, interrupts)  # type: ignore[arg-type]
    return md


_GRAMMAR = _grammar()
