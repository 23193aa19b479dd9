"""OpenAI, and servers that speak its protocol."""

from __future__ import annotations

from typing import Any

import httpx
import openai
from llama_index.core.base.llms.types import LLMMetadata
from llama_index.llms.openai import OpenAI
from llama_index.llms.openai.utils import openai_modelname_to_contextsize

from notehop.indexing.llm.providers import (
    DEFAULT_CONTEXT_WINDOW,
    DEFAULT_TEMPERATURE,
    NO_KEY,
    ProviderConfig,
)
from notehop.indexing.llm.transport import ProviderTransport

SERVICE_WINDOW = 128_000
"""Tokens of the window of a model of the service that the library does not know yet."""


class OpenAIChat(OpenAI):
    """A chat model of any name; the base class knows those of its day alone, and refuses others."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, model_name=self.model)


def openai_llm(config: ProviderConfig, transport: ProviderTransport) -> tuple[OpenAIChat, int]:
    """The model behind the transport, and the tokens of its window."""
    llm = config.llm
    more: dict[str, Any]
    if llm.provider == "openai":
        try:
            window = openai_modelname_to_contextsize(llm.model)
        except ValueError:
            window = SERVICE_WINDOW
        # The service takes two names for this length for its older models, and one for its newer.
        more = {"additional_kwargs": {"max_completion_tokens": llm.max_tokens}}
        if llm.temperature is None:
            more["additional_kwargs"]["temperature"] = openai.omit
    else:
        window = DEFAULT_CONTEXT_WINDOW
        more = {"max_tokens": llm.max_tokens}
    inner = OpenAIChat(
        model=llm.model,
        temperature=DEFAULT_TEMPERATURE if llm.temperature is None else llm.temperature,
        api_key=NO_KEY,
        api_base=config.url,
        # The transport sends again, and knows for how long to wait.
        max_retries=0,
        timeout=llm.timeout_s,
        http_client=httpx.Client(transport=transport, trust_env=False),
        **more,
    )
    return inner, window
