"""Models of Anthropic by its SDK: text in, text out.

LlamaIndex's own integration brings the clients of two clouds along, which notehop has no use for
and whose dependencies do not fit those of the vector store.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anthropic
import httpx
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseGen,
    MessageRole,
)

from notehop.indexing.llm.providers import NO_KEY, ProviderConfig
from notehop.indexing.llm.transport import ProviderTransport

SERVICE_WINDOW = 200_000
"""Tokens of the window of every model of the service; some can be had with more."""


class AnthropicChat:
    """A model of the service, asked through the transport."""

    def __init__(self, config: ProviderConfig, transport: ProviderTransport) -> None:
        """Send nothing yet."""
        self._settings = config.llm
        self._client = anthropic.Anthropic(
            api_key=NO_KEY,
            base_url=config.url,
            # The transport sends again, and knows for how long to wait.
            max_retries=0,
            timeout=config.llm.timeout_s,
            http_client=httpx.Client(transport=transport, trust_env=False),
        )

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
        request: dict[str, Any] = {
            "model": self._settings.model,
            "max_tokens": self._settings.max_tokens,
            "messages": turns,
        }
        if rules:
            request["system"] = "\n\n".join(rules)
        if self._settings.temperature is not None:
            request["temperature"] = self._settings.temperature
        return request


def _reply(text: str, delta: str | None, raw: Any) -> ChatResponse:
    message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
    return ChatResponse(message=message, delta=delta, raw=raw)
