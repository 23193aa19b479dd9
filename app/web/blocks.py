"""The blocks that the app adds to Markdown: callouts, tasks, block ids, comments; and what a text is
rendered in. Pure.

Blocks of a note carry the lines that they stand in (``data-line``, ``data-end``), so that the page
can show what a source cites.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType

from notehop.indexing.vault.link_text import LinkText

_KEY = "notehop"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a text is rendered in.

    ``href`` gives the address of what a link names, None for nothing. ``markers`` tells whether
    ``[1]`` and ``[C1]`` name sources. ``first_line`` is the line of the note that the text begins
    with; None is for a piece of a note, in which headings are no headings of the page.
    """

    href: Callable[[LinkText], str | None] = lambda _: None
    markers: bool = False
    first_line: int | None = None

    def env(self) -> EnvType:
        """The environment of a parse."""
        return {_KEY: self}


def surroundings_of(env: EnvType) -> Surroundings:
    """What :meth:`Surroundings.env` was made of."""
    found = env[_KEY]
    assert isinstance(found, Surroundings)
    return found


_TOP, _LOWEST = 3, 6
"""Levels of headings that the top_level and innermost ones of a note get: above are the page's."""


def add_blocks(md: MarkdownIt) -> None:
    """Teach a grammar the blocks."""
    interrupts = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    md.block.ruler.before("fence", "comment", _comment, interrupts)  # type: ignore[arg-type]
    core = md.core.ruler
    for rule in (_lines, _cells, _headings, _ids, _tasks, _callouts):
        core.after("block", rule.__name__, rule)  # the last one comes first
    core.after("inline", "boxes", _boxes)


def _comment(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """``%%`` to the next line that holds it again; both on one line are left to the inline rule."""
    at = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("%%", at) or state.is_code_block(start):
        return False
    if state.src.find("%%", at + 2, state.eMarks[start]) >= 0:
        return False
    close = state.src.find("%%", state.eMarks[start])
    line = start + 1
    while line < end and state.eMarks[line] < close:
        line += 1
    if close < 0 or line >= end:
        return False
    if not silent:
        state.line = line + 1
    return True


_CALLOUT = re.compile(r"\[!([A-Za-z][\w-]{0,40})(?:\|[^\]\n]*)?\][+-]?[ \t]*([^\n]*)(?:\n|$)")


def _callouts(state: StateCore) -> None:
    """``> [!warning] Title`` makes a quote a callout."""
    tokens: list[Token] = []
    for token in state.tokens:
        tokens.append(token)
        if token.type != "inline" or len(tokens) < 3:
            continue
        quote, paragraph = tokens[-3], tokens[-2]
        found = _CALLOUT.match(token.content)
        if not found or (quote.type, paragraph.type) != ("blockquote_open", "paragraph_open"):
            continue
        quote.attrs = {"class": "callout", "data-kind": found[1].lower()}
        paragraph.attrs = {"class": "callout-title"}
        rest = token.content[found.end() :]
        token.content = found[2].strip() or found[1].capitalize()
        if rest.strip():
            tokens += (
                Token("paragraph_close", "p", -1, block=True, level=paragraph.level),
                Token("paragraph_open", "p", 1, block=True, level=paragraph.level),
                Token("inline", "", 0, content=rest, children=[], level=token.level),
            )
    state.tokens = tokens


_TASK = re.compile(r"\[(.)\][ \t]+(?=\S)")
_TASKS = {"x": "done", "X": "done", " ": "open"}


def _tasks(state: StateCore) -> None:
    """``- [x] paid`` is an item with a box before it."""
    for item, paragraph, token in zip(
        state.tokens, state.tokens[1:], state.tokens[2:], strict=False
    ):
        if (item.type, paragraph.type, token.type) != (
            "list_item_open",
            "paragraph_open",
            "inline",
        ):
            continue
        found = _TASK.match(token.content)
        if found:
            token.content = token.content[found.end() :]
            token.meta = {"task": _TASKS.get(found[1], f"marked {found[1]}")}
            item.attrs = {"class": "task"}


def _boxes(state: StateCore) -> None:
    for token in state.tokens:
        task = token.meta.get("task") if token.meta else None
        if task and token.children is not None:
            kind = task if task in _TASKS.values() else "other"
            box = Token("box_open", "span", 1)
            box.attrs = {"class": f"box {kind}", "role": "img", "aria-label": task}
            token.children[:0] = [box, Token("box_close", "span", -1)]


_ID = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)[ \t]*$")


def _ids(state: StateCore) -> None:
    """``^id`` at the end of a block is no text: it names the block, or the one before it."""
    blocks: list[Token] = []
    for at, token in enumerate(state.tokens):
        if token.level == 0 and token.nesting >= 0:
            blocks.append(token)
        found = _ID.search(token.content) if token.type == "inline" else None
        if not found:
            continue
        token.content = token.content[: found.start()].rstrip()
        named = state.tokens[at - 1]
        if named.hidden:  # the paragraph of a short list item
            named = state.tokens[at - 2]
        if not token.content and named.level == 0 and len(blocks) > 1:
            named.hidden = state.tokens[at + 1].hidden = True
            named = blocks[-2]
        if surroundings_of(state.env).first_line is not None:
            named.attrSet("id", f"b-{found[1].lower()}")


def _headings(state: StateCore) -> None:
    """Put the headings of a note below its title; in a piece of a note they are paragraphs."""
    headings = [token for token in state.tokens if token.type.startswith("heading_")]
    up = min((int(token.tag[1:]) for token in headings), default=1)
    whole = surroundings_of(state.env).first_line is not None
    for token in headings:
        level = min(int(token.tag[1:]) - up + _TOP, _LOWEST)
        token.tag = f"h{level}" if whole else "p"
        if not whole and token.nesting > 0:
            token.attrs = {"class": "heading"}


def _cells(state: StateCore) -> None:
    """Say the alignment of a column by a class: the page allows no style in its text."""
    for token in state.tokens:
        style = str(token.attrs.pop("style", ""))
        if style.startswith("text-align:") and (way := style[11:]) in ("right", "center"):
            token.attrs["class"] = way


def _lines(state: StateCore) -> None:
    first = surroundings_of(state.env).first_line
    if first is None:
        return
    for token in state.tokens:
        if token.map and token.nesting >= 0 and token.type != "inline":
            token.attrSet("data-line", str(first + token.map[0]))
            token.attrSet("data-end", str(first + token.map[1] - 1))
