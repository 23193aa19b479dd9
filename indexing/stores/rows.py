"""Rows of the catalog: what the index knows, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from notehop.indexing.vault.model import LinkKind, LinkSyntax

Matrix: TypeAlias = "NDArray[np.float32]"
"""Shape (rows, dimensions); each row has length 1, or is all zeros."""

ChunkId = str  # 32 hexadecimal digits; equal id means equal embedded text, so an equal vector

ChunkKind = Literal["text", "code", "properties"]
"""Part of a note's text, such that begins in the middle of a block of code, or what its properties say."""

FieldTokens = Mapping[str, tuple[str, ...]]
"""Field name (see :data:`notehop.indexing.tokens.FIELDS`) -> tokens in order; absent means empty."""

Vectored = Literal["chunks", "links"]
"""What vectors are of: chunks by id, or sentences with links, by the hash of what is embedded."""


class NoteStatus(StrEnum):
    """What became of a file of the vault."""

    INDEXED = "indexed"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """One chunk. Lines are counted from 1, both ends included; ``text`` is what is shown.

    ``embedded_hash`` is the hash of the text the model saw (title and heading path included).
    ``tokens`` are packed: a string a word would take ten times the memory
    (:func:`~indexing.stores.catalog_rows.unpack_tokens`).
    """

    id: ChunkId
    path: str
    ordinal: int
    heading_path: tuple[str, ...]
    first_line: int
    last_line: int
    text: str
    embedded_hash: str
    tokens: bytes
    kind: ChunkKind = "text"


@dataclass(frozen=True, slots=True)
class LinkRow:
    """One link of a note and where it leads.

    ``chunk_id`` is the chunk that holds the link (None for a property). ``raw_target`` is the path
    part as written. ``sentence`` is shown; ``sentence_id`` names the vector of ``Title: sentence``
    in the collection "links" (None where there is no sentence). ``status`` and ``via`` hold the
    values of :class:`notehop.indexing.graph.resolve.Status` and ``Via`` beside it.
    ``target_chunk_id`` is the chunk that the fragment names, or the target's first; None unless the
    target is an indexed note. ``ordinal`` counts the links of a note in text order.
    """

    path: str
    ordinal: int
    chunk_id: ChunkId | None
    line: int
    kind: LinkKind
    syntax: LinkSyntax
    raw: str
    raw_target: str
    fragment: str | None
    display: str | None
    sentence: str
    sentence_id: str | None
    property: str | None
    status: str
    via: str | None
    target_path: str | None
    target_chunk_id: ChunkId | None
    fragment_found: bool | None
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteRow:
    """One file of the vault that is, or could have been, a note.

    Times are seconds since the epoch. ``reason`` says why a note is skipped or failed.
    ``mtime_ns`` and ``size`` are what the scan saw; ``content_hash`` is empty when it was not read.
    ``outline`` holds (level, text, line) of each heading and ``blocks`` (id, first line, last
    line), so that fragments resolve without the text; ``headings`` end at the next of the same or
    a higher rank, ``line_count`` closes the last. ``front_matter`` is JSON-able.
    """

    path: str
    title: str
    status: NoteStatus
    reason: str | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    page_type: str | None = None
    front_matter: Mapping[str, Any] = field(default_factory=dict)
    created: float | None = None
    modified: float = 0.0
    size: int = 0
    mtime_ns: int = 0
    content_hash: str = ""
    outline: tuple[tuple[int, str, int], ...] = ()
    blocks: tuple[tuple[str, int, int], ...] = ()
    line_count: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """A note with all it holds: what one write replaces."""

    note: NoteRow
    chunks: tuple[ChunkRow, ...] = ()
    links: tuple[LinkRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """What one transaction writes: it raises the generation by one, or leaves all as it was.

    ``upsert`` replaces everything under each note's path; ``delete`` removes notes with their
    chunks and links; ``touch`` maps a path to a new (size, mtime_ns) where the content is
    unchanged, and a note that names no date of change counts as modified then; ``relink`` says
    where links (by path and ordinal) of notes that are not in ``upsert`` lead by now; all else of
    them is as it was.
    ``vectors`` holds ids and a float32 matrix, a row of length 1 an id, of each collection: those
    that the catalog lacks; what no chunk or link refers to any more leaves by itself.
    ``attach`` maps the path of a file that is no note to whether it is kept out, ``detach`` forgets
    such files. ``meta`` entries (JSON-able) are merged.
    """

    upsert: tuple[NoteRecord, ...] = ()
    delete: tuple[str, ...] = ()
    touch: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    relink: tuple[LinkRow, ...] = ()
    attach: Mapping[str, bool] = field(default_factory=dict)
    detach: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    vectors: Mapping[Vectored, tuple[Sequence[str], Matrix]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChunkKey:
    """What a chunk is, without its text."""

    id: ChunkId
    path: str
    ordinal: int
    first_line: int
    kind: ChunkKind


@dataclass(frozen=True, slots=True)
class Limits:
    """Numbers that decide when work is done, and none of what comes of it."""

    batch_notes: int = 1_000
    """Notes a transaction: enough to sort by length and to write well, few enough for memory."""

    batch_tokens: int = 500_000
    """Tokens a transaction: what a run that is cut off has embedded for nothing, about a minute."""

    changed_notes: int = 32
    """Changed notes up to which nothing on disk is brought up to them: a reader takes them in from
    the catalog in milliseconds, and writing the lexical index whole takes longer."""

    chunks_each: int = 256
    """Chunks for each changed note above that: at 300,000 chunks, some 1,200 notes. What is written
    whole then is written once for a fixed share of it that changed."""

    segment: int = 50_000
    """Chunks of a segment of the lexical index at most: to sort their postings takes some 200 MB."""

    segments: int = 16
    """Small segments, of less than a share of that, above which they are joined: each costs a search
    some 50 microseconds."""


LIMITS = Limits()  # what notehop runs with


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that writes an index; ``since`` is a time as ISO 8601 has it."""

    pid: int
    host: str
    command: str
    since: str

    def __str__(self) -> str:
        return f"{self.command} (process {self.pid} on {self.host}, since {self.since})"
