"""The grammar inside a line of text: links, embeds, tags, comments, and what hides them. Pure.

The rules run in markdown-it's inline parser, beside its own for escapes, code, HTML and autolinks
and the plugin's for math. They note where things stand instead of building tokens; emphasis is not
parsed, and each search forward is made once, so that the time is linear whatever the text holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.ruler import Ruler
from markdown_it.rules_inline import autolink, backtick, escape, html_inline, text
from mdit_py_plugins.dollarmath.index import math_inline_dollar

from notehop.indexing.vault.inline_state import Found, InlineState
from notehop.indexing.vault.link_text import read_wikilink, words
from notehop.indexing.vault.markdown_links import close_bracket, open_bracket
from notehop.indexing.vault.model import CommentLinks, LinkSyntax
from notehop.indexing.vault.properties import TAG_CHARACTERS, is_tag

_SOMETHING = re.compile(r"\[|#|%%|<!--|<br")


def scan(
    content: str,
    references: Mapping[str, str],
    *,
    comment_links: CommentLinks,
    comment: bool = False,
) -> Found:
    """Find what a text holds.

    :param references: normalised label -> destination of the note's reference definitions.
    :param comment_links: which links inside ``%%comments%%`` to find.
    :param comment: the text is itself a comment.
    """
    found = Found()
    if _SOMETHING.search(content):
        _scan(content, references, found, 0, comment_links, comment)
        found.links.sort(key=lambda link: link.start)
        found.tags.sort()
    return found


def _scan(
    content: str,
    references: Mapping[str, str],
    found: Found,
    base: int,
    comment_links: CommentLinks,
    comment: bool,
) -> None:
    state = InlineState(content, _GRAMMAR, references, found, base, comment_links, comment)
    _GRAMMAR.inline.tokenize(state)


def _comment(state: InlineState, _silent: bool) -> bool:
    """``%%…%%``. Tags in it count, as in the app."""
    start = state.pos
    if not state.src.startswith("%%", start):
        return False
    end = state.find("%%", start + 2)
    if end < 0:
        return False
    state.edit(start, end + 2, "")
    inner = state.src[start + 2 : end]
    if _SOMETHING.search(inner):
        _scan(
            inner, state.references, state.found, state.base + start + 2, state.comment_links, True
        )
    state.pos = end + 2
    return True


def _html_comment(state: InlineState, _silent: bool) -> bool:
    start = state.pos
    if not state.src.startswith("<!--", start):
        return False
    end = state.find("-->", start + 2)  # "<!-->" and "<!--->" are comments too
    if end < 0:
        return False
    state.pos = end + 3
    state.edit(start, state.pos, "")
    return True


_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


def _line_break(state: InlineState, _silent: bool) -> bool:
    found = _BREAK.match(state.src, state.pos)
    if not found:
        return False
    state.edit(state.pos, found.end(), " ")
    state.pos = found.end()
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
    state.link(start, LinkSyntax.WIKILINK, embed, parts)
    state.edit(start, state.pos, words(parts, embed=embed))
    return True


_TAG = re.compile(rf"#({TAG_CHARACTERS}+)")
_EMPHASIS = frozenset("*_~")


def _tag(state: InlineState, _silent: bool) -> bool:
    """``#tag`` at the start, after a blank or an emphasis mark, or where no plain text ended."""
    src, start = state.src, state.pos
    found = _TAG.match(src, start)
    if not found:
        return False
    before = src[start - 1] if start else " "
    plain_before = start == state.text_end and start > 0
    if plain_before and not (
        before.isspace() or before in _EMPHASIS or src.endswith("==", 0, start)
    ):
        return False
    name = found[1].rstrip("_") if before == "_" else found[1]
    if not is_tag(name):
        return False
    state.pos = start + 1 + len(name)
    state.found.tags.append((state.base + start, state.base + state.pos))
    return True


def _grammar() -> MarkdownIt:
    md = MarkdownIt("zero", {"html": True})
    md.inline.ruler = Ruler()
    rules: dict[str, Any] = {  # in the order in which they are tried
        "text": text,
        "escape": escape,
        "backticks": backtick,
        "math": math_inline_dollar(allow_space=False, allow_digits=False, allow_double=True),
        "comment": _comment,
        "html_comment": _html_comment,
        "line_break": _line_break,
        "autolink": autolink,
        "html_inline": html_inline,
        "wikilink": _wikilink,
        "open_bracket": open_bracket,
        "close_bracket": close_bracket,
        "tag": _tag,
    }
    for name, rule in rules.items():
        md.inline.ruler.push(name, rule)
    # Only what a rule reacts to ends a stretch of text; it is most of the speed.
    md.inline.terminator_re = re.compile(r"[\\`$<\]#]|%%|!?\[")
    return md


_GRAMMAR = _grammar()
