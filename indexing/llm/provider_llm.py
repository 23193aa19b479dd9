"""The language model of the settings, whichever provider it comes from."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from llama_index.core.base.llms.generic_utils import (
    chat_response_to_completion_response,
    stream_chat_response_to_completion_response,
)
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms import CustomLLM
from platformdirs import user_data_path
from pydantic import PrivateAttr

from notehop.config import Settings
from notehop.config.errors import ProviderError
from notehop.config.settings import LlmSettings
from notehop.indexing.llm.egress import OPENED, SENDING, EgressLog, Hosts, Sending
from notehop.indexing.llm.errors import of_library
from notehop.indexing.llm.providers import DEFAULT_CONTEXT_WINDOW, ProviderConfig, provider_of

if TYPE_CHECKING:
    from notehop.indexing.llm.transport import ProviderTransport

DEFAULT_TEMPERATURE = 0.1  # the temperature of models that are run by their user

NO_KEY = "none"
"""What an SDK is given for a key, since it insists on one; the transport puts in the true one."""

OPENAI_WINDOW = 128_000
"""Tokens of the window of a model of OpenAI that the library does not know yet."""

ANTHROPIC_WINDOW = 200_000
"""Tokens of the window of every model of Anthropic; some can be had with more."""


class _Connected(NamedTuple):
    """``inner`` asks by ``chat`` and ``stream_chat``, as LlamaIndex's models do, through ``transport``."""

    inner: Any
    window: int
    transport: ProviderTransport


class ProviderLLM(CustomLLM):
    """Asks the model of a provider, whose library is loaded when it is first needed.

    What goes wrong is a :class:`ProviderError`, each time: who asks falls back and says so. An answer
    that was cut off, or held back, is told as a notice of the
    :func:`notehop.indexing.llm.egress.sending` that is in force. Threads may share it; asynchronous
    calls block.
    """

    _settings: Settings = PrivateAttr()
    _log_dir: Path | None = PrivateAttr()
    _connecting: Any = PrivateAttr(default_factory=threading.Lock)
    _connected: _Connected | None = PrivateAttr(default=None)

    def __init__(self, settings: Settings, log_dir: Path | None = None) -> None:
        """:param log_dir: folder of the egress log; None for the user's data folder."""
        super().__init__()
        self._settings = settings
        self._log_dir = log_dir

    def connect(self) -> _Connected:
        """The model; nothing is sent. Raises ProviderError if it cannot be had, with what to do."""
        with self._connecting:
            if self._connected is None:
                settings, provider = self._settings, self._settings.llm.provider
                config = provider_of(settings)
                log = EgressLog(self._log_dir or user_data_path("notehop", ensure_exists=True))
                from notehop.indexing.llm.transport import ProviderTransport

                try:
                    hosts = Hosts(settings.privacy.allow_hosts)
                    transport = ProviderTransport(config, hosts, log)
                    self._connected = _Connected(*_client_of(config, transport), transport)
                except (ImportError, OSError, RuntimeError) as exc:
                    raise ProviderError(
                        f"llm.provider = {provider!r} cannot be set up ({exc}); if SSL_CERT_FILE is "
                        "set, it has to name certificates in PEM; else run: "
                        f"pip install --force-reinstall 'notehop[{provider}]'",
                        "model",
                    ) from exc
            return self._connected

    def close(self) -> None:
        """Let go of the connections that are kept; asking again makes new ones."""
        with self._connecting:
            if self._connected is not None:
                self._connected.transport.close()

    @property
    def metadata(self) -> LLMMetadata:
        """Window, length of answers and name; where it cannot be had, what the settings say."""
        llm = self._settings.llm
        try:
            window = self.connect().window
        except ProviderError:
            window = llm.context_window or DEFAULT_CONTEXT_WINDOW
        return LLMMetadata(
            context_window=window,
            num_output=llm.max_tokens,
            is_chat_model=True,
            model_name=llm.model or llm.provider,
        )

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        with self._translated_errors():
            return self._noticed(self.connect().inner.chat(messages, **kwargs))

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Ask, and hand on what comes as it comes; closing it closes the connection."""
        opened = None
        OPENED.set(None)
        with self._translated_errors():
            pieces = self.connect().inner.stream_chat(messages, **kwargs)
            try:
                for piece in pieces:
                    opened = opened or OPENED.get()
                    yield self._noticed(piece)
            finally:
                pieces.close()
                if (opened := opened or OPENED.get()) is not None:
                    opened.close()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ARG002
        """Ask once, as a user would."""
        return chat_response_to_completion_response(self.chat([ChatMessage(content=prompt)], **kwargs))

    def stream_complete(
        self,
        prompt: str,
        formatted: bool = False,  # noqa: ARG002
        **kwargs: Any,
    ) -> CompletionResponseGen:
        """Do as :meth:`complete`, piece by piece."""
        return stream_chat_response_to_completion_response(
            self.stream_chat([ChatMessage(content=prompt)], **kwargs)
        )

    def _noticed(self, reply: ChatResponse) -> ChatResponse:
        """The reply, after a look at why it ended."""
        llm, sending = self._settings.llm, SENDING.get() or Sending()
        ended = _ended_by(reply.raw)
        if ended in ("length", "max_tokens"):
            sending.notice(
                f"the answer of {llm.model} was cut off at {llm.max_tokens:,} tokens; a larger "
                "llm.max_tokens lets it say more"
            )
        elif ended in ("content_filter", "refusal", "safety"):
            sending.notice(f"{llm.model} held its answer back, or part of it ({ended})")
        return reply

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        config = self.connect().transport.config
        try:
            yield
        except (ProviderError, NotImplementedError, GeneratorExit):
            raise
        except Exception as exc:
            raise of_library(exc, config) from exc


def _ended_by(raw: Any) -> str | None:
    """Why a reply ended, as the provider says; None while it has not."""

    def of(event: Any, name: str) -> Any:
        return event.get(name) if isinstance(event, dict) else getattr(event, name, None)

    choices = of(raw, "choices")
    if isinstance(choices, list) and choices:
        found = of(choices[0], "finish_reason")
    else:
        found = of(raw, "done_reason") or of(raw, "stop_reason") or of(of(raw, "delta"), "stop_reason")
    return found if isinstance(found, str) else None


def _client_of(config: ProviderConfig, transport: ProviderTransport) -> tuple[Any, int]:
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
            client=Client(host=config.url, transport=transport, trust_env=False, follow_redirects=False),
        )
        return inner, window
    import httpx

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
    inner = OpenAIChat(model=llm.model, temperature=temperature, api_base=config.url, **length, **common)
    return inner, llm.context_window or window


class AnthropicChat:
    """A model of Anthropic: text in, text out.

    LlamaIndex's own integration brings the clients of two clouds along, which notehop has no use for and
    whose dependencies do not fit those of the vector store.
    """

    def __init__(self, llm: LlmSettings, client: Any) -> None:
        self._llm = llm
        self._client = client

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
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
