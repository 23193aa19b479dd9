"""Notes and the links between them: one read, those around it, a picture, themes, a captured one."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from notehop.app.models.query import (
    VISIBLE_CHARACTER,
    Direction,
    Filters,
    NonBlankText,
    Parameters,
    StrictModel,
    as_list,
    limit_items,
)


class NotePlace(StrictModel):
    """A note; ``folder`` is empty at the vault's root."""

    path: str
    title: str
    folder: str


class OutlineEntry(StrictModel):
    """A heading of a note; ``level`` from 1, ``line`` from 1."""

    level: int
    heading: str
    line: int


class NoteLink(StrictModel):
    """A link from or to a note, with the sentence that holds it; ``written`` is the name or path that it
    gives its target."""

    source: str
    line: int
    raw: str
    written: str
    kind: str
    status: str
    target: str | None
    sentence: str
    fragment: str | None = None


class Mention(StrictModel):
    """A place where another note says this note's name without linking to it."""

    path: str
    title: str
    line: int
    name: str
    sentence: str


class NoteView(NotePlace):
    """A note of the index, as its file reads now; times are in seconds since the epoch.

    ``text`` is the whole file or, where ``section`` names a heading, that section; ``lines`` are its
    own. ``changed``: the file is newer than the index, whose links these are. ``mention_count`` counts
    those of the notes that were read for them.
    """

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
    uri: str
    generation: int
    pending: int | None = None


MAX_BROWSE_SEEDS = 20  # notes that one browse starts from

Seeds = Annotated[
    list[NonBlankText],
    limit_items(MAX_BROWSE_SEEDS),
    BeforeValidator(as_list),
    Field(min_length=1, max_length=MAX_BROWSE_SEEDS),
]


class BrowseQuery(Parameters):
    """Notes to start from, and which of those around them to list.

    A seed is a path, a title or an alias.
    """

    alternative_names: ClassVar = {"notes": "seeds", "note": "seeds", "limit": "max"}

    seeds: Seeds
    depth: int = Field(default=1, ge=1, le=2)
    direction: Direction = "both"
    rank: Literal["pagerank", "recency", "edges"] = "pagerank"
    max: int = Field(default=20, ge=1, le=100)
    filters: Filters = Field(default_factory=Filters)


class BrowsedSeed(StrictModel):
    """A note that a browse started from, and what it was asked by."""

    asked: str
    path: str
    title: str
    uri: str


class BrowsedLink(StrictModel):
    """A link on the way to a note: the note that holds it, where it leads, and its sentence."""

    source: str
    target: str
    line: int
    sentence: str
    fragment: str | None


class BrowsedNote(NotePlace):
    """A note near the seeds.

    ``way`` is how it is linked with what is nearer: ``forward`` for a link to it, ``backward`` for one
    from it. ``edges`` counts those links, ``links`` holds the first few. ``score`` is of the rank that
    was asked for: PageRank, time of the last change in seconds since the epoch, or number of links.
    ``text`` is a summary; ``written_by`` the language model that wrote it, None for the words of the
    note.
    """

    lines: tuple[int, int]
    text: str
    depth: int
    way: Direction
    edges: int
    score: float
    modified: float
    links: list[BrowsedLink]
    uri: str
    written_by: str | None = None


class BrowseResult(StrictModel):
    """What lies around the seeds, best first; ``total`` counts what there is beyond ``max``."""

    seeds: list[BrowsedSeed]
    notes: list[BrowsedNote]
    total: int
    warnings: list[str] = Field(default_factory=list)
    generation: int
    pending: int | None = None


class GraphNode(NotePlace):
    """A note in a picture of the graph; ``x`` and ``y`` lie between -1 and 1, ``degree`` counts its links
    both ways in the whole vault, ``seed`` tells whether it was asked for."""

    x: float
    y: float
    degree: int
    pagerank: float
    seed: bool
    uri: str


class GraphEdge(StrictModel):
    """The links of one note to another, ``count`` of them."""

    source: str
    target: str
    count: int


class GraphView(StrictModel):
    """Notes and the links between them; ``total`` counts the notes that are near, shown or not."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    total: int
    warnings: list[str] = Field(default_factory=list)
    generation: int


class SuggestQuery(Parameters):
    """The note for which links are wanted, a path, title or alias; None for the whole vault."""

    alternative_names: ClassVar = {"path": "note", "file": "note", "max": "limit"}

    note: NonBlankText | None = None
    limit: int = Field(default=10, ge=1, le=100)


class Suggestion(StrictModel):
    """A link that the vault may lack: ``link`` is what to insert at ``line`` of the note ``source``.

    ``mention``: the source says the name of ``target``; ``alike``: they speak of the same;
    ``dangling``: several ``notes`` link to ``target``, which no note is called. ``text`` is the
    sentence that shows it; ``score``, 0 to 1, how likely it is wanted.
    """

    kind: Literal["alike", "mention", "dangling"]
    source: str
    target: str
    title: str
    line: int
    text: str
    link: str
    score: float
    notes: int | None = None
    uri: str


class Suggestions(StrictModel):
    """Links that a note, or the vault, may lack, the most likely first."""

    suggestions: list[Suggestion]
    warnings: list[str] = Field(default_factory=list)
    generation: int
    pending: int | None = None


class ThemesQuery(Parameters):
    """Which themes to list: at most ``max``; the setting in force where not given."""

    filters: Filters = Field(default_factory=Filters)
    max: int | None = Field(default=None, ge=1, le=50)


class ThemeNote(NotePlace):
    """A note at the centre of a theme, with its summary and the language model that wrote it; None for
    the note's own words."""

    text: str
    written_by: str | None = None
    uri: str


class ThemeView(StrictModel):
    """Notes that are linked with one another more than with the rest of the vault.

    ``id`` is of the note that it is named after. ``summary`` is what its first note says, unless
    ``written_by`` names the language model that wrote it. ``count`` is the number of its notes, of
    those that the filters leave; ``notes`` are the first few.
    """

    id: str
    name: str
    summary: str
    written_by: str | None = None
    count: int
    notes: list[ThemeNote]


class ThemesResult(StrictModel):
    """The themes, the largest first.

    ``total`` counts the themes that there are beyond ``max``; ``small`` the notes in groups that
    are too small to be themes; ``unlinked`` those that no link connects with another note.
    """

    themes: list[ThemeView]
    total: int
    small: int
    unlinked: int
    warnings: list[str] = Field(default_factory=list)
    filters: list[str] = Field(default_factory=list)
    generation: int
    pending: int | None = None


class PropertyUse(StrictModel):
    """How many notes have a property, and its most frequent values."""

    notes: int
    values: list[str]


class VaultOverview(StrictModel):
    """What the notes of a vault can be filtered by, with the number of notes of each, most first.

    All but folders stand without case. A tag and a folder
    count what is nested in them too. ``first`` and ``last`` are days (2026-10-07); None without notes.
    """

    name: str
    notes: int
    first: str | None = None
    last: str | None = None
    folders: dict[str, int]
    tags: dict[str, int]
    types: dict[str, int]
    properties: dict[str, PropertyUse]
    warnings: list[str] = Field(default_factory=list)
    generation: int
    pending: int | None = None


MAX_CAPTURE_TAGS = 50  # tags of one note

TAG_CHARACTER = r"[^\u0000-@\[-^`{-\u00bf\u2000-\u206f\u2e00-\u2e7f\u3000\ufeff]"
"""A sign that makes a text a tag, for programs that read the schema; more is taken."""

_Tag = Annotated[
    str, StringConstraints(min_length=1, max_length=100), Field(json_schema_extra={"pattern": TAG_CHARACTER})
]


class CaptureQuery(Parameters):
    """A text to keep as a new note. Without a title, its first line names it."""

    alternative_names: ClassVar = {"content": "text", "tag": "tags"}

    text: Annotated[str, StringConstraints(min_length=1, max_length=200_000, pattern=VISIBLE_CHARACTER)]
    title: Annotated[str, StringConstraints(max_length=200)] | None = None
    tags: Annotated[list[_Tag], limit_items(MAX_CAPTURE_TAGS), BeforeValidator(as_list)] = Field(
        default_factory=list, max_length=MAX_CAPTURE_TAGS
    )


class Connection(NotePlace):
    """A note that a captured one has to do with, and the ``link`` to paste. ``written_by`` names the
    language model that wrote the ``snippet``; None for the words of the note."""

    heading: str
    snippet: str
    score: float
    link: str
    uri: str
    written_by: str | None = None


class Captured(StrictModel):
    """The note that was written: its ``path`` in the vault, also as ``filename``."""

    filename: str
    path: str = ""
    message: str
    connections: list[Connection] = Field(default_factory=list, max_length=5)

    @model_validator(mode="after")
    def _set_path(self) -> Self:
        self.path = self.filename
        return self
