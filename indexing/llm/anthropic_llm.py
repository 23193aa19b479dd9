"""A LlamaIndex language model over the Anthropic SDK: text in, text out.

LlamaIndex's own integration brings the clients of two clouds along, which notehop has no use for
and whose dependencies do not fit those of the vector store.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import anthropic
import httpx
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms import LLM, CustomLLM
from pydantic import PrivateAttr

from notehop.config.errors import ProviderError
from notehop.config.settings import LlmSettings
from notehop.indexing.llm.providers import ProviderConfig
from notehop.indexing.llm.transport import ProviderTransport

if TYPE_CHECKING:
    from anthropic import Anthropic


class ClaudeLLM(CustomLLM):
    """Asks a model of Anthropic; ``temperature`` None sends none."""

    model: str
    max_tokens: int
    temperature: float | None
    window: int

    _client: Any = PrivateAttr()

    def __init__(self, client: Anthropic, **fields: Any) -> None:
        """:param fields: those of the class."""
        super().__init__(**fields)
        self._client = client

    @classmethod
    def class_name(cls) -> str:
        """Name of the class, as LlamaIndex stores it."""
        return "notehop_claude"

    @property
    def metadata(self) -> LLMMetadata:
        """A chat model with a window of ``window`` tokens."""
        return LLMMetadata(
            context_window=self.window,
            num_output=self.max_tokens,
            is_chat_model=True,
            model_name=self.model,
        )

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Ask once."""
        return _whole(self._client.messages.create(**self._request(messages), **kwargs))

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Ask, and hand on what comes as it comes; closing it closes the connection."""
        text = ""
        request = self._request(messages)
        with self._client.messages.create(stream=True, **request, **kwargs) as events:
            for event in events:
                delta = _text_of(event)
                text += delta
                yield _reply(text, delta, event)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ARG002
        """Answer a prompt as if a user said it."""
        reply = self.chat([ChatMessage(content=prompt)], **kwargs)
        return CompletionResponse(text=reply.message.content or "", raw=reply.raw)

    def stream_complete(
        self,
        prompt: str,
        formatted: bool = False,  # noqa: ARG002
        **kwargs: Any,
    ) -> CompletionResponseGen:
        """Do as :meth:`complete`, piece by piece."""
        for reply in self.stream_chat([ChatMessage(content=prompt)], **kwargs):
            yield CompletionResponse(
                text=reply.message.content or "", delta=reply.delta, raw=reply.raw
            )

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
        request: dict[str, Any] = {
            "model": self.model,
            "max_tokens": self.max_tokens,
            "messages": turns,
        }
        if rules:
            request["system"] = "\n\n".join(rules)
        if self.temperature is not None:
            request["temperature"] = self.temperature
        return request


def _whole(message: Any) -> ChatResponse:
    text = "".join(block.text for block in message.content if block.type == "text")
    return _reply(text, None, message)


def _text_of(event: Any) -> str:
    """The text of an event of a stream; thoughts and marks have none."""
    delta: Any = getattr(event, "delta", None)
    return str(delta.text) if getattr(delta, "type", None) == "text_delta" else ""


def _reply(text: str, delta: str | None, raw: Any) -> ChatResponse:
    message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
    return ChatResponse(message=message, delta=delta, raw=raw)


NO_KEY = "none"
"""What the SDK is given for a key: the transport puts in the true one."""

SERVICE_WINDOW = 200_000
"""Tokens of the window of every model of the service; some can be had with more."""


def claude(
    llm: LlmSettings, config: ProviderConfig, transport: ProviderTransport
) -> tuple[LLM, LLMMetadata]:
    """The model, behind the transport.

    :raises ProviderError: if the temperature is more than it takes.
    """
    if llm.temperature is not None and llm.temperature > 1:
        raise ProviderError(
            f"llm.temperature = {llm.temperature:g}: {config.provider} takes 0 to 1; lower it"
        )
    inner = ClaudeLLM(
        anthropic.Anthropic(
            api_key=NO_KEY,
            base_url=config.url,
            # The transport sends again, and knows for how long to wait.
            max_retries=0,
            timeout=llm.timeout_s,
            http_client=httpx.Client(transport=transport, trust_env=False),
        ),
        model=llm.model,
        max_tokens=llm.max_tokens,
        temperature=llm.temperature,
        window=llm.context_window or SERVICE_WINDOW,
    )
    return inner, inner.metadata
