"""The links around notes: what may be asked, and what lies a hop or two away."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from notehop.app.models.base import Asked, Strict, at_most, listed
from notehop.app.models.filters import Filters

Seed = Annotated[str, StringConstraints(min_length=1, max_length=1_000, pattern=r"\S")]

MOST_SEEDS = 20
"""Notes that one browse starts from."""


class BrowseQuery(Asked):
    """Notes to start from, and which of those around them to list.

    A seed is a path, a title or an alias. ``results``: the notes themselves, or for each link the
    chunk that it leads to (or, backward, the chunk that holds it).
    """

    guessed = (
        ("notes", "seeds"),
        ("note", "seeds"),
        ("limit", "max"),
    )

    seeds: Annotated[list[Seed], at_most(MOST_SEEDS), BeforeValidator(listed)] = Field(
        min_length=1, max_length=MOST_SEEDS
    )
    depth: int = Field(default=1, ge=1, le=2)
    direction: Literal["forward", "backward", "both"] = "both"
    rank: Literal["pagerank", "recency", "edges"] = "pagerank"
    results: Literal["notes", "chunks"] = "notes"
    max: int = Field(default=20, ge=1, le=100)
    filters: Filters = Field(default_factory=Filters)


class BrowsedSeed(Strict):
    """A note that a browse started from, and what it was asked by."""

    asked: str
    path: str
    title: str
    uri: str


class BrowsedLink(Strict):
    """A link on the way to a note: where it stands and what its sentence says.

    ``source`` holds the link, ``target`` is where it leads, at ``fragment`` where it names one.
    """

    source: str
    target: str
    line: int
    sentence: str
    fragment: str | None


class BrowsedNote(Strict):
    """A note near the seeds.

    ``way`` is how it is linked with what is nearer: ``forward`` for a link to it, ``backward`` for
    one from it, ``both``. ``edges`` counts those links, ``links`` holds the first few. ``score`` is
    of the rank that was asked for: PageRank, time of the last change in seconds since the epoch, or
    number of links. ``text`` is a summary, or the chunk where chunks are asked for. ``written_by``
    names the language model that wrote the summary; None for the words of the note.
    """

    path: str
    title: str
    folder: str
    heading: str
    lines: tuple[int, int]
    text: str
    depth: int
    way: Literal["forward", "backward", "both"]
    edges: int
    score: float
    modified: float
    links: list[BrowsedLink]
    uri: str
    written_by: str | None = None


class BrowseResult(Strict):
    """What lies around the seeds, best first; ``total`` counts what there is beyond ``max``."""

    seeds: list[BrowsedSeed]
    notes: list[BrowsedNote]
    total: int
    warnings: list[str] = Field(default_factory=list)
    generation: int
    pending: int | None = None
