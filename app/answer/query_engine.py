"""The whole way from a question to an answer as one LlamaIndex query engine.

Touches: index and models, through the retriever and the synthesizer it is given.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import NoReturn, TypeVar

from llama_index.core import Settings
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.callbacks.base import CallbackManager, EventContext
from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle

from notehop.app.answer.synthesizer import VaultSynthesizer, in_async
from notehop.app.retrieval.trace import TracedQuery, trace_of, traced


class NotehopQueryEngine(BaseQueryEngine):
    """Retrieves, adds connected notes, and answers.

    The response's ``source_nodes`` are the sources, which may be cited; what is only context stands
    in ``metadata["connected_notes"]`` (see :class:`notehop.app.answer.synthesizer.VaultSynthesizer` for the
    rest of the metadata). ``metadata["timings_ms"]`` holds milliseconds by stage. With a synthesizer
    that answers in pieces it is a ``StreamingResponse``.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        synthesizer: VaultSynthesizer,
        *,
        node_postprocessors: Sequence[BaseNodePostprocessor] = (),
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager or Settings.callback_manager)
        self._retriever = retriever
        self._synthesizer = synthesizer
        self._postprocessors = tuple(node_postprocessors)

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return sources, best first, then connected notes."""
        nodes = self._retriever.retrieve(query_bundle)
        for postprocessor in self._postprocessors:
            nodes = postprocessor.postprocess_nodes(nodes, query_bundle=query_bundle)
        return nodes

    async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Do as :meth:`retrieve`, in a thread."""
        return await asyncio.to_thread(self.retrieve, query_bundle)

    def synthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> Response | StreamingResponse:
        """Answer from nodes that were retrieved before."""
        with self._event(CBEventType.SYNTHESIZE, query_bundle) as event:
            response = self._synthesizer.synthesize(query_bundle, nodes, additional_source_nodes)
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response

    async def asynthesize(
        self,
        query_bundle: QueryBundle,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> Response | AsyncStreamingResponse:
        """Do as :meth:`synthesize`, in a thread."""
        return in_async(
            await asyncio.to_thread(self.synthesize, query_bundle, nodes, additional_source_nodes)
        )

    def _query(self, query_bundle: QueryBundle) -> Response | StreamingResponse:
        query = traced(query_bundle)
        with self._event(CBEventType.QUERY, query) as event:
            nodes = self.retrieve(query)
            with query.trace.timed("answer"):
                response = self.synthesize(replace(query, query_str=asked_in(query)), nodes)
            response = with_trace(response, query)
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response

    async def _aquery(self, query_bundle: QueryBundle) -> Response | AsyncStreamingResponse:
        return in_async(await asyncio.to_thread(self._query, query_bundle))

    def _event(self, kind: CBEventType, query: QueryBundle) -> AbstractContextManager[EventContext]:
        """An event for the callbacks of the application, which ends with the block."""
        return self.callback_manager.event(kind, payload={EventPayload.QUERY_STR: query.query_str})

    def __deepcopy__(self, _: object) -> NotehopQueryEngine:
        # The vault is open once: a copy asks the same, with prompts of its own.
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._synthesizer = self._synthesizer.with_own_prompts()
        return twin

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an engine of an open vault cannot be pickled; open the vault there, and ask it for one"
        )

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"response_synthesizer": self._synthesizer}


def asked_in(query: TracedQuery) -> str:
    """What is to be answered: the text of the query without the filters that were read in it."""
    return query.query_str if query.trace.text is None else query.trace.text


Answered = TypeVar("Answered", bound=Response | StreamingResponse | AsyncStreamingResponse)


def with_trace(response: Answered, query: TracedQuery) -> Answered:
    """The response with the warnings and timings of the whole query."""
    trace = trace_of(query)
    # In place: to what is answered in pieces, more is added when it ends.
    metadata = response.metadata = response.metadata or {}
    metadata["warnings"] = [*trace.warnings, *metadata.get("warnings", [])]
    metadata["timings_ms"] = {**trace.timings_ms, **metadata.get("timings_ms", {})}
    return response
