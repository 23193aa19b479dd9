"""Ollama, on this machine or another.

Touches: network, through the door.
"""

from __future__ import annotations

from llama_index.core.base.llms.types import LLMMetadata
from llama_index.core.llms import LLM
from llama_index.llms.ollama import Ollama
from ollama import AsyncClient, Client

from notehop.config.settings import LlmSettings
from notehop.indexing.llm.asked import Asked
from notehop.indexing.llm.door import Door, NoAsyncDoor
from notehop.indexing.llm.gate import Gate
from notehop.indexing.llm.load import STEADY, UNKNOWN_WINDOW
from notehop.indexing.llm.told import ToldLLM


def build(llm: LlmSettings, asked: Asked, gate: Gate) -> LLM:
    """The model, behind the door.

    The window goes with each request (``num_ctx``): Ollama's own is small, and what is longer than
    it is cut off without a word.
    """
    window = llm.context_window or UNKNOWN_WINDOW
    inner = Ollama(
        model=llm.model,
        base_url=asked.url,
        temperature=STEADY if llm.temperature is None else llm.temperature,
        context_window=window,
        request_timeout=llm.timeout_s,
        is_function_calling_model=False,
        additional_kwargs={"num_predict": llm.max_tokens},
        client=Client(
            host=asked.url, transport=Door(gate), trust_env=False, follow_redirects=False
        ),
        async_client=AsyncClient(
            host=asked.url, transport=NoAsyncDoor(), trust_env=False, follow_redirects=False
        ),
    )
    metadata = LLMMetadata(
        context_window=window,
        num_output=llm.max_tokens,
        is_chat_model=True,
        model_name=llm.model,
    )
    return ToldLLM(inner, asked, metadata)
