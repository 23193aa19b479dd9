"""The libraries of the providers, each handed the transport; who asks imports what it needs.

LlamaIndex's own integration of Anthropic brings the clients of two clouds along, which notehop has no
use for and whose dependencies do not fit those of the vector store: that service is asked by its SDK.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseGen,
    LLMMetadata,
    MessageRole,
)

from notehop.config.settings import LlmSettings
from notehop.indexing.llm.providers import DEFAULT_CONTEXT_WINDOW, ProviderConfig
from notehop.indexing.llm.transport import ProviderTransport

DEFAULT_TEMPERATURE = 0.1  # the temperature of models that are run by their user

NO_KEY = "none"
"""What an SDK is given for a key, since it insists on one; the transport puts in the true one."""

OPENAI_WINDOW = 128_000
"""Tokens of the window of a model of OpenAI that the library does not know yet."""

ANTHROPIC_WINDOW = 200_000
"""Tokens of the window of every model of Anthropic; some can be had with more."""


def client_of(config: ProviderConfig, transport: ProviderTransport) -> tuple[Any, int]:
    """What asks by ``chat`` and ``stream_chat``, and the tokens of the model's window; nothing is sent."""
    llm = config.llm
    temperature = DEFAULT_TEMPERATURE if llm.temperature is None else llm.temperature
    if llm.provider == "ollama":
        from llama_index.llms.ollama import Ollama
        from ollama import Client

        window = llm.context_window or DEFAULT_CONTEXT_WINDOW
        inner: Any = Ollama(
            model=llm.model,
            base_url=config.url,
            temperature=temperature,
            # It goes with each request (``num_ctx``): Ollama's own is small, and what is longer is cut
            # off without a word.
            context_window=window,
            request_timeout=llm.timeout_s,
            is_function_calling_model=False,
            additional_kwargs={"num_predict": llm.max_tokens},
            client=Client(
                host=config.url, transport=transport, trust_env=False, follow_redirects=False
            ),
        )
        return inner, window
    # The transport sends again, and knows for how long to wait.
    common: dict[str, Any] = {
        "api_key": NO_KEY,
        "max_retries": 0,
        "timeout": llm.timeout_s,
        "http_client": httpx.Client(transport=transport, trust_env=False),
    }
    if llm.provider == "anthropic":
        import anthropic

        return AnthropicChat(llm, anthropic.Anthropic(base_url=config.url, **common)), (
            llm.context_window or ANTHROPIC_WINDOW
        )
    import openai
    from llama_index.llms.openai import OpenAI
    from llama_index.llms.openai.utils import openai_modelname_to_contextsize

    class OpenAIChat(OpenAI):
        """A chat model of any name; the base class knows those of its day alone, and refuses others."""

        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(is_chat_model=True, model_name=self.model)

    window = DEFAULT_CONTEXT_WINDOW
    length: dict[str, Any] = {"max_tokens": llm.max_tokens}
    if llm.provider == "openai":
        try:
            window = openai_modelname_to_contextsize(llm.model)
        except ValueError:
            window = OPENAI_WINDOW
        # The service takes two names for this length for its older models, and one for its newer.
        more: dict[str, Any] = {"max_completion_tokens": llm.max_tokens}
        if llm.temperature is None:
            more["temperature"] = openai.omit
        length = {"additional_kwargs": more}
    inner = OpenAIChat(
        model=llm.model, temperature=temperature, api_base=config.url, **length, **common
    )
    return inner, llm.context_window or window


class AnthropicChat:
    """A model of Anthropic: text in, text out."""

    def __init__(self, llm: LlmSettings, client: Any) -> None:
        self._llm = llm
        self._client = client

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Ask once."""
        message = self._client.messages.create(**self._request(messages), **kwargs)
        text = "".join(block.text for block in message.content if block.type == "text")
        return _reply(text, None, message)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Ask, and hand on what comes as it comes; closing it closes the connection."""
        text = ""
        request = self._request(messages)
        with self._client.messages.create(stream=True, **request, **kwargs) as events:
            for event in events:
                # Thoughts and marks have no text.
                part: Any = getattr(event, "delta", None)
                delta = part.text if getattr(part, "type", None) == "text_delta" else ""
                text += delta
                yield _reply(text, delta, event)

    def _request(self, messages: Sequence[ChatMessage]) -> dict[str, Any]:
        """What the service wants: rules apart from what is said."""
        rules = [one.content or "" for one in messages if one.role == MessageRole.SYSTEM]
        turns = [
            {
                "role": "assistant" if one.role == MessageRole.ASSISTANT else "user",
                "content": one.content or "",
            }
            for one in messages
            if one.role != MessageRole.SYSTEM
        ]
        asked = {"model": self._llm.model, "max_tokens": self._llm.max_tokens, "messages": turns}
        if rules:
            asked["system"] = "\n\n".join(rules)
        if self._llm.temperature is not None:
            asked["temperature"] = self._llm.temperature
        return asked


def _reply(text: str, delta: str | None, raw: Any) -> ChatResponse:
    message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
    return ChatResponse(message=message, delta=delta, raw=raw)
