"""OpenAI, and servers that speak its protocol.

Touches: network, through the door.
"""

from __future__ import annotations

from typing import Any

import httpx
from llama_index.core.base.llms.types import LLMMetadata, MessageRole
from llama_index.core.llms import LLM
from llama_index.llms.openai import OpenAI
from llama_index.llms.openai.utils import O1_MODELS, openai_modelname_to_contextsize
from pydantic import PrivateAttr

from notehop.config.settings import LlmSettings
from notehop.indexing.llm.providers import STEADY, UNKNOWN_WINDOW, ProviderConfig
from notehop.indexing.llm.transport import EgressPolicy, NoAsyncTransport, ProviderTransport

NO_KEY = "none"
"""What the SDK is given for a key, since it insists on one; the door puts in the true one."""

SERVICE_WINDOW = 128_000
"""Tokens of the window of a model of the service that the library does not know yet."""


class _ByName(OpenAI):
    """A chat model of any name; the base class knows those of its day alone, and refuses others."""

    _sets_temperature: bool = PrivateAttr(default=True)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(
            context_window=SERVICE_WINDOW,
            num_output=self.max_tokens or -1,
            is_chat_model=True,
            model_name=self.model,
            system_role=MessageRole.USER if self.model in O1_MODELS else MessageRole.SYSTEM,
        )

    def _get_model_kwargs(self, **kwargs: Any) -> dict[str, Any]:
        options = super()._get_model_kwargs(**kwargs)
        if not self._sets_temperature:
            options.pop("temperature", None)
        if "max_tokens" in options:
            # The service takes both names for its older models, and this one alone for its newer.
            options["max_completion_tokens"] = options.pop("max_tokens")
        return options


def openai(
    llm: LlmSettings, config: ProviderConfig, policy: EgressPolicy
) -> tuple[LLM, LLMMetadata]:
    """The model, behind the door."""
    own = config.provider == "openai"
    kind: type[OpenAI] = _ByName
    known: dict[str, Any] = {}
    window = llm.context_window or (_window(llm.model) if own else UNKNOWN_WINDOW)
    if not own:
        from llama_index.llms.openai_like import OpenAILike

        kind = OpenAILike
        known = {"is_chat_model": True, "context_window": window}
    inner = kind(
        model=llm.model,
        temperature=STEADY if llm.temperature is None else llm.temperature,
        max_tokens=llm.max_tokens,
        api_key=NO_KEY,
        api_base=config.url,
        # The door sends again, and knows for how long to wait.
        max_retries=0,
        timeout=llm.timeout_s,
        http_client=httpx.Client(transport=ProviderTransport(policy), trust_env=False),
        async_http_client=httpx.AsyncClient(transport=NoAsyncTransport(), trust_env=False),
        **known,
    )
    if isinstance(inner, _ByName):
        inner._sets_temperature = llm.temperature is not None
    return inner, inner.metadata.model_copy(update={"context_window": window})


def _window(model: str) -> int:
    try:
        return openai_modelname_to_contextsize(model)
    except ValueError:
        return SERVICE_WINDOW
