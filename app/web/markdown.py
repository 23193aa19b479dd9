"""Markdown as the app writes it, as HTML: wikilinks, tags, highlights, comments; callouts, tasks, block
ids. Pure.

Raw HTML is text and images are their alternative text: nothing in a note makes the page load
anything. What a link means is asked of the surroundings of the text. Blocks of a note carry the lines
that they stand in (``data-line``, ``data-end``), so that the page can show what a source cites.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.footnote.index import footnote_inline, footnote_ref
from mdit_py_plugins.front_matter import front_matter_plugin

from notehop.indexing.vault.markdown_blocks import block_end, with_more_than
from notehop.indexing.vault.plain import LinkText, read_destination, read_wikilink, words
from notehop.indexing.vault.properties import TAG_CHARACTERS, is_tag


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


_TOP, _LOWEST = 3, 6
"""Levels of headings that the outermost and innermost ones of a note get: above are the page's."""


def _comment_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    found = block_end(state, start, end, "%%")
    if found is not None and not silent:
        state.line = found[0] + 1
    return found is not None


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


def _tasks(state: StateCore) -> None:
    """``- [x] paid`` is an item with a box before it; any mark in it but a blank ticks it, as in the app."""
    for item, paragraph, token in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        kinds = f"{item.type} {paragraph.type} {token.type}"
        found = _TASK.match(token.content)
        if found and kinds == "list_item_open paragraph_open inline":
            token.content = f"{'☐' if found[1] == ' ' else '☑'} {token.content[found.end() :]}"
            item.attrs = {"class": "task"}


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
        if state.env["in"].first_line is not None:
            named.attrSet("id", f"b-{found[1].lower()}")


def _headings(state: StateCore) -> None:
    """Put the headings of a note below its title; in a piece of a note they are paragraphs."""
    headings = [token for token in state.tokens if token.type.startswith("heading_")]
    up = min((int(token.tag[1:]) for token in headings), default=1)
    whole = state.env["in"].first_line is not None
    for token in headings:
        level = min(int(token.tag[1:]) - up + _TOP, _LOWEST)
        token.tag = f"h{level}" if whole else "p"
        if not whole and token.nesting > 0:
            token.attrs = {"class": "heading"}


def _lines(state: StateCore) -> None:
    first = state.env["in"].first_line
    if first is None:
        return
    for token in state.tokens:
        if token.map and token.nesting >= 0 and token.type != "inline":
            token.attrSet("data-line", str(first + token.map[0]))
            token.attrSet("data-end", str(first + token.map[1] - 1))


MAX_NESTING = 40  # blocks in blocks; deeper ones are left out, as each costs stack
_LONGEST_LINK = 1_000  # characters searched for the end of a wikilink: unclosed ones cost no time
_BRACKETS = 4
"""Brackets in brackets that a link may hold: each that stays open looks at as many after it."""

Rule = Callable[[StateInline, bool], bool]


def render(text: str, surroundings: Surroundings) -> str:
    """The HTML of a text, not sanitised."""
    return str(_GRAMMAR.render(text, {"in": surroundings}))


def _link(href: str | None, kind: str) -> dict[str, str | int | float]:
    return {"class": f"{kind} unresolved"} if href is None else {"class": kind, "href": href}


Linked = tuple[str | None, str, str]
"""Where a piece of text leads, None for nowhere; what it shows, and its class."""


def _wikilink(inside: Surroundings, found: re.Match[str]) -> Linked | None:
    parts, embed = read_wikilink(found[2]), bool(found[1])
    if parts is None:
        return None
    shown = words(parts, embed=embed) or parts.target or parts.fragment or ""
    return inside.href(parts), shown, "embed" if embed else "wikilink"


def _tag(_: Surroundings, found: re.Match[str]) -> Linked | None:
    search = f"#/search?q={quote(f'tag:{found[1]}', safe='')}"
    return (search, found[0], "tag") if is_tag(found[1]) else None


def _marker(inside: Surroundings, found: re.Match[str]) -> Linked | None:
    return (f"#cite-{found[1]}", found[1], "cite") if inside.markers else None


_LINKS = {
    "wikilink": (r"(!?)\[\[((?:(?!\[\[|\]\])[^\n]){0,1000})\]\]", _wikilink),
    "marker": (r"\[(C?\d{1,3})\](?!\()", _marker),
    "tag": (rf"(?<![^\s*_~])#({TAG_CHARACTERS}+)", _tag),
}
"""What is a link beside those of Markdown: unclosed ones cost no time."""


def _linking(pattern: str, read: Callable[[Surroundings, re.Match[str]], Linked | None]) -> Rule:
    begins = re.compile(pattern)

    def find(state: StateInline, silent: bool) -> bool:
        found = begins.match(state.src, state.pos, state.posMax)
        linked = read(state.env["in"], found) if found else None
        if found is None or linked is None:
            return False
        if not silent:
            href, shown, kind = linked
            tag = "span" if href is None else "a"
            state.push("wikilink_open", tag, 1).attrs = _link(href, kind)
            state.push("text", "", 0).content = shown
            state.push("wikilink_close", tag, -1)
        state.pos = found.end()
        return True

    return find


def _shallow(rule: Rule) -> Rule:
    """A rule that reads what stands in brackets, given up where they lie too deep in others."""

    def find(state: StateInline, silent: bool) -> bool:
        if not silent or state.level <= _BRACKETS:
            return rule(state, silent)
        if state.src[state.pos] not in "[!^":
            return False
        state.pos = state.posMax
        return True

    return find


def _footnote_ref(state: StateInline, silent: bool) -> bool:
    """``[^name]``, where it ends at all: the rule itself looks through the rest of its text."""
    if not state.src.startswith("[^", state.pos):
        return False
    end = min(state.posMax, state.pos + _LONGEST_LINK)
    return state.src.find("]", state.pos, end) >= 0 and footnote_ref(state, silent)


_HIGHLIGHT = re.compile(r"==((?:(?!==)[\s\S]){1,10000})==")
_COMMENT = re.compile(r"%%(?:(?!%%)[\s\S]){0,10000}%%")


def _highlight(state: StateInline, silent: bool) -> bool:
    found = _HIGHLIGHT.match(state.src, state.pos, state.posMax)
    if found is None or not found[1].strip():
        return False
    if not silent:
        last = state.posMax
        state.push("highlight_open", "mark", 1).attrs = {"class": "hl"}
        state.pos, state.posMax = found.span(1)
        state.md.inline.tokenize(state)
        state.push("highlight_close", "mark", -1)
        state.posMax = last
    state.pos = found.end()
    return True


def _comment(state: StateInline, _silent: bool) -> bool:
    found = _COMMENT.match(state.src, state.pos, state.posMax)
    state.pos = found.end() if found else state.pos
    return found is not None


def _image(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    alternative = self.renderInlineAsText(tokens[at].children or [], options, env)
    return f'<span class="image">{escapeHtml(alternative)}</span>' if alternative else ""


def _opening(self: RendererHTML, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    destination = str(tokens[at].attrs.get("href", ""))
    parts = read_destination(destination, None)
    if parts is not None:
        tokens[at].attrs = _link(env["in"].href(parts), "wikilink")
    else:
        tokens[at].attrs = {**_link(destination, "external"), "target": "_blank"}
    return str(self.renderToken(tokens, at, options, env))


def _grammar() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING, "breaks": True})
    md.enable(["table", "strikethrough"])
    md.use(front_matter_plugin).use(footnote_plugin)
    md.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    interrupts = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    md.block.ruler.before("fence", "comment", _comment_block, interrupts)  # type: ignore[arg-type]
    core, inline = md.core.ruler, md.inline.ruler
    for of_blocks in (_lines, _headings, _ids, _tasks, _callouts):
        core.after("block", of_blocks.__name__, of_blocks)  # the last one comes first
    for name, how in _LINKS.items():
        inline.before("link", name, _linking(*how))
    for rule in (_highlight, _comment):
        inline.before("link", rule.__name__, rule)
    for name, known in (("link", link), ("image", image), ("footnote_inline", footnote_inline)):
        inline.at(name, _shallow(known))
    inline.at("footnote_ref", _footnote_ref)
    md.add_render_rule("image", _image)
    md.add_render_rule("link_open", _opening)
    return with_more_than(md)


_GRAMMAR = _grammar()
