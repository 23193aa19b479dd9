"""A vault that answers without index and model, and keeps what it was asked."""

from __future__ import annotations

import threading

from app.models import (
    Answer,
    IndexStatus,
    Kept,
    PendingChanges,
    Query,
    SearchQuery,
    SearchResult,
    WriterNow,
)
from config.errors import QueryError

STATUS = IndexStatus(
    vault="/notes/My vault",
    name="My vault",
    index_dir="/index",
    settings_file="/notehop.toml",
    problem=None,
    generation=7,
    updated=1_700_000_000.0,
    age=60.0,
    bytes=3,
    sizes={"catalog": 3},
    notes={"indexed": 1},
    chunks=1,
    links={},
    skipped=[Kept(path="Secret.md", reason="private")],
    failed=[],
    passed_over=[],
    pending=PendingChanges(read=1, skip=0, gone=0),
    last_run=None,
    watcher=None,
    writer=WriterNow(pid=1, host="here", command="notehop index", since="2026-05-02T12:00:00"),
    server=None,
    made_with={"model": "readable"},
    settings={},
)


class FakeVault:
    """Repeats the question; raises ``fails`` instead when there is one."""

    name = "My vault"
    generation = 7

    def __init__(self, fails: Exception | None = None) -> None:
        self.fails = fails
        self.asked: list[Query] = []
        self.ready = False
        self.closed = False
        self.warmed = threading.Event()
        self.threads: set[str] = set()

    def warm(self) -> None:
        self.ready = True
        self.warmed.set()

    def ask(self, query: Query) -> Answer:
        self._take(query)
        return Answer(
            answer=query.query,
            mode="none",
            citations=[],
            sources=[],
            connected_notes=[],
            generation=self.generation,
        )

    def search(self, query: SearchQuery) -> SearchResult:
        self._take(query)
        return SearchResult(hits=[], connected_notes=[], generation=self.generation)

    def status(self) -> IndexStatus:
        if self.fails is not None:
            raise self.fails
        return STATUS

    def close(self) -> None:
        self.closed = True

    def _take(self, query: Query) -> None:
        self.threads.add(threading.current_thread().name)
        if self.fails is not None:
            raise self.fails
        if not query.query:
            raise QueryError("the query is empty; write what you look for")
        self.asked.append(query)
