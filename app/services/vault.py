"""An opened vault: what every edge asks and answers with.

Touches: vault-read, vault-write (:meth:`VaultHandle.capture` alone), index (reads), model.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, get_type_hints

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.response.schema import Response
from llama_index.core.llms import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores import MetadataFilters

from notehop.app.answer.material import material_of
from notehop.app.answer.query_engine import NotehopQueryEngine
from notehop.app.answer.synthesizer import VaultSynthesizer
from notehop.app.models import (
    Answer,
    BaseQuery,
    BrowseQuery,
    BrowseResult,
    Captured,
    CaptureQuery,
    Connection,
    Embedded,
    EmbedQuery,
    GraphView,
    IndexStatus,
    Intent,
    NoteView,
    Query,
    SearchQuery,
    SearchResult,
    Source,
    StreamEvent,
    ThemesQuery,
    ThemesResult,
    VaultOverview,
)
from notehop.app.models.query import as_query
from notehop.app.retrieval.chain import Wanted, connected, freshness
from notehop.app.retrieval.connected_notes import ConnectedNotesPostprocessor
from notehop.app.retrieval.filters.metadata import fields_of
from notehop.app.retrieval.filters.parse import checked
from notehop.app.retrieval.freshness import FreshnessPostprocessor
from notehop.app.retrieval.nodes import to_node
from notehop.app.retrieval.trace import TracedQuery
from notehop.app.services.ask import Conversations, FollowUp, events, explained, weighing_of
from notehop.app.services.browse import browse, overview
from notehop.app.services.capture import capture
from notehop.app.services.current_notes import CurrentNotes
from notehop.app.services.engine import Engine, VaultRetriever
from notehop.app.services.graph_layout import graph_view
from notehop.app.services.index_process import remedy
from notehop.app.services.open_vault import Place
from notehop.app.services.read_note import note_view
from notehop.app.services.related import find_related
from notehop.app.services.status import index_status, pending_counter
from notehop.app.services.themes import VaultThemes
from notehop.config import Settings
from notehop.indexing.capture.capture import Kept
from notehop.indexing.embed.onnx_embedding import QueryEmbedder
from notehop.indexing.shown import counted
from notehop.indexing.stores.link_graph import build_graph
from notehop.indexing.stores.reader import Reader, Snapshot

if TYPE_CHECKING:
    import networkx as nx
    from llama_index.core.tools import FunctionTool

ReplyT = TypeVar("ReplyT", BrowseResult, NoteView, ThemesResult, VaultOverview)


def embed(embedder: QueryEmbedder, query: EmbedQuery) -> Embedded:
    """Return a vector a text, with the prompt that the model has for its kind.

    What of a text is longer than the model's window is not read.

    :raises ModelError: if the model fails.
    """
    if query.kind == "query":
        rows = np.stack([embedder.embed_query(text) for text in query.texts])
    else:
        rows = embedder.embed(query.texts)
    return Embedded(
        model=embedder.model_name, dimensions=embedder.dimensions, vectors=rows.tolist()
    )


NEAREST = 3
"""Passages that a search shows where nothing matches."""

NOTHING = (
    "nothing in the notes matches; what is shown is nearest by chance; for more of it ask with "
    "min_score 0"
)


class VaultHandle:
    """One vault, opened for questions. Threads may share it; close it, or use it in a ``with``.

    The model is loaded with the first query (or :meth:`warm`). Every query sees the newest
    generation of the index.
    """

    def __init__(self, place: Place, reader: Reader, llm: LLM | None = None) -> None:
        """Take over an opened index; :func:`app.open_vault` opens it."""
        self.place = place
        self._engine = Engine(place, reader, llm)
        self._pending = pending_counter(place, reader)
        self._themes = VaultThemes(place, self._engine)
        self._conversations = Conversations(place.settings.conversation)

    @property
    def name(self) -> str:
        """Name of the vault: that of its folder."""
        return self.place.name

    @property
    def path(self) -> Path:
        """The folder of the vault."""
        return self.place.vault

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.place.settings

    @property
    def generation(self) -> int:
        """Generation of the index that was read last."""
        return self._engine.reader.generation

    @property
    def ready(self) -> bool:
        """Whether all that a query needs is loaded."""
        return self._engine.ready

    def ask(self, query: str | Query, **options: Any) -> Answer:
        """Answer a question.

        :param options: fields of :class:`notehop.app.models.Query`: ``top_k``, ``filters``,
            ``literal``, ``intent``, ``connected``, ``explain``, ``themes``, ``conversation_id``.
        :raises QueryError: if the question is empty or too long, or an option is wrong.
        """
        asked = as_query(Query, query, options)
        traced, started = self._begin(asked)
        followed = self._follow_up(asked, traced)
        followed.read()
        engine = self._engine_for(_asked(asked), asked.themes, followed.synthesizer)
        response = engine.query(traced)
        return followed.kept(self._answer(response, asked, traced, started))  # type: ignore[arg-type]

    async def aask(self, query: str | Query, **options: Any) -> Answer:
        """Do as :meth:`ask`, in a thread."""
        return await asyncio.to_thread(self.ask, query, **options)

    def stream(
        self,
        query: str | Query,
        *,
        cancelled: Callable[[], bool] | None = None,
        **options: Any,
    ) -> Iterator[StreamEvent]:
        """Answer a question as :meth:`ask`, in events: sources first, the text as it is written.

        The last event is ``done``, with the whole answer, or ``error``. Nothing is done before the
        first event is asked for, nor after the iterator is closed.

        :param cancelled: asked often; once it says yes, a model is stopped and the events end.
        :raises QueryError: at once, if the question is empty or too long, or an option is wrong.
        """
        asked = as_query(Query, query, options)
        traced, started = self._begin(asked)
        followed = self._follow_up(asked, traced, cancelled)
        return events(
            self._engine_for(_asked(asked), asked.themes),
            lambda: followed.synthesizer,
            traced,
            self.name,
            begin=followed.read,
            shown=lambda found: explained([one.model_dump() for one in found], asked),
            finished=lambda response: followed.kept(self._answer(response, asked, traced, started)),
            cancelled=cancelled or (lambda: False),
        )

    def search(self, query: str | BaseQuery, **options: Any) -> SearchResult:
        """List the passages or notes that match, best first.

        :param options: fields of :class:`notehop.app.models.SearchQuery`: those of :meth:`ask` and
            ``results`` and ``min_score``.
        :raises QueryError: if the query is empty or too long, or an option is wrong.
        """
        asked = as_query(SearchQuery, query, options)
        traced, started = self._begin(asked)
        wanted = replace(_asked(asked), results=asked.results, fill=False, by_relevance=True)
        retriever = VaultRetriever(self._engine.retrieve, wanted, self.name)
        found = material_of(retriever.retrieve(traced), self.name)
        matching, nothing = _matching(
            found.sources, asked.min_score, narrowed=bool(traced.trace.filters)
        )
        if nothing is not None:
            traced.trace.warn(nothing)
        return SearchResult(
            hits=explained([{**dict(source), "file": source.path} for source in matching], asked),
            connected_notes=list(found.connected) if nothing is None else [],
            warnings=traced.trace.warnings,
            filters=traced.trace.filters,
            searched_for=traced.trace.searched_for,
            **weighing_of(traced.trace, asked),
            generation=_generation(traced),
            pending=self._pending.value(),
            timings_ms=_timings(traced.trace.timings_ms, started),
        )

    async def asearch(self, query: str | BaseQuery, **options: Any) -> SearchResult:
        """Do as :meth:`search`, in a thread."""
        return await asyncio.to_thread(self.search, query, **options)

    def browse(self, query: BrowseQuery) -> BrowseResult:
        """List what lies around some notes in the graph of links, best first.

        :raises NoteMissing: if a seed is no note.
        :raises QueryError: if a filter makes no sense.
        """
        with self._current() as now:
            found = browse(now, self._engine.tokenizer, as_query(BrowseQuery, query))
        return self._with_pending(found)

    def themes(self, query: str | ThemesQuery = "", **options: Any) -> ThemesResult:
        """List the themes of the vault, or those that have to do with a query.

        :param options: fields of :class:`notehop.app.models.ThemesQuery`: ``filters``, ``literal`` and
            ``max``.
        :raises QueryError: if themes are switched off, or an option is wrong.
        """
        asked = as_query(ThemesQuery, query, options)
        with self._current() as now:
            found = self._themes.listed(now, asked)
        return self._with_pending(found)

    def overview(self) -> VaultOverview:
        """Count the tags, folders, page types and properties that filters can be used with."""
        with self._current() as now:
            found = overview(now)
        return self._with_pending(found)

    def note(
        self, path_or_name: str, *, section: str | None = None, mentions: bool = True
    ) -> NoteView:
        """Read a note as it is now, with its outline and the links around it.

        :param path_or_name: path in the vault, title, alias, or name as in a link.
        :param section: a heading, headings down to one (``A > B``), or ``^block``.
        :param mentions: whether to look for places that say its name without a link.
        :raises NoteMissing: if there is no such note or section, or it is kept out of the index.
        :raises UsageError: if several notes are meant.
        """
        tokenizer = self._engine.tokenizer
        with self._current() as now:
            found = note_view(now, tokenizer, path_or_name, section=section, mentions=mentions)
        return self._with_pending(found)

    def graph(self) -> nx.MultiDiGraph:
        """The graph of the links between the notes that are in the vault now, the caller's to keep.

        A node is a path with ``title``, ``tags``, ``page_type`` and ``modified`` (seconds since the
        epoch); an edge a link that leads to a note, under its place among those of its note, with
        ``kind``, ``line``, ``fragment``, ``sentence``, ``via`` and ``status``.
        """
        with self._engine.current() as now:
            rows = now.notes_at(now.paths())
            return build_graph(rows.values(), now.links_from(rows))

    def picture(self, around: Sequence[str] = (), *, depth: int = 1, most: int = 60) -> GraphView:
        """Lay out the notes around some, or without any the best of the vault by PageRank.

        :param depth: links from them, 1 or 2.
        :param most: notes at most, 1 to 300.
        :raises NoteMissing: if one of them is no note.
        :raises QueryError: if a number is out of range.
        """
        with self._engine.current() as now:
            return graph_view(now, around, depth=depth, most=most)

    def capture(self, query: CaptureQuery) -> Captured:
        """Keep a text as a new note, and name the notes that it has to do with.

        It fails only if the note cannot be written: a look-up that fails or takes too long is
        logged, and said in the message. The index is not brought up to date by it.

        :raises CaptureFailed: if the note cannot be written.
        """
        self._engine.check_open()
        return capture(self.place, as_query(CaptureQuery, query), lambda: self.related)

    def related(self, kept: Kept) -> list[Connection]:
        """The notes that a captured one has to do with, best first; none that it links to.

        :raises NotehopError: as :meth:`search`.
        """
        with self._engine.current() as now:
            return find_related(self._engine, now, kept)

    def embed(self, query: EmbedQuery) -> Embedded:
        """Return texts as vectors, by the model of the index.

        :raises ModelError: if the model cannot be loaded, or fails.
        """
        self._engine.check_open()
        return embed(self._engine.embedder, as_query(EmbedQuery, query))

    def query_engine(
        self,
        *,
        top_k: int | None = None,
        connected: Mapping[str, Any] | None = None,
        filters: Mapping[str, Any] | MetadataFilters | None = None,
        literal: bool = False,
        intent: Intent | None = None,
        llm: LLM | None = None,
        node_postprocessors: Sequence[BaseNodePostprocessor] = (),
        streaming: bool = False,
    ) -> NotehopQueryEngine:
        """A LlamaIndex query engine over this vault, for as long as the handle is open.

        Its prompts are its own: to update them changes neither other engines nor :meth:`ask`.

        :param connected: ``max``, ``order`` and ``direction``; the settings where not given.
        :param filters: fields of :class:`notehop.app.models.Filters`, or LlamaIndex's
            ``MetadataFilters`` over ``tags``, ``path``, ``type``, ``date`` and properties; for every
            query.
        :param literal: whether queries hold no filters, whatever they look like.
        :param intent: what queries are after; the setting where not given.
        :param llm: writes the answers; None for the language model of this vault, else quotes.
        :param node_postprocessors: what else sources and connected notes go through, in this order.
        :param streaming: answer with a ``StreamingResponse``: its sources are there at once, and its
            metadata tell the rest of the answer (``answer``, ``citations``, ``claims``) at its end.
        :raises QueryError: if an option is wrong.
        """
        wanted = _wanted(top_k, connected, filters, literal, intent)
        retriever = VaultRetriever(
            self._themes.or_else(self._engine.retrieve, None), wanted, self.name
        )
        synthesizer = self.synthesizer(llm, streaming=streaming)
        return NotehopQueryEngine(retriever, synthesizer, node_postprocessors=node_postprocessors)

    def synthesizer(self, llm: LLM | None = None, *, streaming: bool = False) -> VaultSynthesizer:
        """A LlamaIndex response synthesizer that answers as this vault does, from any nodes.

        Nodes with the role ``connected`` are context only. Its prompts are its own.

        :param llm: writes the answers; None for the language model of this vault, else quotes.
        """
        found = self._engine.own_synthesizer(llm)
        return found.in_pieces() if streaming else found

    def retriever(
        self,
        *,
        top_k: int | None = None,
        connected: Mapping[str, Any] | None = None,
        filters: Mapping[str, Any] | MetadataFilters | None = None,
        literal: bool = False,
        intent: Intent | None = None,
    ) -> VaultRetriever:
        """A LlamaIndex retriever over this vault: ``top_k`` sources, then connected notes.

        Hand ``connected={"max": 0}`` to have sources only, for a synthesizer of LlamaIndex, which
        does not tell the two apart.

        :param filters: as for :meth:`query_engine`, like ``literal`` and ``intent``.
        :raises QueryError: if an option is wrong.
        """
        wanted = _wanted(top_k, connected, filters, literal, intent)
        wanted = replace(wanted, fill=False, by_relevance=True)
        return VaultRetriever(self._engine.retrieve, wanted, self.name)

    def tools(self) -> list[FunctionTool]:
        """The tools that agents are given over MCP, for an agent of LlamaIndex."""
        from notehop.app.mcp.tool_spec import VaultToolSpec

        self._engine.check_open()
        return VaultToolSpec(self).to_tool_list()

    def nodes(self) -> list[TextNode]:
        """The passages of the vault as LlamaIndex nodes with their vectors, by path and place.

        For an index of one's own: its hits are then known to :meth:`connected_notes` by their ids.
        What is not in the files any more is left out.
        """
        with self._engine.current() as now:
            notes = now.notes_at(now.paths())
            chunks = now.chunks(one for path in notes for one in now.chunk_ids_of(path))
            vectors = dict(zip(*now.chunk_vectors.rows(chunks), strict=True))
            found: list[TextNode] = []
            for id_, chunk in chunks.items():
                siblings = now.chunk_ids_of(chunk.path)
                node = to_node(chunk, notes[chunk.path], siblings)
                node.embedding = vectors[id_].tolist() if id_ in vectors else None
                found.append(node)
            return found

    def view(self) -> Snapshot:
        """The newest generation of the index: what components of :mod:`notehop.app.retrieval` are
        wired to. Hand them the method itself, and each query sees the newest."""
        return self._engine.reader.snapshot()

    @property
    def embed_model(self) -> BaseEmbedding:
        """The model that embedded the index, as a LlamaIndex embedding.

        :raises ModelError: if it cannot be loaded.
        """
        self._engine.check_open()
        return self._engine.embedder

    def fresh_only(self) -> FreshnessPostprocessor:
        """A LlamaIndex postprocessor that drops what is not in the vault's files any more.

        For hits of any retriever: a note that was deleted or made private a second ago may still
        be in an index.
        """
        self._engine.check_open()
        return freshness(self.view, self.path, self.settings, lambda: remedy(self.place.layout))

    def connected_notes(
        self,
        *,
        top_k: int | None = None,
        max: int | None = None,
        order: Literal["context", "rank"] | None = None,
        direction: Literal["forward", "backward", "both"] | None = None,
    ) -> ConnectedNotesPostprocessor:
        """A LlamaIndex postprocessor that adds the notes which the best hits are linked with.

        For hits of any retriever over the notes of this vault: what is none of this index is looked
        up by the ``path`` or ``file_path`` of its metadata. No note is added that is not there any
        more. None means the setting in force.

        :param top_k: sources that are in the context for sure; hand it more hits than that.
        :raises QueryError: if an option is wrong.
        """
        chosen = {"max": max, "order": order, "direction": direction}
        wanted = _wanted(top_k, chosen, None, False, None)
        settings, model = self.place.settings, self.embed_model
        return connected(self.view, settings, wanted, model, self.fresh_only())

    def node_postprocessors(self) -> list[BaseNodePostprocessor]:
        """What makes the hits of any retriever a context of this vault, in this order.

        They are :meth:`fresh_only` and :meth:`connected_notes`, as the settings say.
        """
        return [self.fresh_only(), self.connected_notes()]

    def warm(self) -> None:
        """Load what queries need, so that the first is as quick as the second.

        :raises ModelError: if the model cannot be loaded.
        """
        self._engine.check_open()
        self._pending.begin()
        self._engine.warm()

    def status(self) -> IndexStatus:
        """What the index holds, how fresh it is, and who works on it.

        :raises IndexFailure: if the index is gone or cannot be read.
        """
        self._engine.check_open()
        return index_status(self.place)

    def close(self) -> None:
        """Let go of the index and of a provider's connections; a second time is nothing.

        Whatever is asked of it, or of its engines and retrievers, from then on is a
        :class:`notehop.config.errors.UsageError`.
        """
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _begin(self, asked: BaseQuery) -> tuple[TracedQuery, float]:
        self._engine.check_open()
        started = time.perf_counter()
        text = checked(asked.query, self.settings.retrieval.max_query_chars, asked.filters)
        self._pending.begin()
        return TracedQuery(text), started

    @contextmanager
    def _current(self) -> Iterator[CurrentNotes]:
        """What a reply is made of, while the changes since the index was made are counted."""
        self._engine.check_open()
        self._pending.begin()
        with self._engine.current() as now:
            yield now

    def _with_pending(self, reply: ReplyT) -> ReplyT:
        return reply.model_copy(update={"pending": self._pending.value()})

    def _answer(
        self, response: Response, asked: Query, traced: TracedQuery, started: float
    ) -> Answer:
        found = response.metadata or {}
        return Answer(
            answer=str(response),
            mode=found["mode"],
            model=self._engine.model_name if found["mode"] == "llm" else None,
            citations=explained(found["citations"], asked),
            mentioned=found["mentioned"],
            claims=found["claims"],
            left_out=found["left_out"],
            sources=explained(found["sources"], asked),
            connected_notes=found["connected_notes"],
            warnings=found["warnings"],
            filters=traced.trace.filters,
            searched_for=traced.trace.searched_for,
            **weighing_of(traced.trace, asked),
            generation=_generation(traced),
            pending=self._pending.value(),
            timings_ms=_timings(found["timings_ms"], started),
        )

    def _follow_up(
        self,
        asked: Query,
        traced: TracedQuery,
        cancelled: Callable[[], bool] | None = None,
    ) -> FollowUp:
        return FollowUp(asked, traced, self._conversations, self._engine, self.place, cancelled)

    def _engine_for(
        self, wanted: Wanted, themes: bool | None, synthesizer: VaultSynthesizer | None = None
    ) -> NotehopQueryEngine:
        retriever = VaultRetriever(
            self._themes.or_else(self._engine.retrieve, themes), wanted, self.name
        )
        return NotehopQueryEngine(retriever, synthesizer or self._engine.synthesizer)


def _matching(
    sources: Sequence[Source], least: float | None, *, narrowed: bool
) -> tuple[list[Source], str | None]:
    """The sources that a search shows, and what it says where none of them matches.

    :param least: relevance they must have; None shows the first few of nothing but weak matches.
    :param narrowed: whether they match filters, which is something.
    """
    if least is not None:
        kept = [one for one in sources if one.relevance is None or one.relevance >= least]
        lower = len(sources) - len(kept)
        if kept or not lower:
            return kept, None
        return [], f"nothing matches as well as that: {counted(lower, 'hit')} below {least:g}"
    if sources and not narrowed and all(one.weak for one in sources):
        return list(sources[:NEAREST]), NOTHING
    return list(sources), None


def _wanted(
    top_k: int | None,
    connected: Mapping[str, Any] | None,
    filters: Mapping[str, Any] | MetadataFilters | None,
    literal: bool,
    intent: Intent | None,
) -> Wanted:
    if isinstance(filters, MetadataFilters):
        filters = fields_of(filters)
    options = {
        "top_k": top_k,
        "connected": dict(connected or {}),
        "filters": dict(filters or {}),
        "literal": literal,
        "intent": intent,
    }
    return _asked(as_query(Query, "-", options))


def _asked(query: BaseQuery) -> Wanted:
    return Wanted(
        query.top_k,
        query.connected,
        filters=query.filters,
        literal=query.literal,
        intent=query.intent,
    )


# A LlamaIndex tool is made of a method by its annotations, which must be types by then.
for _method in (
    VaultHandle.ask,
    VaultHandle.search,
    VaultHandle.browse,
    VaultHandle.themes,
    VaultHandle.note,
    VaultHandle.picture,
    VaultHandle.capture,
    VaultHandle.embed,
):
    _method.__annotations__ = get_type_hints(_method)


def _timings(stages: Mapping[str, float], started: float) -> dict[str, float]:
    total = (time.perf_counter() - started) * 1000
    return {name: round(value, 3) for name, value in {**stages, "total": total}.items()}


def _generation(query: TracedQuery) -> int:
    return int(query.trace.counts["index"]["generation"])
