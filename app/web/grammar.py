"""Markdown as the app writes it, as HTML: wikilinks, tags, highlights, comments. Pure.

Raw HTML is text and images are their alternative text: nothing in a note makes the page load
anything. What a link means is asked of the surroundings of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.footnote.index import footnote_inline, footnote_ref
from mdit_py_plugins.front_matter import front_matter_plugin

from notehop.app.web.blocks import Surroundings, add_blocks, surroundings_of
from notehop.indexing.vault.link_text import read_destination, read_wikilink, words
from notehop.indexing.vault.properties import TAG_CHARACTERS, is_tag

MAX_NESTING = 40
"""Blocks in blocks; deeper ones are left out, as each costs stack."""

_LONGEST_LINK = 1_000
"""Characters searched for the end of a wikilink, so that unclosed ones cost no time."""

_BRACKETS = 4
"""Brackets in brackets that a link may hold: each that stays open looks at as many after it."""


Rule = Callable[[StateInline, bool], bool]


def render(text: str, surroundings: Surroundings) -> str:
    """The HTML of a text, not sanitised."""
    return str(_GRAMMAR.render(text, surroundings.env()))


def _wikilink(state: StateInline, silent: bool) -> bool:
    src, start = state.src, state.pos
    embed = src[start] == "!"
    inner = start + 3 if embed else start + 2
    if not src.startswith("![[" if embed else "[[", start):
        return False
    close = src.find("]]", inner, min(state.posMax, inner + _LONGEST_LINK))
    if close < 0 or "[[" in src[inner:close] or "\n" in src[inner:close]:
        return False
    parts = read_wikilink(src[inner:close])
    if parts is None:
        return False
    if not silent:
        href = surroundings_of(state.env).href(parts)
        shown = words(parts, embed=embed) or parts.target or parts.fragment or ""
        _linked(state, href, shown, "embed" if embed else "wikilink")
    state.pos = close + 2
    return True


def _linked(state: StateInline, href: str | None, shown: str, kind: str) -> None:
    tag = "span" if href is None else "a"
    opening = state.push("wikilink_open", tag, 1)
    opening.attrs = {"class": f"{kind} unresolved"} if href is None else _link(href, kind)
    state.push("text", "", 0).content = shown
    state.push("wikilink_close", tag, -1)


def _link(href: str, kind: str) -> dict[str, str | int | float]:
    return {"class": kind, "href": href}


_TAG = re.compile(rf"#({TAG_CHARACTERS}+)")


def _tag(state: StateInline, silent: bool) -> bool:
    found = _TAG.match(state.src, state.pos, state.posMax)
    before = state.src[state.pos - 1] if state.pos else " "
    if not found or not (before.isspace() or before in "*_~") or not is_tag(found[1]):
        return False
    if not silent:
        _linked(state, tag_href(found[1]), found[0], "tag")
    state.pos = found.end()
    return True


def tag_href(tag: str) -> str:
    """The address of a search for a tag."""
    return f"#/search?q={quote('tag:' + tag, safe='')}"


_MARKER = re.compile(r"\[(C?\d{1,3})\](?!\()")


def _marker(state: StateInline, silent: bool) -> bool:
    found = _MARKER.match(state.src, state.pos, state.posMax)
    if not found or not surroundings_of(state.env).markers:
        return False
    if not silent:
        opening = state.push("marker_open", "a", 1)
        opening.attrs = {"class": "cite", "href": f"#cite-{found[1]}"}
        state.push("text", "", 0).content = found[1]
        state.push("marker_close", "a", -1)
    state.pos = found.end()
    return True


def _between(mark: str) -> Callable[[StateInline], tuple[int, int] | None]:
    def find(state: StateInline) -> tuple[int, int] | None:
        start = state.pos + len(mark)
        if not state.src.startswith(mark, state.pos):
            return None
        end = state.src.find(mark, start, min(state.posMax, start + 10 * _LONGEST_LINK))
        return None if end < 0 else (start, end)

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


_highlighted, _commented = _between("=="), _between("%%")


def _highlight(state: StateInline, silent: bool) -> bool:
    found = _highlighted(state)
    if found is None or not state.src[found[0] : found[1]].strip():
        return False
    if not silent:
        last = state.posMax
        state.push("highlight_open", "mark", 1).attrs = {"class": "hl"}
        state.pos, state.posMax = found
        state.md.inline.tokenize(state)
        state.push("highlight_close", "mark", -1)
        state.posMax = last
    state.pos = found[1] + 2
    return True


def _comment(state: StateInline, _silent: bool) -> bool:
    found = _commented(state)
    if found is None:
        return False
    state.pos = found[1] + 2
    return True


def _image(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    alternative = self.renderInlineAsText(tokens[at].children or [], options, env)
    return f'<span class="image">{escapeHtml(alternative)}</span>' if alternative else ""


def _opening(
    self: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    token = tokens[at]
    destination = str(token.attrs.get("href", ""))
    parts = read_destination(destination, None)
    if parts is not None:
        href = surroundings_of(env).href(parts)
        token.attrs = {"class": "wikilink unresolved"} if href is None else _link(href, "wikilink")
    else:
        token.attrs = {**_link(destination, "external"), "target": "_blank"}
    return str(self.renderToken(tokens, at, options, env))


def _grammar() -> MarkdownIt:
    md = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING, "breaks": True})
    md.enable(["table", "strikethrough"])
    md.use(front_matter_plugin).use(footnote_plugin)
    md.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    add_blocks(md)
    inline = md.inline.ruler
    inline.before("link", "wikilink", _wikilink)
    inline.before("link", "marker", _marker)
    inline.before("link", "tag", _tag)
    inline.before("link", "highlight", _highlight)
    inline.before("link", "comment", _comment)
    for name, rule in (("link", link), ("image", image), ("footnote_inline", footnote_inline)):
        inline.at(name, _shallow(rule))
    inline.at("footnote_ref", _footnote_ref)
    md.add_render_rule("image", _image)
    md.add_render_rule("link_open", _opening)
    return md


_GRAMMAR = _grammar()
