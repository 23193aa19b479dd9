"""The language model of the settings, whichever provider it comes from."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from llama_index.core.base.llms.generic_utils import (
    chat_response_to_completion_response,
    stream_chat_response_to_completion_response,
)
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms import LLM
from platformdirs import user_data_path
from pydantic import PrivateAttr

from notehop.config import Settings
from notehop.config.errors import ProviderError
from notehop.indexing.llm.consent import Hosts
from notehop.indexing.llm.egress import OPENED, SENDING, UNWANTED, EgressLog, Sending, holding
from notehop.indexing.llm.errors import of_library
from notehop.indexing.llm.providers import (
    DEFAULT_CONTEXT_WINDOW,
    DEFAULT_TEMPERATURE,
    ProviderConfig,
    provider_of,
)

if TYPE_CHECKING:
    from notehop.indexing.llm.transport import ProviderTransport

T = TypeVar("T")

_LENGTH = frozenset({"length", "max_tokens"})
_WITHHELD = frozenset({"content_filter", "refusal", "safety"})


class _Connected(NamedTuple):
    """``inner`` asks by ``chat`` and ``stream_chat``, as LlamaIndex's models do, through ``transport``."""

    inner: Any
    config: ProviderConfig
    window: int
    transport: ProviderTransport


class ProviderLLM(LLM):
    """Asks the model of a provider, whose library is loaded when it is first needed.

    What goes wrong is a :class:`ProviderError`, each time: who asks falls back and says so. An answer
    that was cut off, or held back, is told as a notice of the
    :func:`notehop.indexing.llm.egress.sending` that is in force. Threads may share it; asynchronous
    calls are the blocking ones in threads, and what is cancelled on the event loop ends there soon after.
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

    @classmethod
    def class_name(cls) -> str:
        """Name of the class, as LlamaIndex stores it."""
        return "notehop_provider_llm"

    def connect(self) -> _Connected:
        """The model; nothing is sent.

        :raises ProviderError: if it cannot be had, with what to do.
        """
        with self._connecting:
            if self._connected is None:
                self._connected = _connected(self._settings, self._log_dir)
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
        """Ask once."""
        with self._translated_errors():
            return self._noticed(self.connect().inner.chat(messages, **kwargs))

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Ask, and hand on what comes as it comes; closing it closes the connection."""
        opened: list[Any] = []
        with self._translated_errors(), holding(OPENED, opened):
            return self._pieces(self.connect().inner.stream_chat(messages, **kwargs), opened)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ARG002
        """Ask once, as a user would."""
        return chat_response_to_completion_response(
            self.chat([ChatMessage(content=prompt)], **kwargs)
        )

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

    def _pieces(self, pieces: Any, opened: list[Any]) -> ChatResponseGen:
        try:
            while True:
                with self._translated_errors(), holding(OPENED, opened):
                    piece = next(pieces, None)
                if piece is None:
                    return
                yield self._noticed(piece)
        finally:
            if isinstance(pieces, Generator):
                pieces.close()
            for answer in opened:
                answer.close()

    def _noticed(self, reply: ChatResponse) -> ChatResponse:
        """The reply, after a look at why it ended."""
        llm, sending = self._settings.llm, SENDING.get() or Sending()
        ended = ended_by(reply.raw)
        if ended in _LENGTH:
            sending.notice(
                f"the answer of {llm.model} was cut off at {llm.max_tokens:,} tokens; a larger "
                "llm.max_tokens lets it say more"
            )
        elif ended in _WITHHELD:
            sending.notice(f"{llm.model} held its answer back, or part of it ({ended})")
        return reply

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        config = self.connect().config
        try:
            yield
        except (ProviderError, NotImplementedError, GeneratorExit):
            raise
        except Exception as exc:
            raise of_library(exc, config) from exc

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
        return _in_threads(await _in_thread(lambda: self.stream_chat(messages, **kwargs)))

    async def astream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseAsyncGen:
        """Do as ``stream_complete``, without blocking."""
        return _in_threads(
            await _in_thread(lambda: self.stream_complete(prompt, formatted=formatted, **kwargs))
        )


def _connected(settings: Settings, log_dir: Path | None) -> _Connected:
    from notehop.indexing.llm.transport import ProviderTransport

    llm, config = settings.llm, provider_of(settings)
    log = EgressLog(log_dir or user_data_path("notehop", ensure_exists=True))
    transport = ProviderTransport(config, Hosts(settings.privacy.allow_hosts), log)
    inner: Any
    try:
        if llm.provider == "ollama":
            from llama_index.llms.ollama import Ollama
            from ollama import Client

            window = llm.context_window or DEFAULT_CONTEXT_WINDOW
            inner = Ollama(
                model=llm.model,
                base_url=config.url,
                temperature=DEFAULT_TEMPERATURE if llm.temperature is None else llm.temperature,
                # It goes with each request (``num_ctx``): Ollama's own is small, and what is longer
                # is cut off without a word.
                context_window=window,
                request_timeout=llm.timeout_s,
                is_function_calling_model=False,
                additional_kwargs={"num_predict": llm.max_tokens},
                client=Client(
                    host=config.url, transport=transport, trust_env=False, follow_redirects=False
                ),
            )
        elif llm.provider == "anthropic":
            from notehop.indexing.llm.anthropic_llm import SERVICE_WINDOW, AnthropicChat

            inner, window = AnthropicChat(config, transport), SERVICE_WINDOW
        else:
            from notehop.indexing.llm.openai_llm import openai_llm

            inner, window = openai_llm(config, transport)
    except (ImportError, OSError, RuntimeError) as exc:
        raise ProviderError(
            f"the library of llm.provider = {llm.provider!r} is installed and cannot be loaded "
            f"({exc}); run: pip install --force-reinstall 'notehop[{llm.provider}]'",
            "model",
        ) from exc
    return _Connected(inner, config, llm.context_window or window, transport)


async def _in_thread(work: Callable[[], T]) -> T:
    gone = threading.Event()
    known = UNWANTED.get()

    def run() -> T:
        # In a context of its own.
        UNWANTED.set(lambda: gone.is_set() or (known is not None and known()))
        return work()

    try:
        return await asyncio.to_thread(run)
    except asyncio.CancelledError:
        gone.set()
        raise


async def _in_threads(pieces: Generator[T, None, None]) -> AsyncGenerator[T, None]:
    """What a generator yields, each piece made in a thread."""
    try:
        while (piece := await _in_thread(lambda: next(pieces, None))) is not None:
            yield piece
    finally:
        # Where a thread is still at work, the last to hold the generator closes it.
        with suppress(ValueError):
            pieces.close()


def ended_by(raw: Any) -> str | None:
    """Why a reply ended, as the provider says: ``stop``, ``length`` and others; None: not yet."""
    choices = _of(raw, "choices")
    if isinstance(choices, list) and choices:
        found = _of(choices[0], "finish_reason")
    else:
        found = (
            _of(raw, "done_reason")
            or _of(raw, "stop_reason")
            or _of(_of(raw, "delta"), "stop_reason")
        )
    return found if isinstance(found, str) else None


def _of(event: Any, name: str) -> Any:
    return event.get(name) if isinstance(event, dict) else getattr(event, name, None)
