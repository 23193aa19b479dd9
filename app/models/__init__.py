"""The one set of models that every edge speaks: queries in, answers, hits and status out."""

from __future__ import annotations

from app.models.base import Asked, Strict
from app.models.doctor import (
    AmbiguousTarget,
    BrokenFragment,
    ConflictCopy,
    DoctorReport,
    Duplicate,
    IndexCheck,
    IndexFinding,
    LinkPlace,
    NearMiss,
    PartState,
    UnresolvedTarget,
)
from app.models.filters import FilterFields, Filters
from app.models.query import ConnectedOptions, Query, SearchQuery
from app.models.reply import (
    Answer,
    Citation,
    ConnectedNote,
    LinkedFrom,
    Reply,
    SearchResult,
    Source,
)
from app.models.server import Health, Problem
from app.models.status import (
    IndexStatus,
    Kept,
    LastRun,
    NextRun,
    NoteStatusReport,
    PendingChanges,
    ServerNow,
    StatusChunk,
    StatusLink,
    WatcherNow,
    WriterNow,
)

__all__ = [
    "AmbiguousTarget",
    "Answer",
    "Asked",
    "BrokenFragment",
    "Citation",
    "ConflictCopy",
    "ConnectedNote",
    "ConnectedOptions",
    "DoctorReport",
    "Duplicate",
    "FilterFields",
    "Filters",
    "Health",
    "IndexCheck",
    "IndexFinding",
    "IndexStatus",
    "Kept",
    "LastRun",
    "LinkPlace",
    "LinkedFrom",
    "NearMiss",
    "NextRun",
    "NoteStatusReport",
    "PartState",
    "PendingChanges",
    "Problem",
    "Query",
    "Reply",
    "SearchQuery",
    "SearchResult",
    "ServerNow",
    "Source",
    "StatusChunk",
    "StatusLink",
    "Strict",
    "UnresolvedTarget",
    "WatcherNow",
    "WriterNow",
]
