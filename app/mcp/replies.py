"""What the tools reply: as little as an agent needs to go on, and nothing twice.

Fields that are empty are left out of what is sent.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from notehop.app.models.base import Strict
from notehop.app.models.claims import Flag, Support

CONTEXT = "context, not evidence"


class Place(Strict):
    """A passage of the vault, by file, headings and lines; ``lines`` count from 1."""

    file: str
    heading: str
    lines: tuple[int, int]


class Passage(Place):
    """A hit of a search; ``score`` compares within one reply only, ``relevance`` (0 to 1) across
    searches. ``weak``: it is no nearer than by chance."""

    marker: str
    score: float
    relevance: float | None = None
    weak: bool = False
    text: str


class Cited(Place):
    """A passage that the answer cites by its marker; ``uri`` opens it in the app.

    ``support`` tells how far it says what the answer cites it for, ``quote_lines`` where the words
    stand that say it best.
    """

    marker: str
    support: Support | None = None
    quote_lines: tuple[int, int] | None = None
    text: str
    uri: str


class Doubt(Strict):
    """A sentence of the answer that its sources do not bear out.

    ``flag``: it names no source (``uncited``), connected notes alone (``context``), or sources that
    do not say it (``unsupported``). ``lacks`` holds what it states that they do not have.
    """

    sentence: str
    flag: Flag | None = None
    lacks: list[str] = Field(default_factory=list)


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
    all. ``filters`` are those that were applied. ``searched_for`` maps words that stand nowhere in
    the notes to those that were searched for in their place. ``pending`` counts notes that changed since they
    were indexed.
    """

    connected_notes: list[Nearby] = Field(
        default_factory=list, description=f"One link away from the sources: {CONTEXT}."
    )
    left_out: list[Place] = Field(default_factory=list)
    left_out_count: int = 0
    warnings: list[str] = Field(default_factory=list)
    filters: list[str] = Field(default_factory=list)
    searched_for: dict[str, str] = Field(default_factory=dict)
    pending: int | None = None


class SearchReply(Told):
    """What matches, best first."""

    hits: list[Passage]


class AskReply(Told):
    """An answer; ``mode`` tells who wrote it: a model (``written_by``), or quotes from the notes.

    ``doubts`` are its sentences that are not to be taken on trust. ``not_read`` holds the markers
    and labels of what the model that wrote it was not shown whole, as it had no room.
    """

    answer: str
    mode: Literal["llm", "extractive", "none"]
    written_by: str | None = None
    doubts: list[Doubt] = Field(default_factory=list)
    not_read: list[str] = Field(default_factory=list)
    citations: list[Cited] = Field(default_factory=list)
    also_found: list[Found] = Field(default_factory=list)


class Seen(Strict):
    """A note near the ones asked about.

    ``way``: how it is linked with what is nearer to them: ``forward`` if that links to it.
    ``sentences`` are those that hold the links. ``written_by`` names the model that wrote ``text``,
    where it is not the note's own.
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
    written_by: str | None = None


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
    budget. ``summary_by`` names the model that wrote ``summary``, where it is not the note's own.
    ``links_to`` and ``linked_from`` hold files, the first of them; the counts are of all.
    """

    file: str
    title: str
    section: str | None = None
    lines: tuple[int, int]
    text: str = ""
    next_line: int | None = None
    summary: str | None = None
    summary_by: str | None = None
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
    """A note that the captured one has to do with; ``link`` is what to paste to link to it.

    ``written_by`` names the model that wrote ``snippet``, where it is not the note's own.
    """

    file: str
    title: str
    link: str
    snippet: str
    score: float
    written_by: str | None = None


class CaptureReply(Strict):
    """The note that was written: its path, and what the vault already has on it."""

    file: str
    message: str
    connections: list[CapturedLink] = Field(default_factory=list)
