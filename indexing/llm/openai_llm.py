"""OpenAI, and servers that speak its protocol."""

from __future__ import annotations

from typing import Any

import httpx
import openai
from llama_index.core.base.llms.types import LLMMetadata, MessageRole
from llama_index.core.llms import LLM
from llama_index.llms.openai import OpenAI
from llama_index.llms.openai.utils import O1_MODELS, openai_modelname_to_contextsize

from notehop.config.settings import LlmSettings
from notehop.indexing.llm.providers import (
    DEFAULT_CONTEXT_WINDOW,
    DEFAULT_TEMPERATURE,
    ProviderConfig,
)
from notehop.indexing.llm.transport import NoAsyncTransport, ProviderTransport

NO_KEY = "none"
"""What the SDK is given for a key, since it insists on one; the transport puts in the true one."""

SERVICE_WINDOW = 128_000
"""Tokens of the window of a model of the service that the library does not know yet."""


class _ByName(OpenAI):
    """A chat model of any name; the base class knows those of its day alone, and refuses others."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            context_window=SERVICE_WINDOW,
            num_output=self.additional_kwargs["max_completion_tokens"],
            is_chat_model=True,
            model_name=self.model,
            system_role=MessageRole.USER if self.model in O1_MODELS else MessageRole.SYSTEM,
        )


def openai_llm(
    llm: LlmSettings, config: ProviderConfig, transport: ProviderTransport
) -> tuple[LLM, LLMMetadata]:
    """The model, behind the transport."""
    own = config.provider == "openai"
    kind: type[OpenAI] = _ByName
    # The service takes two names for this length for its older models, and one for its newer.
    known: dict[str, Any] = {"additional_kwargs": {"max_completion_tokens": llm.max_tokens}}
    if llm.temperature is None:
        known["additional_kwargs"]["temperature"] = openai.omit
    window = llm.context_window or (_window(llm.model) if own else DEFAULT_CONTEXT_WINDOW)
    if not own:
        from llama_index.llms.openai_like import OpenAILike

        kind = OpenAILike
        known = {"is_chat_model": True, "context_window": window, "max_tokens": llm.max_tokens}
    inner = kind(
        model=llm.model,
        temperature=DEFAULT_TEMPERATURE if llm.temperature is None else llm.temperature,
        api_key=NO_KEY,
        api_base=config.url,
        # The transport sends again, and knows for how long to wait.
        max_retries=0,
        timeout=llm.timeout_s,
        http_client=httpx.Client(transport=transport, trust_env=False),
        async_http_client=httpx.AsyncClient(transport=NoAsyncTransport(), trust_env=False),
        **known,
    )
    return inner, inner.metadata.model_copy(update={"context_window": window})


def _window(model: str) -> int:
    try:
        return openai_modelname_to_contextsize(model)
    except ValueError:
        return SERVICE_WINDOW
