"""One note as it can be read: text, outline, links both ways, mentions without a link."""

from __future__ import annotations

from pydantic import Field

from notehop.app.models.base import Strict
from notehop.app.models.status import StatusLink


class OutlineEntry(Strict):
    """A heading of a note; ``level`` from 1, ``line`` from 1."""

    level: int
    heading: str
    line: int


class NoteLink(StatusLink):
    """A link from or to a note, with the sentence that holds it."""

    sentence: str
    fragment: str | None = None


class Mention(Strict):
    """A place where another note says this note's name without linking to it."""

    path: str
    title: str
    line: int
    name: str
    sentence: str


class NoteView(Strict):
    """A note of the index, as its file reads now.

    ``text`` is the whole file or, where ``section`` names a heading, that section; ``lines`` are
    those of ``text``. ``changed`` tells that the file is newer than the index: its links are those
    of the index then. ``unlinked_mentions`` holds the first of them, ``mention_count`` all.
    ``summary`` is the owner's or one of the index, ``summary_by`` the language model that wrote it,
    None for the words of the note. Times are in seconds since the epoch.
    """

    path: str
    title: str
    folder: str
    aliases: list[str]
    tags: list[str]
    page_type: str | None
    created: float | None
    modified: float
    section: str | None = None
    lines: tuple[int, int]
    text: str
    outline: list[OutlineEntry]
    links: list[NoteLink]
    backlinks: list[NoteLink]
    unlinked_mentions: list[Mention] = Field(default_factory=list)
    mention_count: int = 0
    changed: bool = False
    summary: str | None = None
    summary_by: str | None = None
    uri: str
    generation: int
    pending: int | None = None
