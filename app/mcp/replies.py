"""What the tools reply: as little as an agent needs to go on, and nothing twice.

Fields that are empty are left out of what is sent.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app.models.base import Strict

CONTEXT = "context, not evidence"


class Place(Strict):
    """A passage of the vault, by file, headings and lines; ``lines`` count from 1."""

    file: str
    heading: str
    lines: tuple[int, int]


class Passage(Place):
    """A hit of a search; ``score`` compares within one reply only."""

    marker: str
    score: float
    text: str


class Cited(Place):
    """A passage that the answer cites by its marker; ``uri`` opens it in the app."""

    marker: str
    text: str
    uri: str


class Found(Place):
    """A passage that was found and that the answer does not cite."""

    marker: str


class Nearby(Place):
    """A note that a source links to: context. ``reason`` names the link and its sentence."""

    label: str
    reason: str
    text: str = ""


class Told(Strict):
    """What every reply about a question carries.

    ``left_out`` names the first passages that did not fit the budget, ``left_out_count`` counts
    all. ``filters`` are those that were applied. ``pending`` counts notes that changed since they
    were indexed.
    """

    connected_notes: list[Nearby] = Field(
        default_factory=list, description=f"One link away from the sources: {CONTEXT}."
    )
    left_out: list[Place] = Field(default_factory=list)
    left_out_count: int = 0
    warnings: list[str] = Field(default_factory=list)
    filters: list[str] = Field(default_factory=list)
    pending: int | None = None


class SearchReply(Told):
    """What matches, best first."""

    hits: list[Passage]


class AskReply(Told):
    """An answer; ``mode`` tells who wrote it: a model, or quotes from the notes."""

    answer: str
    mode: Literal["llm", "extractive", "none"]
    citations: list[Cited] = Field(default_factory=list)
    also_found: list[Found] = Field(default_factory=list)


class Seen(Strict):
    """A note near the ones asked about.

    ``way``: how it is linked with what is nearer to them: ``forward`` if that links to it.
    ``sentences`` are those that hold the links.
    """

    file: str
    title: str
    heading: str = ""
    lines: tuple[int, int] | None = None
    depth: int
    way: Literal["forward", "backward", "both"]
    score: float
    sentences: list[str] = Field(default_factory=list)
    text: str = ""


class BrowseReply(Strict):
    """The notes around some, best first.

    ``start`` holds the files of those that were asked about, ``total`` counts all around them,
    ``left_out`` those that did not fit the budget.
    """

    start: list[str]
    notes: list[Seen]
    total: int
    left_out: int = 0
    warnings: list[str] = Field(default_factory=list)
    pending: int | None = None


class Heading(Strict):
    """A heading of a note."""

    level: int
    heading: str
    line: int


class NoteReply(Strict):
    """A note, or a part of it, as its file reads now.

    ``lines`` are those of ``text``. ``next_line`` is where to go on, if not all of it fit the
    budget. ``links_to`` and ``linked_from`` hold files, the first of them; the counts are of all.
    """

    file: str
    title: str
    section: str | None = None
    lines: tuple[int, int]
    text: str = ""
    next_line: int | None = None
    outline: list[Heading] = Field(default_factory=list)
    links_to: list[str] = Field(default_factory=list)
    links_to_count: int = 0
    linked_from: list[str] = Field(default_factory=list)
    linked_from_count: int = 0
    tags: list[str] = Field(default_factory=list)
    aliases: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    uri: str


class CapturedLink(Strict):
    """A note that the captured one has to do with; ``link`` is what to paste to link to it."""

    file: str
    title: str
    link: str
    snippet: str
    score: float


class CaptureReply(Strict):
    """The note that was written: its path, and what the vault already has on it."""

    file: str
    message: str
    connections: list[CapturedLink] = Field(default_factory=list)
