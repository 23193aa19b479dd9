"""A vault that answers without index and model, and keeps what it was asked."""

from __future__ import annotations

import threading

from app.models import Answer, Query, SearchQuery, SearchResult
from config.errors import QueryError


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

    def close(self) -> None:
        self.closed = True

    def _take(self, query: Query) -> None:
        self.threads.add(threading.current_thread().name)
        if self.fails is not None:
            raise self.fails
        if not query.query:
            raise QueryError("the query is empty; write what you look for")
        self.asked.append(query)
