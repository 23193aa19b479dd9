"""What is told of an index, the server, the language models, and what went to which host."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from notehop.app.models.query import StrictModel
from notehop.indexing.stores.rows import Holder
from notehop.indexing.watch.state import WatchState


class LanguageModelNow(StrictModel):
    """The language model that the settings name; nothing was asked to tell this. ``host`` is None for one
    in this process. ``allowed``: it may get text, being local or named by ``privacy.allow_hosts``."""

    provider: str
    model: str
    host: str | None
    local: bool
    allowed: bool
    problem: str | None


class VectorServerNow(StrictModel):
    """The Chroma server that searches ask, as it answers now.

    ``generation`` is the one that it holds whole, ``chunks`` its passages, ``toward`` the generation
    that is being written. ``recall``, 0 to 1, is the share of the nearest passages that are among its
    candidates, as last measured. With a ``problem`` searches compare every vector.
    """

    url: str
    collection: str
    generation: int | None = None
    toward: int | None = None
    chunks: int | None = None
    recall: float | None = None
    problem: str | None = None


class EgressHost(StrictModel):
    """What went to a host, as far as the log goes back; times are in seconds since the epoch. ``calls``
    counts every try, ``failed`` those that brought no whole answer; bytes are those of texts alone."""

    host: str
    local: bool
    calls: int
    failed: int
    bytes_out: int
    bytes_in: int
    first: float
    last: float


class EgressCall(BaseModel):
    """One try of a call. ``time`` is in seconds since the epoch, ``ms`` what it took.

    ``purpose``: ``answer``, ``condense``, ``summary``, ``header`` or ``other``; of a Ray cluster
    ``embedding``, of a Chroma server ``mirror`` or ``search``. ``more_notes`` counts notes beyond those
    named. ``error`` is None for an answer. Where ``over`` is false, it goes on, or its process died.
    """

    time: float
    host: str
    local: bool
    provider: str
    model: str
    purpose: str
    attempt: int
    bytes_out: int
    bytes_in: int = 0
    notes: list[str]
    more_notes: int
    over: bool = False
    status: int | None = None
    ms: int | None = None
    error: str | None = None


class EgressReport(StrictModel):
    """What the egress log of an index says: ``hosts`` by what they got, ``calls`` newest first."""

    log: str
    hosts: list[EgressHost]
    calls: list[EgressCall]


class Health(StrictModel):
    """Whether a server is up: ``live`` answers at all, ``ready`` without loading anything first.

    The others are told to those only who may ask the server everything else.
    """

    live: bool
    ready: bool
    vault: str | None = None
    generation: int | None = None
    version: str | None = None


class Problem(BaseModel):
    """An RFC 9457 problem detail."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] | None = None


class Kept(StrictModel):
    """A note or file that is not in the index, and why."""

    path: str
    reason: str


class PendingChanges(StrictModel):
    """Notes that the next index run would read, keep out or forget."""

    read: int
    skip: int
    gone: int


class ServerNow(StrictModel):
    """The server that answers for this index; ``started`` is in seconds since the epoch."""

    url: str
    pid: int
    started: float


class EnrichedTexts(StrictModel):
    """Texts of one kind that notes should have: how many there are, how many are not."""

    kind: Literal["summary", "header"]
    have: int
    lack: int


class NotWritten(StrictModel):
    """A text that the language model did not write, and why."""

    path: str
    kind: Literal["summary", "header"]
    reason: str


class EnrichmentNow(StrictModel):
    """What was written about the notes. ``stopped`` says why the last run did not do all of it;
    ``failed`` is among what is lacking."""

    texts: list[EnrichedTexts]
    failed: list[NotWritten]
    stopped: str | None
    at: float | None


class IndexStatus(StrictModel):
    """What an index holds; what there is none of is None.

    ``catalog`` is the file, or the database on a server, that holds its rows. ``failure`` says why the
    last run failed, if it did. ``updated`` is when its
    newest generation was written, in seconds since the epoch, ``age`` the seconds since. ``bytes`` is
    its size on disk. ``problem`` says why the settings in force cannot use
    it. ``passed_over`` are files that are no part of the vault, or could not be looked at. ``pending``
    is None when the vault cannot be looked at. ``chroma_generation`` is that of the copy in Chroma,
    which no search reads. ``made_with`` is the fingerprint: model, prompts, chunker and tokenizer.
    ``settings`` are those in force, ``settings_file`` the user's own file, which need not exist.
    ``egress`` are the hosts that got something, this machine last.
    """

    vault: str
    name: str
    index_dir: str
    catalog: str
    settings_file: str
    problem: str | None
    failure: str | None = None
    generation: int
    updated: float
    age: float
    bytes: int
    notes: dict[str, int]
    chunks: int
    links: dict[str, int]
    skipped: list[Kept]
    failed: list[Kept]
    passed_over: list[Kept]
    pending: PendingChanges | None
    chroma_generation: int | None = None
    vector_server: VectorServerNow | None = None
    watcher: WatchState | None
    writer: Holder | None
    server: ServerNow | None
    made_with: dict[str, Any]
    settings: dict[str, Any]
    llm: LanguageModelNow | None = None
    egress: list[EgressHost] = Field(default_factory=list)
    enrichment: EnrichmentNow | None = None


class VaultNow(StrictModel):
    """A vault of a server.

    ``name`` is what it goes by there, ``vault`` the name of its folder, as the app has it, ``folder``
    where that is, which this machine only is told. Below ``url`` are all routes for it.
    """

    name: str
    vault: str
    folder: str
    url: str
    default: bool


class VaultList(StrictModel):
    """The vaults of a server that may be asked with the token that was shown, the default first."""

    vaults: list[VaultNow]
