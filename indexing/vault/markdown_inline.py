"""The grammar inside a line of text: links, embeds, tags, comments, and what hides them. Pure.

Rules for markdown-it's inline parser, beside its own and the plugin's for math, which note where things
stand instead of building tokens; emphasis is not parsed. Each search forward is made once, and brackets
are matched with a stack: the time is linear whatever the text holds
(https://spec.commonmark.org/0.31.2/#phase-2-inline-structure).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.helpers import parseLinkDestination, parseLinkTitle
from markdown_it.ruler import Ruler
from markdown_it.rules_inline import StateInline, autolink, backtick, escape, html_inline, text
from markdown_it.token import Token
from mdit_py_plugins.dollarmath.index import math_inline_dollar

from notehop.indexing.vault.model import CommentLinks, Edit, Lines, Link, LinkSyntax
from notehop.indexing.vault.plain import (
    LinkText,
    OffsetMap,
    read_destination,
    read_wikilink,
    without_size,
    words,
)
from notehop.indexing.vault.properties import TAG_CHARACTERS, is_tag

_SOMETHING = re.compile(r"\[|#|%%|<[!/A-Za-z]")
_BLANKS = re.compile(r"[ \t\n]*")
_NAME = re.compile(r"</?([a-z][a-z0-9-]*)", re.IGNORECASE)
_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
# Elements of HTML that people write without attributes; `<name>` in a text is rather a placeholder.
_ELEMENT = re.compile(
    r"a|abbr|b|bd[io]|big|br|center|cite|code|del|details|dfn|div|d[dlt]|em|font|h[1-6r]|i|iframe|img|ins"
    r"|kbd|li|mark|[ou]l|p|picture|pre|q|r[pt]|ruby|s|samp|small|span|strike|strong|su[bp]|summary|svg"
    r"|table|tbody|t[dhrt]|thead|u|var|wbr"
)
_APART = re.compile(r"[^\s>][^\W_][^\W\d_a-z]")  # a badge and the sentence behind it
_POWER = re.compile(r"\d<sup>\d", re.IGNORECASE)
_TAG = re.compile(rf"#({TAG_CHARACTERS}+)")
_EMPHASIS = frozenset("*_~")
_LONGEST_LABEL = 999  # https://spec.commonmark.org/0.31.2/#link-label


@dataclass(slots=True)
class Inline:
    """What stretches of a note hold, by its offsets; ``edits`` are disjoint, in no order.

    ``references`` maps normalised labels to the destinations that the note defines. Links come with
    whether they stand in a ``%%comment%%``, and without their sentence.
    """

    note: str
    lines: Lines
    references: Mapping[str, str] = field(default_factory=dict)
    comment_links: CommentLinks = "none"
    links: list[tuple[Link, bool]] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)

    def scan(self, place: OffsetMap, *, comment: bool = False) -> None:
        """Find what a stretch of the note holds; ``comment``: it is one itself."""
        if _SOMETHING.search(place.text):
            _GRAMMAR.inline.tokenize(InlineState(place.text, self, place, 0, comment))


class InlineState(StateInline):
    """Adds to markdown-it's state what our rules remember, and builds no tokens."""

    def __init__(self, src: str, found: Inline, place: OffsetMap, base: int, comment: bool) -> None:
        super().__init__(src, _GRAMMAR, {}, [])
        self.found, self.place, self.base, self.comment = found, place, base, comment
        self.brackets: list[tuple[int, bool]] = []  # open ones: (offset, image)
        self.dead = 0  # links hold no links: brackets below are closed for them
        self.text_end = 0
        self._next: dict[str, int] = {}

    def push(self, ttype: str, tag: str, nesting: Any) -> Token:
        return Token(ttype, tag, nesting)

    def append_pending(self, text: str) -> None:
        self.text_end = self.pos + len(text)

    def find(self, needle: str, start: int) -> int:
        """Next place of ``needle``; found once, however often asked from places before it."""
        at = self._next.get(needle, -2)
        if at == -1 or at >= start:
            return at
        self._next[needle] = at = self.src.find(needle, start)
        return at

    def link(self, start: int, syntax: LinkSyntax, embed: bool, parts: LinkText) -> None:
        if not self.comment or self.found.comment_links != "none":
            first, end = self._span(start, self.pos)
            raw, line = self.found.note[first:end], self.found.lines.at(first)
            link = Link("embed" if embed else "link", syntax, raw, *parts, line, first, end, "")
            self.found.links.append((link, self.comment))
        if not embed:
            self.dead = len(self.brackets)

    def edit(self, start: int, end: int, replacement: str) -> None:
        if not self.comment and start < end:  # the whole comment goes
            self.found.edits.append(Edit(*self._span(start, end), replacement))

    def _span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets of the note; the end belongs to the last character, not to a line after it."""
        first = self.place.to_raw(self.base + start)
        last = self.place.to_raw(self.base + end - 1)
        assert first is not None and last is not None  # noqa: PT018 (no test)
        return first, last + 1


def _open_bracket(state: InlineState, _silent: bool) -> bool:
    image = state.src.startswith("![", state.pos)
    if not image and state.src[state.pos] != "[":
        return False
    state.brackets.append((state.pos, image))
    state.pos += 2 if image else 1
    state.text_end = state.pos
    return True


def _close_bracket(state: InlineState, _silent: bool) -> bool:
    if state.src[state.pos] != "]" or not state.brackets:
        return False
    start, image = state.brackets.pop()
    dead = not image and len(state.brackets) < state.dead
    state.dead = min(state.dead, len(state.brackets))
    if dead:
        return False
    label, label_end = start + (2 if image else 1), state.pos
    inline = _inline_target(state.src, label_end + 1)
    found = inline or _reference_target(state, label, label_end)
    if found is None:
        return False
    destination, state.pos = found
    display = state.src[label:label_end].strip()
    parts = read_destination(destination, display or None)
    if parts is not None:
        state.link(start, "markdown" if inline else "reference", image, parts)
    elif not image:
        state.dead = len(state.brackets)
    if shown := without_size(display) if image else display:
        state.edit(start, label, "")
        state.edit(state.src.find(shown, label, label_end) + len(shown), state.pos, "")
    else:
        state.edit(start, state.pos, words(parts, embed=image) if parts else "")
    return True


def _inline_target(src: str, at: int) -> tuple[str, int] | None:
    """Read ``(destination "title")`` at an offset; return the destination and where it ends."""
    if not src.startswith("(", at):
        return None
    at = _behind_blanks(src, at + 1)
    destination = parseLinkDestination(src, at, len(src))
    end = destination.pos if destination.ok else at
    after = _behind_blanks(src, end)
    if after > end and (title := parseLinkTitle(src, after, len(src), None)).ok:
        after = _behind_blanks(src, title.pos)
    return (destination.str, after + 1) if src.startswith(")", after) else None


def _behind_blanks(src: str, at: int) -> int:
    return _BLANKS.match(src, at).end()  # type: ignore[union-attr] # of none, too


def _reference_target(state: InlineState, label: int, label_end: int) -> tuple[str, int] | None:
    """Read ``[text][label]``, ``[label][]`` or ``[label]`` whose label the note defines."""
    if not state.found.references:
        return None
    src, end = state.src, label_end + 1
    if src.startswith("[", end):
        close = src.find("]", end, end + _LONGEST_LABEL)
        if close < 0 or "[" in src[end + 1 : close]:
            return None
        if src[end + 1 : close].strip():
            label, label_end = end + 1, close
        end = close + 1
    if label_end - label > _LONGEST_LABEL:
        return None
    destination = state.found.references.get(normalizeReference(src[label:label_end]))
    return None if destination is None else (destination, end)


def _comment(state: InlineState, _silent: bool, opening: str, closing: str) -> bool:
    """``%%…%%``, whose tags count, as in the app; ``<!--…-->``, also ``<!-->`` and ``<!--->``."""
    start = state.pos
    if not state.src.startswith(opening, start):
        return False
    end = state.find(closing, start + 2)
    if end < 0:
        return False
    state.pos = end + len(closing)
    state.edit(start, state.pos, "")
    inner = state.src[start + 2 : end]
    if opening == "%%" and _SOMETHING.search(inner):
        base = state.base + start + 2
        _GRAMMAR.inline.tokenize(InlineState(inner, state.found, state.place, base, True))
    return True


def _html_tag(state: InlineState, _silent: bool) -> bool:
    """A tag is no text: of an image its other text is; a line break, and one in the middle of a power,
    part what stands around them."""
    src, start = state.src, state.pos
    if not html_inline(state, False):
        return False
    tag = src[start : state.pos]
    found = _NAME.match(tag)
    name = found[1].lower() if found else ""
    closes, has_values = tag.startswith("</"), "=" in tag
    # "a<b and c>d" compares, and "List<a>" is a type.
    alone = found is not None and tag[found.end() :].strip() in (">", "/>")
    opens = bool(_ELEMENT.fullmatch(name)) and alone and (len(name) > 1 or f"</{name}" in src.lower())
    if name and (opens or closes or has_values):
        alt = _ALT.search(tag) if name == "img" else None
        shown = " " if name == "br" else (alt[1] or alt[2] or "") if alt else ""
        if tag.lower() == "<sup>" and _POWER.match(src, start - 1 if start else 0, state.pos + 1):
            shown = "^"
        if closes and name == "span" and _APART.match(src[max(0, start - 2) : start] + src[state.pos :][:1]):
            shown = " "
        state.edit(start, state.pos, " ".join(shown.split()) or shown)
    return True


def _wikilink(state: InlineState, _silent: bool) -> bool:
    src, start = state.src, state.pos
    embed = src[start] == "!"
    inner = start + 3 if embed else start + 2
    if not src.startswith("![[" if embed else "[[", start) or src.startswith("[", inner):
        return False
    close = state.find("]]", inner)
    if close < 0 or src.find("[[", inner, close) >= 0 or src.find("\n", inner, close) >= 0:
        return False
    if src.startswith("]]]", close) and src.count("[", inner, close) > src.count("]", inner, close):
        close += 1  # the display text ends in a bracket: [[Note|see [1]]]
    parts = read_wikilink(src[inner:close])
    if parts is None:
        return False
    state.pos = close + 2
    state.link(start, "wikilink", embed, parts)
    state.edit(start, state.pos, words(parts, embed=embed))
    return True


def _tag(state: InlineState, _silent: bool) -> bool:
    """``#tag`` at the start, after a blank or an emphasis mark, or where no plain text ended."""
    src, start = state.src, state.pos
    found = _TAG.match(src, start)
    if not found:
        return False
    before = src[start - 1] if start else " "
    after_mark = before.isspace() or before in _EMPHASIS or src.endswith("==", 0, start)
    if start == state.text_end and not after_mark:
        return False
    name = found[1].rstrip("_") if before == "_" else found[1]
    if not is_tag(name):
        return False
    state.pos = start + 1 + len(name)
    state.found.tags.append(name)
    return True


def _grammar() -> MarkdownIt:
    md = MarkdownIt("zero", {"html": True})
    md.inline.ruler = Ruler()
    rules: dict[str, Any] = {  # in the order in which they are tried
        "text": text,
        "escape": escape,
        "backticks": backtick,
        "math": math_inline_dollar(allow_space=False, allow_digits=False, allow_double=True),
        "comment": partial(_comment, opening="%%", closing="%%"),
        "html_comment": partial(_comment, opening="<!--", closing="-->"),
        "autolink": autolink,
        "html_tag": _html_tag,
        "wikilink": _wikilink,
        "open_bracket": _open_bracket,
        "close_bracket": _close_bracket,
        "tag": _tag,
    }
    for name, rule in rules.items():
        md.inline.ruler.push(name, rule)
    # Only what a rule reacts to ends a stretch of text; it is most of the speed.
    md.inline.terminator_re = re.compile(r"[\\`$<\]#]|%%|!?\[")
    return md


_GRAMMAR = _grammar()
