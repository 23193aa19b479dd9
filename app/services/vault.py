"""An opened vault: what every edge asks and answers with.

Annotations are types here, not texts: a LlamaIndex tool is made of a method by them.
"""

import asyncio
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from llama_index.core.llms import LLM
from pydantic import BaseModel

from notehop.app import models
from notehop.app.answer.material import material_of
from notehop.app.models.query import as_query
from notehop.app.retrieval.chain import Wanted
from notehop.app.retrieval.filter_syntax import checked
from notehop.app.retrieval.trace import TracedQuery
from notehop.app.services.ask import (
    Conversations,
    PendingCount,
    QuestionRun,
    explained,
    reply_fields,
)
from notehop.app.services.capture import capture
from notehop.app.services.components import VaultComponents
from notehop.app.services.engine import Engine, VaultRetriever
from notehop.app.services.notes.browse import browse, graph_view, overview
from notehop.app.services.notes.current_notes import CurrentNotes
from notehop.app.services.notes.read_note import note_view
from notehop.app.services.notes.related import find_related
from notehop.app.services.notes.suggest import suggest
from notehop.app.services.open_vault import Place
from notehop.app.services.status import index_status, pending_changes
from notehop.indexing.capture import Kept
from notehop.indexing.report import Progress
from notehop.indexing.shown import counted
from notehop.indexing.stores.reader import Reader

if TYPE_CHECKING:
    from llama_index.core.tools import FunctionTool

ReplyT = TypeVar("ReplyT", bound=BaseModel)

NEAREST = 3  # passages that a search shows where nothing matches

NOTHING = (
    "nothing in the notes matches; what is shown is nearest by chance; for more of it ask with "
    "min_score 0"
)


class VaultHandle(VaultComponents):
    """One vault, opened for questions. Threads may share it; close it, or use it in a ``with``.

    The model is loaded with the first query (or :meth:`warm`). Every query sees the newest
    generation of the index.
    """

    def __init__(
        self, place: Place, reader: Reader, llm: LLM | None, reopened: Callable[[], Reader]
    ) -> None:
        """Take over an opened index; :func:`app.open_vault` opens it."""
        engine = Engine(place, reader, llm, reopened)
        super().__init__(engine)
        self._pending = PendingCount(
            lambda: pending_changes(place, engine.reader.catalog).pending,
            # Weakly: it must not keep alive what rested.
            state=lambda: (weakref.ref(engine.reader.catalog), engine.generation),
        )
        self._conversations = Conversations(place.settings.conversation)

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
        return self._run(as_query(models.Query, query, options)).answer()

    async def aask(self, query: str | models.Query, **options: Any) -> models.Answer:
        """Do as :meth:`ask`, in a thread."""
        return await asyncio.to_thread(self.ask, query, **options)

    def stream(
        self,
        query: str | models.Query,
        *,
        cancelled: Callable[[], bool] | None = None,
        **options: Any,
    ) -> Iterator[models.StreamEvent]:
        """Answer a question as :meth:`ask`, in events: sources first, the text as it is written.

        The last event is ``done``, with the whole answer, or ``error``. Nothing is done before the
        first event is asked for, nor after the iterator is closed.

        :param cancelled: asked often; once it says yes, a model is stopped and the events end.
        :raises QueryError: at once, if the question is empty or too long, or an option is wrong.
        """
        return self._run(as_query(models.Query, query, options), cancelled).events()

    def search(self, query: str | models.BaseQuery, **options: Any) -> models.SearchResult:
        """List the passages or notes that match, best first.

        :param options: fields of :class:`notehop.app.models.SearchQuery`: those of :meth:`ask` and
            ``results`` and ``min_score``.
        :raises QueryError: if the query is empty or too long, or an option is wrong.
        """
        asked = as_query(models.SearchQuery, query, options)
        traced, started = self._begin(asked), time.perf_counter()
        wanted = replace(Wanted.by(asked), results=asked.results, fill=False, by_relevance=True)
        retriever = VaultRetriever(self._engine.retrieve, wanted, self.name)
        found = material_of(retriever.retrieve(traced), self.name)
        trace = traced.trace
        matching, nothing = _matching(found.sources, asked.min_score, narrowed=bool(trace.filters))
        if nothing is not None:
            trace.warn(nothing)
        return models.SearchResult(
            hits=explained([{**dict(source), "file": source.path} for source in matching], asked),
            connected_notes=list(found.connected) if nothing is None else [],
            warnings=trace.warnings,
            **reply_fields(traced, asked, self._pending.value(), started, trace.timings_ms),
        )

    async def asearch(self, query: str | models.BaseQuery, **options: Any) -> models.SearchResult:
        """Do as :meth:`search`, in a thread."""
        return await asyncio.to_thread(self.search, query, **options)

    def browse(self, query: models.BrowseQuery) -> models.BrowseResult:
        """List what lies around some notes in the graph of links, best first.

        :raises NoteMissing: if a seed is no note.
        :raises QueryError: if a filter makes no sense.
        """
        asked = as_query(models.BrowseQuery, query)
        return self._of_now(lambda now: browse(now, self._engine.tokenizer, asked))

    def themes(self, query: str | models.ThemesQuery = "", **options: Any) -> models.ThemesResult:
        """List the themes of the vault, or those that have to do with a query.

        :param options: fields of :class:`notehop.app.models.ThemesQuery`: ``filters``, ``literal`` and
            ``max``.
        :raises QueryError: if themes are switched off, or an option is wrong.
        """
        asked = as_query(models.ThemesQuery, query, options)
        return self._of_now(lambda now: self._themes.listed(now, asked))

    def suggest(
        self, note: str | None = None, limit: int = 10, *, progress: Progress | None = None
    ) -> models.Suggestions:
        """Suggest links that a note, or the whole vault, may lack, most likely first.

        :param note: path in the vault, title, alias, or name as in a link.
        :param limit: suggestions at most, 1 to 100.
        :param progress: where it shows how far it is with the whole vault, which takes seconds.
        :raises NoteMissing: if there is no such note.
        :raises UsageError: if several notes are meant.
        :raises QueryError: if the limit is out of range.
        """
        asked = as_query(models.SuggestQuery, {"note": note, "limit": limit})
        tokenizer = self._engine.tokenizer
        return self._of_now(lambda now: suggest(now, tokenizer, asked.note, asked.limit, progress))

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

    def picture(
        self, around: Sequence[str] = (), *, depth: int = 1, most: int = 60
    ) -> models.GraphView:
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

        It fails only if the note cannot be written: a look-up that fails or takes too long is
        logged, and said in the message. The index is not brought up to date by it.

        :raises CaptureFailed: if the note cannot be written.
        """
        self._engine.check_open()
        return capture(self.place, as_query(models.CaptureQuery, query), lambda: self.related)

    def related(self, kept: Kept) -> list[models.Connection]:
        """The notes that a captured one has to do with, best first; none that it links to.

        :raises NotehopError: as :meth:`search`.
        """
        with self._engine.current() as now:
            return find_related(self._engine, now, kept)

    def embed(self, query: models.EmbedQuery) -> models.Embedded:
        """Return texts as vectors, by the model of the index, with its prompt for their kind.

        What of a text is longer than the model's window is not read.

        :raises ModelError: if the model cannot be loaded, or fails.
        """
        self._engine.check_open()
        asked, embedder = as_query(models.EmbedQuery, query), self._engine.embedder
        if asked.kind == "query":
            rows = np.stack([embedder.embed_query(text) for text in asked.texts])
        else:
            rows = embedder.embed(asked.texts)
        return models.Embedded(
            model=embedder.model_name, dimensions=embedder.dimensions, vectors=rows.tolist()
        )

    def tools(self) -> "list[FunctionTool]":
        """The tools that agents are given over MCP, for an agent of LlamaIndex."""
        from notehop.app.mcp.tool_spec import VaultToolSpec

        self._engine.check_open()
        return VaultToolSpec(self).to_tool_list()

    def warm(self) -> None:
        """Load what queries need, so that the first is as quick as the second.

        :raises ModelError: if the model cannot be loaded.
        """
        self._engine.check_open()
        self._pending.begin()
        self._engine.warm()

    def rest(self, idle: float = 0.0) -> bool:
        """Let go of models and index in memory if nobody asked for so many seconds.

        The next query loads them again; queries that run keep what they have.

        :returns: whether something was let go of.
        """
        return self._engine.rest(idle)

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
        text = checked(asked.query, self.settings.retrieval.max_query_chars, asked.filters)
        self._pending.begin()
        return TracedQuery(text)

    def _run(self, asked: models.Query, cancelled: Callable[[], bool] | None = None) -> QuestionRun:
        query, engine = self._begin(asked), self._engine
        retriever = VaultRetriever(
            self._themes.or_else(engine.retrieve, asked.themes),
            replace(Wanted.by(asked), listing=not asked.literal, for_model=engine.llm is not None),
            self.name,
        )
        talks, pending = self._conversations, self._pending
        return QuestionRun(asked, query, retriever, engine, talks, pending, cancelled)

    def _of_now(self, make: Callable[[CurrentNotes], ReplyT]) -> ReplyT:
        """A reply, made while the changes since the index was made are counted."""
        self._engine.check_open()
        self._pending.begin()
        with self._engine.current() as now:
            found = make(now)
        return found.model_copy(update={"pending": self._pending.value()})


def _matching(
    sources: Sequence[models.Source], least: float | None, *, narrowed: bool
) -> tuple[list[models.Source], str | None]:
    """The sources that a search shows, and what it says where none of them matches."""
    if least is not None:
        kept = [one for one in sources if one.relevance is None or one.relevance >= least]
        lower = len(sources) - len(kept)
        if kept or not lower:
            return kept, None
        return [], f"nothing matches as well as that: {counted(lower, 'hit')} below {least:g}"
    if sources and not narrowed and all(one.weak for one in sources):
        return list(sources[:NEAREST]), NOTHING
    return list(sources), None
