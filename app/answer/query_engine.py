"""The whole way from a question to an answer as one LlamaIndex query engine.

Touches: index and models, through the retriever and the synthesizer it is given.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn, cast

from llama_index.core import Settings
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import QueryBundle

from notehop.app.answer.synthesizer import VaultSynthesizer, in_async
from notehop.app.retrieval.components import traced


class NotehopQueryEngine(RetrieverQueryEngine):
    """Retrieves, adds connected notes, and answers.

    The response's ``source_nodes`` are the sources, which may be cited; what is only context stands
    in ``metadata["connected_notes"]`` (see :class:`notehop.app.answer.synthesizer.VaultSynthesizer` for the
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
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(
            retriever,
            synthesizer,
            list(node_postprocessors),
            callback_manager or Settings.callback_manager,
        )

    def _query(self, query_bundle: QueryBundle) -> Response | StreamingResponse:
        query = traced(query_bundle)
        trace = query.trace
        payload: dict[str, Any] = {EventPayload.QUERY_STR: query.query_str}
        with self.callback_manager.event(CBEventType.QUERY, payload=payload) as event:
            nodes = self.retrieve(query)
            # Without the filters that were read in it.
            asked = query.query_str if trace.text is None else trace.text
            with self.callback_manager.event(CBEventType.SYNTHESIZE, payload=payload) as step:
                made = self.synthesize(replace(query, query_str=asked), nodes)
                step.on_end(payload={EventPayload.RESPONSE: made})
            response = cast("Response | StreamingResponse", made)
            # In place: to what is answered in pieces, more is added when it ends.
            metadata = response.metadata = response.metadata or {}
            metadata["warnings"] = [*trace.warnings, *metadata.get("warnings", [])]
            metadata["timings_ms"] = {**trace.timings_ms, **metadata.get("timings_ms", {})}
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response

    async def _aquery(self, query_bundle: QueryBundle) -> Response | AsyncStreamingResponse:
        return in_async(await asyncio.to_thread(self._query, query_bundle))

    def __deepcopy__(self, _: object) -> NotehopQueryEngine:
        # The vault is open once: a copy asks the same, with prompts of its own.
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._response_synthesizer = self._response_synthesizer.with_own_prompts()
        return twin

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "an engine of an open vault cannot be pickled; open the vault there, and ask it for one"
        )
