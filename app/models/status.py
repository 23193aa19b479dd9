"""What an index holds, how fresh it is, who writes it, and what it knows of a note."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from notehop.app.models.base import Strict
from notehop.app.models.egress import EgressHost, LanguageModelNow


class Kept(Strict):
    """A note or file that is not in the index, and why."""

    path: str
    reason: str


class PendingChanges(Strict):
    """Notes that the next index run would read, keep out or forget."""

    read: int
    skip: int
    gone: int


class LastRun(Strict):
    """The index run that ended last. Times are in seconds since the epoch.

    ``seconds`` is wall time by stage, ``error`` the message that it failed with: the counts are
    then those of what it got done.
    """

    started: float
    ended: float
    command: str
    generation: int
    added: int
    changed: int
    moved: int
    deleted: int
    unchanged: int
    embedded: int
    seconds: dict[str, float]
    error: str | None


class WriterNow(Strict):
    """The process that writes the index at this moment; ``since`` is a time as ISO 8601 has it."""

    pid: int
    host: str
    command: str
    since: str


class WatcherNow(Strict):
    """The process that keeps the index up with the vault. Times are in seconds since the epoch.

    ``state``: ``indexing``; ``following``: up to the vault as far as is known; ``waiting``: the
    ``detail`` is in the way, and it tries again; ``held``: a person has to decide on the detail.
    ``checked`` is when it last looked at the whole vault, 0 for never.
    """

    pid: int
    host: str
    command: str
    since: float
    state: Literal["indexing", "following", "waiting", "held"]
    detail: str | None
    checked: float


class ServerNow(Strict):
    """The server that answers for this index; ``started`` is in seconds since the epoch."""

    url: str
    pid: int
    started: float


class EnrichedTexts(Strict):
    """Texts of one kind that notes should have: how many there are, how many are not."""

    kind: Literal["extract", "summary", "header"]
    have: int
    lack: int


class NotWritten(Strict):
    """A text that the language model did not write, and why."""

    path: str
    kind: Literal["extract", "summary", "header"]
    reason: str
    tries: int


class EnrichmentNow(Strict):
    """What was written about the notes. ``stopped`` says why the last run did not do all of it;
    ``failed`` is among what is lacking."""

    texts: list[EnrichedTexts]
    failed: list[NotWritten]
    stopped: str | None
    at: float | None


class IndexStatus(Strict):
    """What an index holds.

    ``updated`` is when its newest generation was written, in seconds since the epoch, ``age`` the
    seconds since. ``bytes`` is its size on disk, ``sizes`` that of each part (``catalog``,
    ``vectors``, ``chroma``, ``lexical``, ``model``, ``other``). ``problem`` says why the settings
    in force cannot use it; None if they can. ``passed_over`` are files that are no part of the
    vault, or could not be looked at. ``pending`` is None when the vault cannot be looked at.
    ``chroma_lag`` counts the vectors that small changes have not written to Chroma yet, which no
    search reads; the next run does.
    ``last_run``, ``watcher``, ``writer`` and ``server`` are None where there is none. ``made_with``
    is the fingerprint: model, prompts, chunker and tokenizer. ``settings`` are those in force,
    ``settings_file`` the user's own file, which need not exist. ``llm`` is the language model of
    the settings, None for none; ``egress`` the hosts that got something, this machine's last.
    ``enrichment`` is None where the settings ask for none. ``shared_model`` is the folder of the
    model for queries that all indexes share; None where there is none.
    """

    vault: str
    name: str
    index_dir: str
    settings_file: str
    problem: str | None
    generation: int
    updated: float
    age: float
    bytes: int
    sizes: dict[str, int]
    notes: dict[str, int]
    chunks: int
    links: dict[str, int]
    skipped: list[Kept]
    failed: list[Kept]
    passed_over: list[Kept]
    pending: PendingChanges | None
    chroma_lag: int = 0
    last_run: LastRun | None
    watcher: WatcherNow | None
    writer: WriterNow | None
    server: ServerNow | None
    made_with: dict[str, Any]
    settings: dict[str, Any]
    llm: LanguageModelNow | None = None
    egress: list[EgressHost] = Field(default_factory=list)
    enrichment: EnrichmentNow | None = None
    shared_model: str | None = None


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


class NextRun(Strict):
    """What the next index run does with a note.

    ``read``: index it; ``leave_out`` and ``fail``: not, for the reason; ``forget``: take it out of
    the index, for its file is gone.
    """

    does: Literal["read", "leave_out", "fail", "forget"]
    reason: str | None = None


class NoteStatusReport(Strict):
    """What the index knows of one note, or why it knows nothing. Times are in seconds since the
    epoch.

    ``status``: ``indexed``, ``skipped`` or ``failed`` as the index has it, with the ``reason``; or
    ``absent``: the index does not know the note. Then ``reason`` says why, and all that only the
    index could tell is empty. ``next_run`` is None when the next run has nothing to do with it.
    """

    path: str
    title: str
    status: Literal["indexed", "skipped", "failed", "absent"]
    reason: str | None
    next_run: NextRun | None
    aliases: list[str] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)
    page_type: str | None = None
    created: float | None = None
    modified: float | None = None
    warnings: list[str] = Field(default_factory=list)
    chunks: list[StatusChunk] = Field(default_factory=list)
    links: list[StatusLink] = Field(default_factory=list)
    backlinks: list[StatusLink] = Field(default_factory=list)
