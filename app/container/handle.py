"""An opened vault: what every edge asks and answers with.

Touches: vault-read (names, sizes, times), index (reads), model.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from llama_index.core.llms import LLM

from app.answer.material import material_of
from app.answer.query_engine import NotehopQueryEngine
from app.container.assembly import Wanted
from app.container.machinery import Machinery
from app.container.pending import counter
from app.container.place import Place
from app.container.queries import as_query, checked
from app.container.retriever import VaultRetriever
from app.container.status import index_status
from app.models import (
    Answer,
    IndexStatus,
    Query,
    SearchQuery,
    SearchResult,
)
from app.retrieval.trace import TracedQuery
from config import Settings
from indexing.stores.reader import Reader


class VaultHandle:
    """One vault, opened for questions. Threads may share it; close it, or use it in a ``with``.

    The model is loaded with the first query (or :meth:`warm`). Every query sees the newest
    generation of the index.
    """

    def __init__(self, place: Place, reader: Reader, llm: LLM | None = None) -> None:
        """Take over an opened index; :func:`app.open_vault` opens it."""
        self.place = place
        self._machinery = Machinery(place, reader, llm)
        self._pending = counter(place, reader)

    @property
    def name(self) -> str:
        """Name of the vault: that of its folder."""
        return self.place.name

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.place.settings

    @property
    def generation(self) -> int:
        """Generation of the index that was read last."""
        return self._machinery.reader.generation

    @property
    def ready(self) -> bool:
        """Whether all that a query needs is loaded."""
        return self._machinery.ready

    def ask(self, query: str | Query, **options: Any) -> Answer:
        """Answer a question.

        :param options: fields of :class:`app.models.Query`: ``top_k``, ``filters``,
            ``literal``, ``connected``, ``explain``.
        :raises QueryError: if the question is empty or too long, or an option is wrong.
        """
        asked = as_query(Query, query, options)
        traced, started = self._begin(asked)
        wanted = _asked(asked)
        response = self._engine(wanted).query(traced)
        told = response.metadata or {}
        return Answer(
            answer=str(response),
            mode=told["mode"],
            citations=_explained(told["citations"], asked),
            mentioned=told["mentioned"],
            sources=_explained(told["sources"], asked),
            connected_notes=told["connected_notes"],
            warnings=told["warnings"],
            filters=traced.trace.filters,
            generation=_generation(traced),
            pending=self._pending.value(),
            timings_ms=_timings(told["timings_ms"], started),
        )

    def search(self, query: str | Query, **options: Any) -> SearchResult:
        """List the passages or notes that match, best first.

        :param options: fields of :class:`app.models.SearchQuery`: those of :meth:`ask` and
            ``results``.
        :raises QueryError: if the query is empty or too long, or an option is wrong.
        """
        asked = as_query(SearchQuery, query, options)
        traced, started = self._begin(asked)
        wanted = replace(_asked(asked), results=asked.results, fill=False)
        found = material_of(self._machinery.retrieve(traced, wanted), self.name)
        return SearchResult(
            hits=_explained([source.model_dump() for source in found.sources], asked),
            connected_notes=list(found.connected),
            warnings=traced.trace.warnings,
            filters=traced.trace.filters,
            generation=_generation(traced),
            pending=self._pending.value(),
            timings_ms=_timings(traced.trace.timings_ms, started),
        )

    def query_engine(
        self,
        *,
        top_k: int | None = None,
        connected: Mapping[str, Any] | None = None,
        filters: Mapping[str, Any] | None = None,
        literal: bool = False,
    ) -> NotehopQueryEngine:
        """A LlamaIndex query engine over this vault, for as long as the handle is open.

        :param connected: ``max``, ``order`` and ``direction``; the settings where not given.
        :param filters: fields of :class:`app.models.Filters`, for every query.
        :param literal: whether queries hold no filters, whatever they look like.
        :raises QueryError: if an option is wrong.
        """
        return self._engine(_wanted(top_k, connected, filters, literal))

    def retriever(
        self,
        *,
        top_k: int | None = None,
        connected: Mapping[str, Any] | None = None,
        filters: Mapping[str, Any] | None = None,
        literal: bool = False,
    ) -> VaultRetriever:
        """A LlamaIndex retriever over this vault: ``top_k`` sources, then connected notes.

        Hand ``connected={"max": 0}`` to have sources only, for a synthesizer of LlamaIndex, which
        does not tell the two apart.

        :param filters: as for :meth:`query_engine`, like ``literal``.
        :raises QueryError: if an option is wrong.
        """
        wanted = replace(_wanted(top_k, connected, filters, literal), fill=False)
        return VaultRetriever(self._machinery.retrieve, wanted)

    def warm(self) -> None:
        """Load what queries need, so that the first is as quick as the second.

        :raises ModelError: if the model cannot be loaded.
        """
        self._pending.begin()
        self._machinery.warm()

    def status(self) -> IndexStatus:
        """What the index holds, how fresh it is, and who works on it.

        :raises IndexFailure: if the index is gone or cannot be read.
        """
        return index_status(self.place)

    def close(self) -> None:
        """Let go of the index; a second time is nothing."""
        self._machinery.reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _begin(self, asked: Query) -> tuple[TracedQuery, float]:
        started = time.perf_counter()
        text = checked(asked.query, self.settings.retrieval.max_query_chars, asked.filters)
        self._pending.begin()
        return TracedQuery(text), started

    def _engine(self, wanted: Wanted) -> NotehopQueryEngine:
        retriever = VaultRetriever(self._machinery.retrieve, wanted)
        return NotehopQueryEngine(retriever, self._machinery.synthesizer)


def _wanted(
    top_k: int | None,
    connected: Mapping[str, Any] | None,
    filters: Mapping[str, Any] | None,
    literal: bool,
) -> Wanted:
    options = {
        "top_k": top_k,
        "connected": dict(connected or {}),
        "filters": dict(filters or {}),
        "literal": literal,
    }
    return _asked(as_query(Query, "-", options))


def _asked(query: Query) -> Wanted:
    return Wanted(query.top_k, query.connected, filters=query.filters, literal=query.literal)


def _explained(sources: list[dict[str, Any]], asked: Query) -> list[Any]:
    """Sources with the ranks of the signals only where the query asks for them."""
    return sources if asked.explain else [{**source, "signals": None} for source in sources]


def _timings(stages: Mapping[str, float], started: float) -> dict[str, float]:
    total = (time.perf_counter() - started) * 1000
    return {name: round(value, 3) for name, value in {**stages, "total": total}.items()}


def _generation(query: TracedQuery) -> int:
    return int(query.trace.counts["index"]["generation"])
