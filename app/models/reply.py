"""What is answered: sources, connected notes, an answer with citations, the hits of a search."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from app.models.base import Strict


class Source(Strict):
    """A chunk that may be cited. ``lines`` count from 1 and include both ends.

    ``score`` is the fused score: comparable within one reply only. ``signals`` is filled when the
    query asks to explain: signal name -> {rank, score, weight}.
    """

    marker: str
    id: str
    path: str
    title: str
    heading: str
    lines: tuple[int, int]
    text: str
    score: float
    uri: str
    signals: dict[str, dict[str, float | None]] | None = None


class Citation(Source):
    """A source that the answer's text names by its marker."""


class LinkedFrom(Strict):
    """The place whose link brought a connected note."""

    path: str
    title: str
    line: int
    sentence: str


class ConnectedNote(Strict):
    """A note one link away from a source: context, never a citation."""

    label: str
    path: str
    title: str
    heading: str
    lines: tuple[int, int]
    text: str
    linked_from: LinkedFrom
    reason: str
    uri: str
    evidence: dict[str, float | int | str | None] | None = None


class Reply(Strict):
    """What every reply carries beside its results.

    ``filters`` are those that were applied, as they are written in a query.
    ``timings_ms`` maps stage -> milliseconds. ``pending`` counts the notes that changed since the
    index was made; None when that could not be told in time.
    """

    connected_notes: list[ConnectedNote]
    warnings: list[str] = Field(default_factory=list)
    filters: list[str] = Field(default_factory=list)
    timings_ms: dict[str, float] = Field(default_factory=dict)
    generation: int
    pending: int | None = None


class Answer(Reply):
    """An answer with its evidence; ``mentioned`` are labels of connected notes that it names."""

    answer: str
    mode: Literal["llm", "extractive", "none"]
    citations: list[Citation]
    mentioned: list[str] = Field(default_factory=list)
    sources: list[Source]


class SearchResult(Reply):
    """The hits of a search, best first."""

    hits: list[Source]
