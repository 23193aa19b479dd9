"""The one set of models that every edge speaks: queries in, answers and hits out."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """A model that refuses unknown keys."""

    model_config = ConfigDict(extra="forbid")


class Asked(Strict):
    """A part of a request: a value of another type (``"5"`` or ``true`` for 5) is refused too."""

    model_config = ConfigDict(strict=True)


class ConnectedOptions(Asked):
    """How connected notes are chosen; None means the setting in force."""

    max: int | None = Field(default=None, ge=0, le=20)
    order: Literal["context", "rank"] | None = None
    direction: Literal["forward", "backward", "both"] | None = None


class Query(Asked):
    """A question or a search."""

    query: str
    top_k: int | None = Field(default=None, ge=1, le=100)
    connected: ConnectedOptions = Field(default_factory=ConnectedOptions)
    explain: bool = False


class SearchQuery(Query):
    """A search: as a question, with the choice between chunks and notes."""

    results: Literal["chunks", "notes"] = "chunks"


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

    ``timings_ms`` maps stage -> milliseconds. ``pending`` counts the notes that changed since the
    index was made; None when that could not be told in time.
    """

    connected_notes: list[ConnectedNote]
    warnings: list[str] = Field(default_factory=list)
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


class Kept(Strict):
    """A note or file that is not in the index, and why."""

    path: str
    reason: str


class PendingChanges(Strict):
    """Notes that the next index run would read, keep out or forget."""

    read: int
    skip: int
    gone: int


class IndexStatus(Strict):
    """What an index holds. ``updated`` is in seconds since the epoch, ``bytes`` on disk.

    ``problem`` says why the settings in force cannot use it; None if they can. ``passed_over`` are
    files that are no part of the vault, or could not be looked at. ``pending`` is None when the
    vault cannot be looked at. ``made_with`` is the fingerprint: model, prompts, chunker and
    tokenizer. ``settings`` are those in force, ``settings_file`` the user's own file, which need
    not exist.
    """

    vault: str
    name: str
    index_dir: str
    settings_file: str
    problem: str | None
    generation: int
    updated: float
    bytes: int
    notes: dict[str, int]
    chunks: int
    links: dict[str, int]
    skipped: list[Kept]
    failed: list[Kept]
    passed_over: list[Kept]
    pending: PendingChanges | None
    made_with: dict[str, Any]
    settings: dict[str, Any]


class StatusChunk(Strict):
    """A chunk of a note as the index cut it."""

    id: str
    heading: str
    lines: tuple[int, int]


class StatusLink(Strict):
    """A link that leads out of a note, or to it."""

    source: str
    line: int
    raw: str
    kind: str
    status: str
    target: str | None


class NoteStatusReport(Strict):
    """What the index knows of one note. Times are in seconds since the epoch.

    ``changed`` tells whether the file is another one than was indexed; None if it is gone.
    """

    path: str
    title: str
    status: str
    reason: str | None
    aliases: list[str]
    tags: list[str]
    page_type: str | None
    created: float | None
    modified: float
    changed: bool | None
    warnings: list[str]
    chunks: list[StatusChunk]
    links: list[StatusLink]
    backlinks: list[StatusLink]


class Health(Strict):
    """Whether a server is up: ``live`` answers at all, ``ready`` without loading anything first."""

    live: bool
    ready: bool
    vault: str
    generation: int
    version: str


class Problem(BaseModel):
    """An RFC 9457 problem detail."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] | None = None
