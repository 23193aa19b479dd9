"""What is found inside a line of text, and what the rules that find it remember. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from notehop.indexing.vault.link_text import LinkText
from notehop.indexing.vault.model import CommentLinks, LinkSyntax


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A link to something in the vault; offsets are those of the text that was scanned."""

    start: int
    end: int
    syntax: LinkSyntax
    embed: bool
    text: LinkText
    comment: bool


@dataclass(slots=True)
class Found:
    """What a text holds. ``edits`` are (start, end, replacement), disjoint, in no order."""

    links: list[FoundLink] = field(default_factory=list)
    tags: list[tuple[int, int]] = field(default_factory=list)
    edits: list[tuple[int, int, str]] = field(default_factory=list)


class InlineState(StateInline):
    """Adds to markdown-it's state what our rules remember, and builds no tokens."""

    def __init__(
        self,
        src: str,
        grammar: MarkdownIt,
        references: Mapping[str, str],
        found: Found,
        base: int,
        comment_links: CommentLinks,
        comment: bool,
    ) -> None:
        super().__init__(src, grammar, {}, [])
        self.references = references
        self.found = found
        self.base = base
        self.comment_links = comment_links
        self.comment = comment
        # Open brackets as (offset, image); links cannot hold links, so a finished link closes all
        # those below ``dead`` for links.
        self.brackets: list[tuple[int, bool]] = []
        self.dead = 0
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
        if not self.comment or self.comment_links != "none":
            self.found.links.append(
                FoundLink(
                    self.base + start, self.base + self.pos, syntax, embed, parts, self.comment
                )
            )
        if not embed:
            self.dead = len(self.brackets)

    def edit(self, start: int, end: int, replacement: str) -> None:
        if not self.comment:  # the whole comment goes
            self.found.edits.append((self.base + start, self.base + end, replacement))
