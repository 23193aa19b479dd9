"""The one set of models that every edge speaks: queries in, answers, hits and status out."""

from __future__ import annotations

from app.models.base import Asked, Strict
from app.models.browse import BrowsedLink, BrowsedNote, BrowsedSeed, BrowseQuery, BrowseResult
from app.models.capture import Captured, CaptureQuery, Connection
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
from app.models.embed import Embedded, EmbedQuery
from app.models.filters import FilterFields, Filters
from app.models.graph import GraphEdge, GraphNode, GraphView
from app.models.held import HeldModel, ModelList, PulledModel
from app.models.note import Mention, NoteLink, NoteView, OutlineEntry
from app.models.query import ConnectedOptions, Intent, Query, SearchQuery
from app.models.reply import (
    Answer,
    Citation,
    ConnectedNote,
    Explanation,
    Hit,
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
from app.models.stream import (
    ConnectedEvent,
    DoneEvent,
    ErrorEvent,
    SourcesEvent,
    StreamEvent,
    TokenEvent,
)

__all__ = [
    "AmbiguousTarget",
    "Answer",
    "Asked",
    "BrokenFragment",
    "BrowseQuery",
    "BrowseResult",
    "BrowsedLink",
    "BrowsedNote",
    "BrowsedSeed",
    "CaptureQuery",
    "Captured",
    "Citation",
    "ConflictCopy",
    "ConnectedEvent",
    "ConnectedNote",
    "ConnectedOptions",
    "Connection",
    "DoctorReport",
    "DoneEvent",
    "Duplicate",
    "EmbedQuery",
    "Embedded",
    "ErrorEvent",
    "Explanation",
    "FilterFields",
    "Filters",
    "GraphEdge",
    "GraphNode",
    "GraphView",
    "Health",
    "HeldModel",
    "Hit",
    "IndexCheck",
    "IndexFinding",
    "IndexStatus",
    "Intent",
    "Kept",
    "LastRun",
    "LinkPlace",
    "LinkedFrom",
    "Mention",
    "ModelList",
    "NearMiss",
    "NextRun",
    "NoteLink",
    "NoteStatusReport",
    "NoteView",
    "OutlineEntry",
    "PartState",
    "PendingChanges",
    "Problem",
    "PulledModel",
    "Query",
    "Reply",
    "SearchQuery",
    "SearchResult",
    "ServerNow",
    "Source",
    "SourcesEvent",
    "StatusChunk",
    "StatusLink",
    "StreamEvent",
    "Strict",
    "TokenEvent",
    "UnresolvedTarget",
    "WatcherNow",
    "WriterNow",
]
