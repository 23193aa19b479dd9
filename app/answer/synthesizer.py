"""The shape of an answer in LlamaIndex: a synthesizer that keeps sources and context apart, and the query
engine that is the whole way from a question to an answer."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import closing
from contextvars import copy_context
from copy import copy
from dataclasses import replace
from typing import Any, NoReturn, Self, TypeVar, cast

from llama_index.core import Settings
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index.core.indices.prompt_helper import ChatPromptHelper, PromptHelper
from llama_index.core.instrumentation.events.synthesis import SynthesizeEndEvent, SynthesizeStartEvent
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType, TextNode
from llama_index_instrumentation import get_dispatcher

from notehop.app.answer.citations import split_sentences
from notehop.app.answer.claims import Checker, CheckResult
from notehop.app.answer.draft import UNCITED_WARNING, Draft, draft_filtered_notes, draft_no_answer
from notehop.app.answer.material import Material, material_of
from notehop.app.models import Citation, Evidence, Source
from notehop.app.models.reply import list_doubts
from notehop.app.retrieval.components import TracedQuery, ensure_traced

DraftOrResponse = TypeVar("DraftOrResponse", Draft, Response)

POLL_INTERVAL_S = 0.1  # seconds between two looks at whether the pieces are still wanted

SHUTDOWN_TIMEOUT_S = 0.5  # seconds that a source is given to end once it is told

CancellableStream = Callable[[Callable[[], bool]], Generator[str, None, None]]
"""Makes the pieces; what it is given says that nobody wants them any more."""


def iterate_cancellable(
    source: CancellableStream, cancelled: Callable[[], bool]
) -> Generator[str, None, None]:
    """Yield what a source yields, until it ends or is cancelled.

    Once cancelled, or closed, this ends at once, or half a second later. The source is told where it
    asks, else when it gives its next piece, and is closed.

    :raises Exception: what the source raises.
    """
    pieces: queue.SimpleQueue[str | BaseException | None] = queue.SimpleQueue()
    is_unwanted = threading.Event()

    def run() -> None:
        try:
            with closing(source(lambda: is_unwanted.is_set() or cancelled())) as stream:
                for piece in stream:
                    pieces.put(piece)
                    if is_unwanted.is_set():
                        return
            pieces.put(None)
        except BaseException as exc:  # noqa: BLE001 (raised where the pieces are taken)
            pieces.put(exc)

    context = copy_context()
    thread = threading.Thread(target=context.run, args=(run,), name="notehop-answer", daemon=True)
    thread.start()
    try:
        while not cancelled():
            try:
                piece = pieces.get(timeout=POLL_INTERVAL_S)
            except queue.Empty:
                continue
            if piece is None:
                return
            if isinstance(piece, BaseException):
                raise piece
            yield piece
    finally:
        is_unwanted.set()
        # The end of a process that finds it in the middle of a library would be an abort.
        thread.join(SHUTDOWN_TIMEOUT_S)


def stream_tokens(llm: LLM, prompt: BasePromptTemplate, **given: str) -> Generator[str, None, None]:
    """Yield what a model says, as it comes; one that cannot stream answers at once."""
    try:
        yield from llm.stream(prompt, **given)
    except NotImplementedError:
        yield llm.predict(prompt, **given)


def run_to_end(pieces: Generator[str, None, DraftOrResponse | None]) -> DraftOrResponse:
    """Run a generator to its end, and return its value; for one that nobody cancels."""
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            made: DraftOrResponse = end.value
            return made


_dispatcher = get_dispatcher(__name__)

CHECK_STAGE = "check"  # the stage of an answer in which its sentences are held against the sources


class VaultSynthesizer(BaseSynthesizer):
    """The base of all ways of answering: sources may be cited, connected notes may not.

    The response's ``source_nodes`` are the sources; its ``metadata`` holds, beside the metadata of
    each node by its id, ``mode``, ``sources``, ``citations``, ``claims``, ``doubts`` (the sentences
    that are not borne out, in words), ``left_out``, ``connected_notes``, ``mentioned``, ``likelihood``,
    ``warnings`` and ``timings_ms`` as plain values (see :mod:`notehop.app.models`).

    A subclass has :meth:`draft` of its own, or :meth:`stream_draft`.
    """

    def __init__(self, vault: str, llm: LLM | None = None, checker: Checker | None = None) -> None:
        """:param vault: name of the vault, for the links that open a note.
        :param llm: None where no language model is asked.
        :param checker: holds what is answered against the sources; None checks nothing.
        """
        # The base class would look for a language model of its own, across the network, and load
        # a tokenizer.
        super().__init__(
            llm=llm or MockLLM(),
            prompt_helper=PromptHelper(tokenizer=str.split),
            chat_prompt_helper=ChatPromptHelper(tokenizer=str.split),
        )
        self._vault = vault
        self._checker = checker
        self._cancelled: Callable[[], bool] = lambda: False

    def as_streaming(self, cancelled: Callable[[], bool] = lambda: False) -> Self:
        """Return one whose :meth:`synthesize` gives a ``StreamingResponse``.

        :param cancelled: says whether nobody waits for the answer any more.
        """
        twin = copy(self)
        twin._streaming, twin._cancelled = True, cancelled
        return twin

    def __deepcopy__(self, _: object) -> Self:
        # The models are loaded once: a copy answers by the same, with prompts of its own.
        return copy(self)

    def draft(self, query: str, material: Material) -> Draft:
        """Answer from the material, which has at least one source; there is a question."""
        return run_to_end(self.stream_draft(query, material, lambda: False))

    def stream_draft(
        self,
        query: str,
        material: Material,
        cancelled: Callable[[], bool],  # noqa: ARG002 (for those that have something to stop)
    ) -> Generator[str, None, Draft | None]:
        """Answer as :meth:`draft`, yielding the text piece by piece.

        :param cancelled: says whether nobody waits for the answer any more.
        :returns: the draft, whose text is what holds; None if it was cancelled.
        """
        draft = self.draft(query, material)
        yield from split_sentences(draft.text)
        return draft

    def seems_answered(self, query: str, material: Material) -> bool:  # noqa: ARG002 (for those that can tell)
        """Whether anything in the material seems to answer; True where that cannot be told."""
        return True

    @_dispatcher.span
    def synthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> Response | StreamingResponse:
        """Answer from the nodes: those with the role ``connected`` are context only.

        The metadata of a ``StreamingResponse`` has the sources at once; when its text ends, the rest,
        with the text that holds as ``answer``, unless it was cancelled.
        """
        _dispatcher.event(SynthesizeStartEvent(query=query))
        _refuse_arguments(response_kwargs)
        material = material_of([*nodes, *(additional_source_nodes or ())], self._vault)
        if isinstance(query, TracedQuery):
            phrases = (one[1:-1] for one in query.trace.filters if one.startswith('"'))
            material = replace(material, phrases=tuple(phrases))
        pieces = self._stream_response(query if isinstance(query, str) else query.query_str, material)
        response: Response | StreamingResponse
        if self._streaming:
            about = _source_metadata(material)
            response = StreamingResponse(
                _stream_with_metadata(pieces, about), list(material.source_nodes), about
            )
        else:
            response = run_to_end(pieces)
        _dispatcher.event(SynthesizeEndEvent(query=query, response=response))
        return response

    async def asynthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> Response | AsyncStreamingResponse:
        """Do as :meth:`synthesize`, in a thread."""
        return to_async_response(
            await asyncio.to_thread(self.synthesize, query, nodes, additional_source_nodes, **response_kwargs)
        )

    def _stream_response(self, words: str, material: Material) -> Generator[str, None, Response | None]:
        """The answer piece by piece; None if it was cancelled."""
        started = time.perf_counter()
        draft: Draft | None
        if material.sources and words.strip():
            draft = yield from self.stream_draft(words, material, self._cancelled)
        else:
            # There is nothing to answer from, or nothing was asked.
            draft = draft_filtered_notes(material.sources) if material.sources else draft_no_answer(material)
            yield draft.text
        if draft is None or self._cancelled():
            return None
        response = respond(draft, material, self._checker)
        timings = response.metadata["timings_ms"]  # type: ignore[index]
        response.metadata["timings_ms"] = {  # type: ignore[index]
            "answer": (time.perf_counter() - started) * 1000,
            **timings,
        }
        return response

    def get_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> str:
        """Answer from bare texts, numbered as sources in their order."""
        _refuse_arguments(response_kwargs)
        nodes = [NodeWithScore(node=TextNode(text=text)) for text in text_chunks]
        return self.draft(query_str, material_of(nodes, self._vault)).text

    async def aget_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> str:
        """Do as :meth:`get_response`, in a thread."""
        return await asyncio.to_thread(self.get_response, query_str, text_chunks, **response_kwargs)

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """There are none to update."""


def _source_metadata(material: Material) -> dict[str, Any]:
    """Return the metadata of an answer that are known before its text."""
    return {
        **{hit.node.node_id: hit.node.metadata for hit in material.source_nodes},
        "sources": [source.model_dump() for source in material.sources],
        "connected_notes": [note.model_dump() for note in material.connected],
    }


def _stream_with_metadata(
    pieces: Generator[str, None, Response | None], about: dict[str, Any]
) -> Generator[str, None, None]:
    """Yield the pieces; at their end, complete the metadata."""
    response = yield from pieces
    if response is not None:
        metadata = response.metadata or {}
        metadata["warnings"] = [*about.get("warnings", []), *metadata["warnings"]]
        metadata["timings_ms"] = {**about.get("timings_ms", {}), **metadata["timings_ms"]}
        about.update(metadata, answer=str(response))


def to_async_response(response: Response | StreamingResponse) -> Response | AsyncStreamingResponse:
    """Return the response as it is awaited: its pieces are made in a thread."""
    if isinstance(response, Response):
        return response

    async def pieces() -> AsyncGenerator[str, None]:
        made = response.response_gen
        while (piece := await asyncio.to_thread(next, made, None)) is not None:
            yield piece

    return AsyncStreamingResponse(pieces(), response.source_nodes, response.metadata)


def respond(draft: Draft, material: Material, checker: Checker | None = None) -> Response:
    """Dress a draft as a LlamaIndex response, its sentences held against the sources."""
    material = draft.material or material
    started = time.perf_counter()
    checked = CheckResult() if checker is None else checker.check(draft, material)
    elapsed = (time.perf_counter() - started) * 1000
    # An answer that states nothing, as a refusal, needs no source.
    states = not checked.claims or any(claim.support is not None for claim in checked.claims)
    uncited = [UNCITED_WARNING] if draft.mode == "llm" and states and not draft.cited else []
    by_marker = {source.marker: source for source in material.sources}
    citations = [
        _make_citation(by_marker[marker], checked.best_evidence.get(marker)) for marker in draft.cited
    ]
    return Response(
        draft.text,
        source_nodes=list(material.source_nodes),
        metadata={
            **_source_metadata(material),
            "mode": draft.mode,
            "likelihood": draft.likelihood,
            "citations": [citation.model_dump() for citation in citations],
            "claims": [claim.model_dump() for claim in checked.claims],
            "doubts": list_doubts(checked.claims),
            "left_out": [one.model_dump() for one in draft.left_out],
            "mentioned": list(draft.mentioned),
            "warnings": [*draft.warnings, *uncited, *checked.warnings],
            "timings_ms": {} if checker is None else {CHECK_STAGE: elapsed},
        },
    )


def _make_citation(source: Source, best: Evidence | None) -> Citation:
    if best is None:
        return Citation(**dict(source))
    quoted = best.support != "none"
    return Citation(
        **{**dict(source), "heading": best.heading},
        support=best.support,
        quote=best.quote,
        quote_lines=best.lines if quoted else None,
        quote_uri=best.uri if quoted else "",
    )


def _refuse_arguments(unknown: dict[str, Any]) -> None:
    if unknown:
        raise TypeError(f"no such arguments here: {', '.join(sorted(unknown))}")


class NotehopQueryEngine(RetrieverQueryEngine):
    """Retrieves, adds connected notes, and answers.

    The response's ``source_nodes`` are the sources, which may be cited; what is only context stands
    in ``metadata["connected_notes"]`` (see :class:`VaultSynthesizer` for the
    rest of the metadata). ``metadata["timings_ms"]`` holds milliseconds by stage. With a synthesizer
    that answers in pieces it is a ``StreamingResponse``.
    """

    _response_synthesizer: VaultSynthesizer

    def __init__(
        self,
        retriever: BaseRetriever,
        synthesizer: VaultSynthesizer,
        *,
        node_postprocessors: Sequence[BaseNodePostprocessor] = (),
    ) -> None:
        heard = Settings.callback_manager  # as it is now: a synthesizer may be older
        super().__init__(retriever, synthesizer, list(node_postprocessors), heard)

    def _query(self, query_bundle: QueryBundle) -> Response | StreamingResponse:
        query = ensure_traced(query_bundle)
        trace = query.trace
        payload: dict[str, Any] = {EventPayload.QUERY_STR: query.query_str}
        with self.callback_manager.event(CBEventType.QUERY, payload=payload) as event:
            nodes = self.retrieve(query)
            # Without the filters that were read in it.
            question = query.query_str if trace.text is None else trace.text
            with self.callback_manager.event(CBEventType.SYNTHESIZE, payload=payload) as step:
                answer = self.synthesize(replace(query, query_str=question), nodes)
                step.on_end(payload={EventPayload.RESPONSE: answer})
            response = cast("Response | StreamingResponse", answer)
            # In place: to what is answered in pieces, more is added when it ends.
            metadata = response.metadata = response.metadata or {}
            metadata["warnings"] = [*trace.warnings, *metadata.get("warnings", [])]
            metadata["timings_ms"] = {**trace.timings_ms, **metadata.get("timings_ms", {})}
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response

    async def _aquery(self, query_bundle: QueryBundle) -> Response | AsyncStreamingResponse:
        return to_async_response(await asyncio.to_thread(self._query, query_bundle))

    def __deepcopy__(self, _: object) -> NotehopQueryEngine:
        # The vault is open once: a copy asks the same, with prompts of its own.
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._response_synthesizer = copy(self._response_synthesizer)
        return twin

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an engine of an open vault cannot be pickled; open the vault there, and ask it for one"
        )
