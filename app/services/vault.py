"""An opened vault: what every edge asks and answers with.

Annotations are types here, not texts: a LlamaIndex tool is made of a method by them.
"""

import asyncio
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores import MetadataFilters
from pydantic import BaseModel

from notehop.app import models
from notehop.app.answer.material import material_of
from notehop.app.answer.synthesizer import NotehopQueryEngine, VaultSynthesizer
from notehop.app.models.query import make_query
from notehop.app.retrieval.chain import RetrievalRequest, make_connected_stage, make_freshness_stage
from notehop.app.retrieval.components import TracedQuery, to_node
from notehop.app.retrieval.connected_notes import ConnectedNotesPostprocessor
from notehop.app.retrieval.filters import fields_of_metadata_filters, validate_query
from notehop.app.retrieval.freshness import FreshnessPostprocessor
from notehop.app.services.ask import Conversations, QuestionRun, explained, reply_fields
from notehop.app.services.capture import capture, find_related
from notehop.app.services.engine import NO_WORDS, Engine, Run, VaultRetriever
from notehop.app.services.notes.browse import browse, graph_view, overview
from notehop.app.services.notes.current_notes import CurrentNotes
from notehop.app.services.notes.read_note import note_view
from notehop.app.services.notes.suggest import suggest
from notehop.app.services.open_vault import Place, remedy
from notehop.app.services.status import PendingCount, index_status, pending_changes
from notehop.app.services.themes import VaultThemes
from notehop.config.errors import QueryError
from notehop.indexing.display import counted
from notehop.indexing.stores.link_graph import build_graph
from notehop.indexing.stores.reader import Reader, Snapshot
from notehop.indexing.vault.model import Note

if TYPE_CHECKING:
    import networkx as nx
    from llama_index.core.tools import FunctionTool

ReplyT = TypeVar("ReplyT", bound=BaseModel)

NEAREST = 3  # passages that a search shows where all are weak
NOTHING = "what is nearest has no word of the query, and is near by chance; min_score 0 shows it"
WEAK = "nothing in the notes matches well; what is shown has few of the words; min_score 0 shows more"


class VaultHandle:
    """One vault, opened: for questions, and as parts for an application of LlamaIndex.

    Threads may share it; close it, or use it in a ``with``. The model is loaded with the first
    query (or :meth:`warm`). Every query sees the newest generation of the index.

    :ivar name: of the vault: that of its folder.
    :ivar path: the folder of the vault.
    :ivar settings: those in force.
    """

    def __init__(self, place: Place, llm: LLM | None, reader: Reader) -> None:
        """Open an index; :func:`app.open_vault` does."""
        self.place, self.name, self.path = place, place.name, place.vault
        self.settings = place.settings
        self._engine = engine = Engine(place, llm, reader)
        self._themes = VaultThemes(engine)
        self._pending = PendingCount(
            lambda: pending_changes(place, engine.reader.catalog).pending,
            state=lambda: (engine.reader.catalog, engine.generation),
        )
        self._conversations = Conversations()

    @property
    def generation(self) -> int:
        """Generation of the index that was read last."""
        self._engine.check_open()
        return self._engine.generation

    @property
    def ready(self) -> bool:
        """Whether all that a query needs is loaded."""
        return self._engine.ready

    def ask(self, query: str | models.Query, **options: Any) -> models.Answer:
        """Answer a question.

        :param options: fields of :class:`notehop.app.models.Query`: ``top_k``, ``filters``,
            ``literal``, ``intent``, ``connected``, ``explain``, ``themes``, ``conversation_id``.
        :raises QueryError: if the question is empty or too long, or an option is wrong.
        """
        return self._run(make_query(models.Query, query, options)).answer()

    async def aask(self, query: str | models.Query, **options: Any) -> models.Answer:
        """Do as :meth:`ask`, in a thread."""
        return await asyncio.to_thread(self.ask, query, **options)

    def stream(
        self, query: str | models.Query, *, cancelled: Callable[[], bool] | None = None, **options: Any
    ) -> Generator[models.StreamEvent, None, None]:
        """Answer a question as :meth:`ask`, in events: sources first, the text as it is written.

        The last event is ``done``, with the whole answer, or ``error``. Nothing is done before the
        first event is asked for, nor after the iterator is closed.

        :param cancelled: asked often; once it says yes, a model is stopped and the events end.
        :raises QueryError: at once, if the question is empty or too long, or an option is wrong.
        """
        return self._run(make_query(models.Query, query, options), cancelled).events()

    def search(self, query: str | models.BaseQuery, **options: Any) -> models.SearchResult:
        """List the passages or notes that match, best first.

        :param options: fields of :class:`notehop.app.models.SearchQuery`: those of :meth:`ask` and
            ``results`` and ``min_score``.
        :raises QueryError: if the query is empty or too long, or an option is wrong.
        """
        asked = make_query(models.SearchQuery, query, options)
        traced, started = self._begin(asked), time.perf_counter()
        request = RetrievalRequest(asked, results=asked.results, fill=False, by_relevance=True)
        retriever = VaultRetriever(self._engine.retrieve, request, self.name)
        found = material_of(retriever.retrieve(traced), self.name)
        trace = traced.trace
        judged = not trace.filters and NO_WORDS not in trace.warnings
        matching, nothing = _matching(found.sources, asked.min_score, judged=judged)
        if nothing is not None:
            trace.warn(nothing)
        return models.SearchResult(
            hits=explained([{**dict(source), "file": source.path} for source in matching], asked),
            connected_notes=list(found.connected) if nothing is None else [],
            warnings=trace.warnings,
            **reply_fields(traced, asked, self._pending, started, trace.timings_ms),
        )

    async def asearch(self, query: str | models.BaseQuery, **options: Any) -> models.SearchResult:
        """Do as :meth:`search`, in a thread."""
        return await asyncio.to_thread(self.search, query, **options)

    def browse(self, query: models.BrowseQuery) -> models.BrowseResult:
        """List what lies around some notes in the graph of links, best first.

        :raises NoteMissing: if a seed is no note.
        :raises QueryError: if a filter makes no sense.
        """
        asked = make_query(models.BrowseQuery, query)
        return self._of_now(lambda now: browse(now, self._engine.tokenizer, asked))

    def themes(self, query: models.ThemesQuery | None = None, **options: Any) -> models.ThemesResult:
        """List the themes of the vault, the largest first.

        :param options: fields of :class:`notehop.app.models.ThemesQuery`: ``filters`` and ``max``.
        :raises QueryError: if themes are switched off, or an option is wrong.
        """
        asked = make_query(models.ThemesQuery, query or {}, options)
        return self._of_now(lambda now: self._themes.listed(now, asked))

    def suggest(self, note: str | None = None, limit: int = 10) -> models.Suggestions:
        """Suggest links that a note, or the whole vault, may lack, most likely first.

        :param note: path in the vault, title, alias, or name as in a link.
        :param limit: suggestions at most, 1 to 100.
        :raises NoteMissing: if there is no such note.
        :raises UsageError: if several notes are meant.
        :raises QueryError: if the limit is out of range.
        """
        asked = make_query(models.SuggestQuery, {"note": note, "limit": limit})
        tokenizer = self._engine.tokenizer
        return self._of_now(lambda now: suggest(now, tokenizer, asked.note, asked.limit))

    def overview(self) -> models.VaultOverview:
        """Count the tags, folders, page types and properties that filters can be used with."""
        return self._of_now(overview)

    def note(
        self, path_or_name: str, *, section: str | None = None, mentions: bool = True
    ) -> models.NoteView:
        """Read a note as it is now, with its outline and the links around it.

        :param path_or_name: path in the vault, title, alias, or name as in a link.
        :param section: a heading, headings down to one (``A > B``), or ``^block``.
        :param mentions: whether to look for places that say its name without a link.
        :raises NoteMissing: if there is no such note or section, or it is kept out of the index.
        :raises UsageError: if several notes are meant.
        """
        tokenizer = self._engine.tokenizer
        return self._of_now(
            lambda now: note_view(now, tokenizer, path_or_name, section=section, mentions=mentions)
        )

    def picture(self, around: Sequence[str] = (), *, depth: int = 1, most: int = 60) -> models.GraphView:
        """Lay out the notes around some, or without any the best of the vault by PageRank.

        :param depth: links from them, 1 or 2.
        :param most: notes at most, 1 to 300.
        :raises NoteMissing: if one of them is no note.
        :raises QueryError: if a number is out of range.
        """
        with self._engine.current() as now:
            return graph_view(now, around, depth=depth, most=most)

    def capture(self, query: models.CaptureQuery) -> models.Captured:
        """Keep a text as a new note, and name the notes that it has to do with.

        It fails only if the note cannot be written: a look-up that fails is logged, and said in the
        message. The index is not brought up to date by it.

        :raises CaptureFailed: if the note cannot be written.
        """
        self._engine.check_open()
        asked = make_query(models.CaptureQuery, query)
        return capture(self.place, asked, self.related)

    def related(self, kept: Note) -> list[models.Connection]:
        """The notes that a captured one has to do with, best first; none that it links to."""
        with self._engine.current() as now:
            return find_related(self._engine, now, kept)

    def embed(self, query: models.EmbedQuery) -> models.Embedded:
        """Return texts as vectors, by the model of the index, with its prompt for their kind.

        What of a text is longer than the model's window is not read.

        :raises ModelError: if the model cannot be loaded, or fails.
        """
        self._engine.check_open()
        asked, embedder = make_query(models.EmbedQuery, query), self._engine.embedder
        if asked.kind == "query":
            rows = np.stack([embedder.embed_query(text) for text in asked.texts])
        else:
            rows = embedder.embed(asked.texts)
        return models.Embedded(
            model=embedder.model_name, dimensions=embedder.dimensions, vectors=rows.tolist()
        )

    def tools(self) -> "list[FunctionTool]":
        """The tools that agents are given over MCP, for an agent of LlamaIndex."""
        from notehop.app.mcp.tool_spec import vault_tools

        self._engine.check_open()
        return vault_tools(self)

    def query_engine(
        self,
        *,
        llm: LLM | None = None,
        node_postprocessors: Sequence[BaseNodePostprocessor] = (),
        streaming: bool = False,
        **options: Any,
    ) -> NotehopQueryEngine:
        """A LlamaIndex query engine over this vault, for as long as the handle is open.

        Its prompts are its own: to update them changes neither other engines nor :meth:`ask`.

        :param llm: writes the answers; None for the language model of this vault, else quotes.
        :param node_postprocessors: what else sources and connected notes go through, in this order.
        :param streaming: answer with a ``StreamingResponse``: its sources are there at once, and its
            metadata tell the rest of the answer (``answer``, ``citations``, ``claims``) at its end.
        :param options: those of :meth:`retriever`, for every query.
        :raises QueryError: if an option is wrong.
        """
        retriever = self._for_answers(_make_request(options), None, llm or self._engine.llm)
        synthesizer = self.synthesizer(llm, streaming=streaming)
        return NotehopQueryEngine(retriever, synthesizer, node_postprocessors=node_postprocessors)

    def synthesizer(self, llm: LLM | None = None, *, streaming: bool = False) -> VaultSynthesizer:
        """A LlamaIndex response synthesizer that answers as this vault does, from any nodes.

        Nodes with the role ``connected`` are context only. Its prompts are its own.

        :param llm: writes the answers; None for the language model of this vault, else quotes.
        """
        found = self._engine.own_synthesizer(llm)
        return found.as_streaming() if streaming else found

    def retriever(self, **options: Any) -> VaultRetriever:
        """A LlamaIndex retriever over this vault: ``top_k`` sources, then connected notes.

        Hand ``connected={"max": 0}`` to have sources only, for a synthesizer of LlamaIndex, which
        does not tell the two apart.

        :param options: ``top_k``, ``filters`` (also LlamaIndex's ``MetadataFilters`` over ``tags``,
            ``path``, ``type``, ``date`` and properties), ``literal``, ``intent``, ``connected`` and
            ``second_look`` of :class:`notehop.app.models.BaseQuery`.
        :raises QueryError: if an option is wrong.
        """
        request = replace(_make_request(options), fill=False, by_relevance=True)
        return VaultRetriever(self._engine.retrieve, request, self.name)

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
                node = to_node(chunk, notes[chunk.path], now.chunk_ids_of(chunk.path))
                node.embedding = vectors[id_].tolist() if id_ in vectors else None
                found.append(node)
            return found

    def view(self) -> Snapshot:
        """The newest generation of the index. Components of :mod:`notehop.app.retrieval` take the
        method itself, so that each query sees the newest."""
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
        return make_freshness_stage(self.view, self.path, self.settings, lambda: remedy(self.place.layout))

    def connected_notes(self, *, top_k: int | None = None, **options: Any) -> ConnectedNotesPostprocessor:
        """A LlamaIndex postprocessor that adds the notes which the best hits are linked with.

        For hits of any retriever over the notes of this vault: what is none of this index is looked
        up by the ``path`` or ``file_path`` of its metadata. No note is added that is not there any
        more.

        :param top_k: sources that are in the context for sure; hand it more hits than that.
        :param options: ``max``, ``order`` and ``direction`` of
            :class:`notehop.app.models.ConnectedOptions`.
        :raises QueryError: if an option is wrong.
        """
        request = _make_request({"top_k": top_k, "connected": options})
        return make_connected_stage(self.view, self.settings, request, self.embed_model, self.fresh_only())

    def node_postprocessors(self) -> list[BaseNodePostprocessor]:
        """What makes the hits of any retriever a context of this vault, in this order."""
        return [self.fresh_only(), self.connected_notes()]

    def graph(self) -> "nx.MultiDiGraph":
        """The graph of the links between the notes that are in the vault now, the caller's to keep.

        A node is a path with ``title``, ``tags``, ``page_type`` and ``modified`` (seconds since the
        epoch); an edge a link that leads to a note, under its place among those of its note, with
        ``kind``, ``line``, ``fragment``, ``sentence``, ``via`` and ``status``.
        """
        with self._engine.current() as now:
            rows = now.notes_at(now.paths())
            return build_graph(rows.values(), now.links_from(rows))

    def warm(self) -> None:
        """Load what queries need, so that the first is as quick as the second.

        :raises ModelError: if the model cannot be loaded.
        """
        self._engine.check_open()
        self._pending.begin()
        self._engine.warm()

    def status(self) -> models.IndexStatus:
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

    def __exit__(self, *_: object) -> None:
        self.close()

    def _begin(self, asked: models.BaseQuery) -> TracedQuery:
        self._engine.check_open()
        text = validate_query(asked.query, asked.filters)
        self._pending.begin()
        return TracedQuery(text)

    def _run(self, asked: models.Query, cancelled: Callable[[], bool] | None = None) -> QuestionRun:
        query, engine = self._begin(asked), self._engine
        retriever = self._for_answers(RetrievalRequest(asked), asked.themes, engine.llm)
        talks, pending = self._conversations, self._pending
        return QuestionRun(asked, query, retriever, engine, talks, pending, cancelled)

    def _for_answers(self, request: RetrievalRequest, themes: bool | None, llm: LLM | None) -> VaultRetriever:
        run: Run = self._engine.retrieve
        if themes or (themes is None and self.settings.themes.enabled):
            run = self._themes.or_else(run, asked=bool(themes))
        request = replace(request, listing=not request.query.literal, for_model=llm is not None)
        return VaultRetriever(run, request, self.name)

    def _of_now(self, make: Callable[[CurrentNotes], ReplyT]) -> ReplyT:
        """A reply, made while the changes since the index was made are counted."""
        self._engine.check_open()
        self._pending.begin()
        with self._engine.current() as now:
            found = make(now)
        return found.model_copy(update={"pending": self._pending.value(now.changes)})


def _make_request(options: Mapping[str, Any]) -> RetrievalRequest:
    given = {name: value for name, value in options.items() if value is not None}
    if of_queries := {"query", "explain"} & given.keys():
        raise QueryError(f"{', '.join(sorted(of_queries))}: of one query, and no option of an engine")
    if isinstance(filters := given.get("filters"), MetadataFilters):
        given["filters"] = fields_of_metadata_filters(filters)
    return RetrievalRequest(make_query(models.BaseQuery, "-", given))


def _matching(
    sources: Sequence[models.Source], least: float | None, *, judged: bool
) -> tuple[list[models.Source], str | None]:
    """The sources that a search shows, and what it says where none of them matches.

    :param judged: whether the query has words that a match must have.
    """
    if least is not None:
        kept = [one for one in sources if one.relevance is None or one.relevance >= least]
        lower = f"nothing matches as well as that: {counted(len(sources), 'hit')} below {least:g}"
        return kept, lower if sources and not kept else None
    if sources and judged and all(one.weak for one in sources):
        # Whoever asks in words that the notes have may mean what is told in others.
        touched = any(one.relevance for one in sources)
        return (list(sources[:NEAREST]), WEAK) if touched else ([], NOTHING)
    return list(sources), None
