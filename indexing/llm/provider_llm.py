"""The language model of the settings, whichever provider it comes from."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

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
)
from llama_index.core.llms import LLM
from platformdirs import user_data_path
from pydantic import PrivateAttr

from notehop.config import Settings
from notehop.config.errors import ProviderError
from notehop.indexing.llm.consent import Hosts
from notehop.indexing.llm.egress import OPENED, SENDING, UNWANTED, EgressLog, Sending, holding
from notehop.indexing.llm.errors import of_library
from notehop.indexing.llm.providers import DEFAULT_CONTEXT_WINDOW, ProviderConfig, provider_of

if TYPE_CHECKING:
    from notehop.indexing.llm.transport import ProviderTransport

T = TypeVar("T")


class _Connected(NamedTuple):
    """``inner`` asks by ``chat`` and ``stream_chat``, as LlamaIndex's models do, through ``transport``."""

    inner: Any
    window: int
    config: ProviderConfig
    transport: ProviderTransport


def _threaded(method: Callable[..., Any]) -> Any:
    """The asynchronous form of a method: done in a thread, and so is each piece of what it yields."""

    async def run(*args: Any, **kwargs: Any) -> Any:
        found = await _in_thread(lambda: method(*args, **kwargs))
        return _in_threads(found) if isinstance(found, Generator) else found

    return run


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
        return "notehop_provider_llm"

    def connect(self) -> _Connected:
        """The model; nothing is sent. Raises ProviderError if it cannot be had, with what to do."""
        with self._connecting:
            if self._connected is None:
                settings, provider = self._settings, self._settings.llm.provider
                config = provider_of(settings)
                log = EgressLog(self._log_dir or user_data_path("notehop", ensure_exists=True))
                try:
                    from notehop.indexing.llm.clients import client_of
                    from notehop.indexing.llm.transport import ProviderTransport

                    hosts = Hosts(settings.privacy.allow_hosts)
                    transport = ProviderTransport(config, hosts, log)
                    inner, window = client_of(config, transport)
                except (ImportError, OSError, RuntimeError) as exc:
                    raise ProviderError(
                        f"the library of llm.provider = {provider!r} is installed and cannot be "
                        f"loaded ({exc}); run: pip install --force-reinstall 'notehop[{provider}]'",
                        "model",
                    ) from exc
                self._connected = _Connected(inner, window, config, transport)
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
            pieces = self.connect().inner.stream_chat(messages, **kwargs)

        def handed_on() -> ChatResponseGen:
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

        return handed_on()

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

    achat: ClassVar[Any] = _threaded(chat)
    acomplete: ClassVar[Any] = _threaded(complete)
    astream_chat: ClassVar[Any] = _threaded(stream_chat)
    astream_complete: ClassVar[Any] = _threaded(stream_complete)

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
        config = self.connect().config
        try:
            yield
        except (ProviderError, NotImplementedError, GeneratorExit):
            raise
        except Exception as exc:
            raise of_library(exc, config) from exc


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


def _ended_by(raw: Any) -> str | None:
    """Why a reply ended, as the provider says; None while it has not."""

    def of(event: Any, name: str) -> Any:
        return event.get(name) if isinstance(event, dict) else getattr(event, name, None)

    choices = of(raw, "choices")
    if isinstance(choices, list) and choices:
        found = of(choices[0], "finish_reason")
    else:
        found = (
            of(raw, "done_reason") or of(raw, "stop_reason") or of(of(raw, "delta"), "stop_reason")
        )
    return found if isinstance(found, str) else None
