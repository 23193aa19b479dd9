"""What one query carries through its stages: the generation it sees, and a record of it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from llama_index.core.schema import QueryBundle

from notehop.app.models import Explanation
from notehop.app.retrieval.nodes import Hits, Vector
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.reader import Snapshot

if TYPE_CHECKING:
    from notehop.app.retrieval.freshness import CurrentView

_log = logging.getLogger(__name__)


ViewSource: TypeAlias = Snapshot | Callable[[], Snapshot]
"""A generation of the index, or what gives the newest one: a reader's ``snapshot``."""


@dataclass(slots=True)
class Trace:
    """What the stages of one query report.

    ``counts`` maps stage -> what was counted -> how many (or which, for a name); ``timings_ms``
    maps stage -> milliseconds, added up when a stage runs twice; stages may run beside each other.
    ``text`` is what was searched for, the query without its filters (None until that is known), and
    ``filters`` are those that were applied, as they are written in a query. ``searched_for`` maps
    words of the query that stand nowhere in the vault to what was searched for in their place.
    ``plan`` tells how the query was weighed, None where nothing was ranked. A trace that nobody kept
    logs its warnings, so that they are never lost.
    """

    kept: bool = True
    warnings: list[str] = field(default_factory=list)
    counts: dict[str, dict[str, int | str]] = field(default_factory=dict)
    timings_ms: dict[str, float] = field(default_factory=dict)
    text: str | None = None
    filters: list[str] = field(default_factory=list)
    searched_for: dict[str, str] = field(default_factory=dict)
    plan: Explanation | None = None

    def warn(self, message: str, *, instead: str | None = None) -> None:
        """Keep a warning for the reply, once, in the place of ``instead`` if that was said."""
        if instead in self.warnings:
            self.warnings.remove(instead)
        if message in self.warnings:
            return
        self.warnings.append(message)
        if not self.kept:
            _log.warning("%s", message)

    def count(self, stage: str, **numbers: int | str) -> None:
        self.counts.setdefault(stage, {}).update(numbers)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time that the body takes to the stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            passed = (time.perf_counter() - start) * 1000
            self.timings_ms[stage] = self.timings_ms.get(stage, 0.0) + passed


@dataclass
class TracedQuery(QueryBundle):
    """A query that carries its trace and its generation through every component it is handed to.

    Make one for each query. The first stage that opens a generation sets ``view``, so that all see
    the same one; the first that embeds the query its ``vector``, of length 1; the first that looks at
    files ``current``, the generation as far as it stands there. ``expand`` is set while a
    ``GraphEnhancedRetriever`` asks: what is linked with the best of what signals found, fused, best
    first, as chunks with scores; and the weight of that ranking's vote. What is a LlamaIndex query's
    own is never written to: the caller may ask with it again.
    """

    trace: Trace = field(default_factory=Trace)
    view: Snapshot | None = field(default=None, repr=False)
    vector: Vector | None = field(default=None, repr=False)
    current: CurrentView | None = field(default=None, repr=False)
    expand: tuple[Callable[[Sequence[ChunkId]], Hits], float] | None = field(
        default=None, repr=False
    )


def traced(query: QueryBundle, *, kept: bool = True) -> TracedQuery:
    """Return the query itself if it carries a trace, else one like it that does; where that is not
    ``kept``, nobody reads it, and its warnings are logged."""
    if isinstance(query, TracedQuery):
        return query
    return TracedQuery(
        query_str=query.query_str,
        custom_embedding_strs=query.custom_embedding_strs,
        embedding=query.embedding,
        trace=Trace(kept=kept),
    )


def trace_of(query: QueryBundle | None) -> Trace:
    """Return the trace of a query; one that logs its warnings if the query carries none."""
    return query.trace if isinstance(query, TracedQuery) else Trace(kept=False)


def view_for(query: QueryBundle | None, source: ViewSource) -> Snapshot:
    """Return the generation that the query is answered from.

    One that is opened is kept on a traced query for its later stages. What cannot be searched in it
    becomes a warning of the query.
    """
    carried = query if isinstance(query, TracedQuery) and callable(source) else None
    if carried is not None and carried.view is not None:
        return carried.view
    view = source() if callable(source) else source
    if carried is not None:
        carried.view = view
    trace = trace_of(query)
    for warning in view.warnings:
        trace.warn(warning)
    return view
