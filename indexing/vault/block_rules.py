"""The grammar of lines: markdown-it's block rules with those of the app beside them. Pure.

GFM tables and footnotes come with markdown-it and its plugins; ours are ``%%`` and ``$$`` blocks,
block ids, and an end to nesting.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote, paragraph, reference
from mdit_py_plugins.footnote.index import footnote_def

from notehop.indexing.vault.block_state import IdBlock, Layout, PlacedState, TextBlock

MAX_DEPTH = 40  # blocks in blocks (a list counts twice); each costs stack, deeper is plain text
MAX_QUOTES = 10  # quotes in quotes; each reads all its lines again


def lay_out(text: str, first_line: int) -> Layout:
    """Parse the lines of a note from ``first_line`` (counted from 0) to its end."""
    state = PlacedState(text, _GRAMMAR)
    _GRAMMAR.block.tokenize(state, min(first_line, state.lineMax), state.lineMax)
    return state.finish()


def _too_deep(state: PlacedState, start: int, end: int, _silent: bool) -> bool:
    """Take anything as a paragraph below the deepest level: nothing is lost but its structure."""
    if state.level < MAX_DEPTH:
        return False
    state.say_too_deep(start)
    return paragraph(state, start, end, False)


def _quote(state: PlacedState, start: int, end: int, silent: bool) -> bool:
    """A quote, unless it stands in too many: then its marks are text."""
    if state.quotes < MAX_QUOTES:
        state.quotes += 1
        found = blockquote(state, start, end, silent)
        state.quotes -= 1
        return found
    if not silent and state.src.startswith(">", state.text_start(start)):
        state.say_too_deep(start)
    return False


def _block(state: PlacedState, start: int, end: int, silent: bool, mark: str, kind: str) -> bool:
    """A block from a line that starts with ``mark`` to the next line that holds it again.

    Both marks on one line are left to the inline rule; what stands behind the closing mark is read
    as a line of its own; without a closing mark it is text.
    """
    at = state.text_start(start)
    if not state.src.startswith(mark, at) or state.is_code_block(start):
        return False
    if state.src.find(mark, at + len(mark), state.eMarks[start]) >= 0:
        return False
    close, line = -1, start
    while close < 0:
        line += 1
        if line >= end or (state.sCount[line] < state.blkIndent and not state.isEmpty(line)):
            return False
        close = state.src.find(mark, state.text_start(line), state.eMarks[line])
    if silent:
        return True
    after = close + len(mark)
    token = state.push(kind, "", 0)
    token.map = [start, line + 1]
    if kind == "comment":
        state.layout.hidden.append((at, after))
        pieces = [(at + len(mark), state.eMarks[start])]
        pieces += [(state.text_start(n), state.eMarks[n]) for n in range(start + 1, line)]
        pieces.append((state.text_start(line), close))
        state.layout.texts.append(TextBlock("comment", [[p for p in pieces if p[0] <= p[1]]]))
    state.line = line + 1
    rest = state.src[after : state.eMarks[line]]
    if rest.strip(" \t"):
        state.line = line
        state.bMarks[line] = after
        state.tShift[line] = len(rest) - len(rest.lstrip(" \t"))
        state.sCount[line] = state.blkIndent
    return True


def _comment(state: PlacedState, start: int, end: int, silent: bool) -> bool:
    return _block(state, start, end, silent, "%%", "comment")


def _math(state: PlacedState, start: int, end: int, silent: bool) -> bool:
    return _block(state, start, end, silent, "$$", "math")


_ID = re.compile(r"\^([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)


def _block_id(state: PlacedState, start: int, _end: int, silent: bool) -> bool:
    """A line that is wholly ``^id``; it ends the list, quote, table or paragraph that it names."""
    at = state.text_start(start)
    found = _ID.match(state.src, at, state.eMarks[start])
    if not found or state.is_code_block(start):
        return False
    if silent:
        return True
    target = state.block_before() or (at, found.end())
    token = state.push("block_id", "", 0)
    token.map = [start, start + 1]
    token.meta = {"target": target}
    state.layout.ids.append(IdBlock(found[1], at, state.eMarks[start], target))
    state.line = start + 1
    return True


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A definition ``[label]: destination``; ``[^1]: …`` is a footnote, never one."""
    at = state.bMarks[start] + state.tShift[start]
    return not state.src.startswith("[^", at) and reference(state, start, end, silent)


class _Markdown(MarkdownIt):
    """markdown-it without the rewriting of destinations, which is for browsers."""

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url

    def validateLink(self, url: str) -> bool:  # noqa: N802, ARG002
        return True


def _grammar() -> MarkdownIt:
    md = _Markdown("commonmark", {"html": True, "maxNesting": MAX_DEPTH + 10})
    md.enable("table")
    ruler = md.block.ruler
    interrupts = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    ruler.at("reference", _reference)
    ruler.at("blockquote", _quote, interrupts)  # type: ignore[arg-type]
    ruler.before("table", "too_deep", _too_deep)  # type: ignore[arg-type]
    ruler.before("fence", "comment", _comment, interrupts)  # type: ignore[arg-type]
    ruler.before("fence", "math", _math, interrupts)  # type: ignore[arg-type]
    ruler.before("reference", "footnote", footnote_def, {"alt": ["paragraph", "reference"]})
    ruler.before("heading", "block_id", _block_id, interrupts)  # type: ignore[arg-type]
    return md


_GRAMMAR = _grammar()
