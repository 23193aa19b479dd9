"""What one query carries through its stages (the generation it sees, and a record of it), and what all
stages have in common."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from llama_index.core.bridge.pydantic import ConfigDict, Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from notehop.app.models import Explanation
from notehop.app.retrieval.nodes import Hits, Vector
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.reader import Snapshot

if TYPE_CHECKING:
    from notehop.app.retrieval.freshness import CurrentView

_log = logging.getLogger(__name__)

ViewSource: TypeAlias = Snapshot | Callable[[], Snapshot]
"""A generation of the index, or what gives the newest one: a reader's ``snapshot``."""


Nodes: TypeAlias = list[NodeWithScore]


@dataclass(slots=True)
class Trace:
    """What the stages of one query report, as the fields of a reply have it.

    ``counts`` maps stage -> what was counted -> how many (or which, for a name); ``timings_ms`` maps
    stage -> milliseconds, added up when a stage runs twice. ``text`` is what was searched for, the query
    without its filters, None until that is known. ``plan`` is None where nothing was ranked. A trace
    that nobody kept logs its warnings, so that they are never lost.
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

    The first stage that opens a generation sets ``view``, so that all see the same one; the first that
    embeds the query its ``vector``, of length 1; the first that looks at files ``current``. ``expand``
    is set while a ``GraphEnhancedRetriever`` asks: what is linked with the best of what signals found,
    fused, best first, as chunks with scores; and the weight of that ranking's vote. What is a LlamaIndex
    query's own is never written to: the caller may ask with it again.
    """

    trace: Trace = field(default_factory=Trace)
    view: Snapshot | None = field(default=None, repr=False)
    vector: Vector | None = field(default=None, repr=False)
    current: CurrentView | None = field(default=None, repr=False)
    expand: tuple[Callable[[Sequence[ChunkId]], Hits], float] | None = field(
        default=None, repr=False
    )


def traced(query: QueryBundle, *, kept: bool = True) -> TracedQuery:
    """The query itself if it carries a trace, else one like it that does."""
    if isinstance(query, TracedQuery):
        return query
    return TracedQuery(
        query_str=query.query_str,
        custom_embedding_strs=query.custom_embedding_strs,
        embedding=query.embedding,
        trace=Trace(kept=kept),
    )


def view_for(query: TracedQuery, source: ViewSource) -> Snapshot:
    """The generation that the query is answered from, which it keeps for its later stages; what cannot
    be searched in it becomes a warning of the query."""
    if not callable(source):
        view = source
    elif query.view is not None:
        return query.view
    else:
        view = query.view = source()
    for warning in view.warnings:
        query.trace.warn(warning)
    return view


class TracedRetriever(BaseRetriever):
    """A retriever whose query carries its trace, and which runs in a thread where it is awaited: model,
    index and files are read without asyncio."""

    def find(self, query: TracedQuery) -> Nodes:
        """Return the hits, best first."""
        # Not abstract: LlamaIndex wraps what fills one in a span, which costs as much as a ranking.
        raise NotImplementedError

    def _retrieve(self, query_bundle: QueryBundle) -> Nodes:
        # Warnings are the reply's where somebody reads the trace; else they are logged.
        return self.find(traced(query_bundle, kept=False))

    async def _aretrieve(self, query_bundle: QueryBundle) -> Nodes:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class VaultPostprocessor(BaseNodePostprocessor):
    """A postprocessor that is wired to an index, which is no part of what is serialised."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    view: Any = Field(exclude=True, description="A ViewSource: the index.")

    stage: ClassVar[str]
    """Its name in a query's trace."""

    needs_query: ClassVar[bool] = False

    def process(self, hits: Nodes, query: TracedQuery, view: Snapshot) -> Nodes:
        """Return the hits as the stage leaves them."""
        raise NotImplementedError

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None and self.needs_query:
            raise ValueError(f"the {self.stage} needs the query; hand it in as query_bundle")
        query = traced(query_bundle or QueryBundle(""), kept=False)
        with query.trace.timed(self.stage):
            return self.process(nodes, query, view_for(query, self.view))

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex serialises the component."""
        return cls.__name__

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        # The index is open once, and so is the model: a copy is wired to the same.
        return self.model_copy()

    def __getstate__(self) -> dict[str, Any]:
        # LlamaIndex takes what cannot be pickled out of the living object: give it another.
        return BaseNodePostprocessor.__getstate__(self.model_copy())
