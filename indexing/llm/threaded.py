"""A language model whose asynchronous calls are its blocking ones, in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
)
from llama_index.core.llms import LLM

from notehop.indexing.llm.egress import given_up

T = TypeVar("T")


class ThreadedLLM(LLM):
    """What is cancelled on the event loop ends in its thread soon after."""

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Do as ``chat``, without blocking."""
        return await _in_thread(lambda: self.chat(messages, **kwargs))

    async def acomplete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponse:
        """Do as ``complete``, without blocking."""
        return await _in_thread(lambda: self.complete(prompt, formatted=formatted, **kwargs))

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        """Do as ``stream_chat``, without blocking."""
        return _pieces(await _in_thread(lambda: self.stream_chat(messages, **kwargs)))

    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        """Do as ``stream_complete``, without blocking."""
        return _pieces(
            await _in_thread(lambda: self.stream_complete(prompt, formatted=formatted, **kwargs))
        )


async def _in_thread(work: Callable[[], T]) -> T:
    gone = threading.Event()

    def run() -> T:
        with given_up(gone.is_set):
            return work()

    try:
        return await asyncio.to_thread(run)
    except asyncio.CancelledError:
        gone.set()
        raise


async def _pieces(pieces: Generator[T, None, None]) -> AsyncGenerator[T, None]:
    """What a generator yields, each piece made in a thread."""
    try:
        while (piece := await _in_thread(lambda: next(pieces, None))) is not None:
            yield piece
    finally:
        # Where a thread is still at work, the last to hold the generator closes it.
        with suppress(ValueError):
            pieces.close()
