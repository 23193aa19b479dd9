"""The plain text of a note: what a reader sees of it, for embedding and for showing. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache

from markdown_it import MarkdownIt

from notehop.indexing.vault.model import Edit, Note


def plain_text(note: Note, start: int, end: int) -> str:
    """Return ``note.text[start:end]`` with links replaced by their words and comments dropped.

    Block ids and reference definitions are dropped too; list bullets, quote and emphasis marks
    stay. An edit that begins before ``start`` only takes its text away.
    """
    edits = note.edits
    first = bisect_right(edits, start, key=_end_of)
    last = bisect_left(edits, end, key=_start_of)
    parts: list[str] = []
    at = start
    for edit in edits[first:last]:
        if edit.start >= start:
            parts += note.text[at : edit.start], edit.replacement
        at = edit.end
    if at < end:
        parts.append(note.text[at:end])
    return "".join(parts)


_HIGHLIGHT = re.compile(
    r"(?<!`)(`++).{0,200}?(?<!`)\1(?!`)"
    r"|(?<![A-Za-z0-9=])==(?=[^\s=])(.{1,200}?)(?<=[^\s=])==(?![A-Za-z0-9=])"
)
"""Code, which holds no highlights, or a highlight; longer ones would be looked for from each mark."""


def without_emphasis(text: str) -> str:
    """A line as a reader sees it: without the marks of emphasis, highlights and code.

    Marks that mean nothing stay: ``snake_case``, ``~/notes``, ``$5``, ``x = y``; and so do stars
    behind a letter or digit, which Markdown takes for emphasis and people for a product
    (``3*4*5``).
    """
    text = _HIGHLIGHT.sub(lambda found: found[2] or found[0], text)
    parts: list[str] = []
    kept: list[bool] = []
    last = ""
    for token in _emphasis().parseInline(text)[0].children or ():
        said = token.content
        if token.nesting > 0:
            kept.append(token.markup[0] == "*" and last.isascii() and last.isalnum())
            said = token.markup if kept[-1] else ""
        elif token.nesting < 0:
            said = token.markup if kept.pop() else ""
        parts.append(said)
        last = said[-1:] or last
    return "".join(parts)


@cache
def _emphasis() -> MarkdownIt:
    return MarkdownIt("zero").enable(["escape", "backticks", "emphasis", "strikethrough"])


def _start_of(edit: Edit) -> int:
    return edit.start


def _end_of(edit: Edit) -> int:
    return edit.end
