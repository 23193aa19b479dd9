"""What a note is once it has been read. Offsets are characters of ``Note.text``, half-open; lines are
counted from 1, and spans of lines include both ends."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

CommentLinks = Literal["inline", "none", "all"]
"""Which links inside ``%%comments%%`` count: those within a line of text, as in the app, none, or
those between lines of ``%%`` as well."""


LinkKind = Literal["link", "embed", "property"]
LinkSyntax = Literal["wikilink", "markdown", "reference"]


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it is written; what it leads to is a :class:`~indexing.graph.resolve.ResolvedLink`.

    ``target`` is the path part, decoded; empty for a link into the same note. ``fragment`` is what
    follows the first ``#`` (``A#B``, ``^block``, ``page=3``). ``sentence`` is the sentence, list item,
    table row or heading around the link as plain text, at most 500 characters; empty for a property
    and inside a comment. ``property`` is the key path (``a.b.0``) of a link that has no offsets.
    """

    kind: LinkKind
    syntax: LinkSyntax
    raw: str
    target: str
    fragment: str | None
    display: str | None
    line: int
    start: int
    end: int
    sentence: str
    property: str | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the note itself (the app knows none inside quotes and lists): ``text`` as written,
    ``plain`` as shown and embedded, links as their words, no comments. One that is a ``fact`` leads links
    to its place and is told as a property."""

    text: str
    level: int
    line: int
    start: int
    end: int
    plain: str = ""
    fact: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A block that carries an id (without ``^``, as written; compared without case)."""

    id: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace ``text[start:end]`` by ``replacement`` to get the plain text of a note."""

    start: int
    end: int
    replacement: str


@dataclass(frozen=True, slots=True)
class PropertyValue:
    """A value of the front matter as text, links by their words; ``key`` holds those of nested ones from
    the outside in, blanks between, ``key_line`` is the line of the innermost."""

    key: str
    text: str
    key_line: int
    line: int


@dataclass(frozen=True, slots=True)
class Note:
    """One Markdown file, parsed; or another file of the vault, laid out as such.

    ``text`` has no byte-order mark, and ``\\n`` for line ends. ``body_start`` is the start of the first
    line that is not blank after the front matter (the end of the text if none). ``path`` is relative
    to the vault with ``/``; ``name`` has no ``.md``; ``title`` is the front matter's, else ``name``.
    ``tags`` are without ``#``. ``created`` and ``modified`` are the front matter's, in seconds since the
    epoch, in UTC where it names no zone. ``front_matter`` is JSON-able, dates as written; ``properties``
    is what of it says something to a reader, and headings that say a fact and head nothing; ``fields`` are
    the (key, value) of those in the text (``key:: value``). ``sections``
    start at the body and at each heading of rank 1 or 2; ``sections_apart``: each is cited by itself,
    however small: a card, a page.
    ``excluded`` is why the owner keeps the note out. ``edits`` are sorted and disjoint.
    """

    path: str
    name: str
    title: str
    text: str
    body_start: int
    content_hash: str
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    page_type: str | None = None
    created: float | None = None
    modified: float | None = None
    front_matter: Mapping[str, Any] = field(default_factory=dict)
    properties: tuple[PropertyValue, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    headings: tuple[Heading, ...] = ()
    sections: tuple[int, ...] = ()
    sections_apart: bool = False
    blocks: tuple[Block, ...] = ()
    links: tuple[Link, ...] = ()
    edits: tuple[Edit, ...] = ()
    excluded: str | None = None
    warnings: tuple[str, ...] = ()


def each_once(names: Iterable[str]) -> tuple[str, ...]:
    """Names in order without those that differ from one before in case alone."""
    kept: dict[str, str] = {}
    for name in names:
        kept.setdefault(name.casefold(), name)
    return tuple(kept.values())


class Lines:
    r"""Line numbers of offsets; lines end at ``\n`` only."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._length = len(text)

    def at(self, offset: int) -> int:
        """Line that holds the character at ``offset`` (the last one for the end of the text)."""
        return bisect_right(self._starts, offset)

    def start(self, line: int) -> int:
        """Offset of the first character of a line; the end of the text for one past the last."""
        return self._starts[line - 1] if line <= len(self._starts) else self._length

    def __len__(self) -> int:
        return len(self._starts)
