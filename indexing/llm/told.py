"""A language model whose errors are ours and whose cut answers are told: it stands before each SDK.

Touches: the language model that it is given, which may be across the network.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms import LLM
from pydantic import PrivateAttr

from notehop.config.errors import ProviderError
from notehop.indexing.llm.asked import Asked
from notehop.indexing.llm.counted import Counted, opening
from notehop.indexing.llm.egress import SENDING
from notehop.indexing.llm.errors import of_words
from notehop.indexing.llm.threaded import ThreadedLLM

Reply = TypeVar("Reply", ChatResponse, CompletionResponse)

_LENGTH = frozenset({"length", "max_tokens"})
_WITHHELD = frozenset({"content_filter", "refusal", "safety"})


class ToldLLM(ThreadedLLM):
    """Asks another model; what goes wrong is a :class:`ProviderError`.

    An answer that was cut off, or held back, is told as a notice of the
    :func:`notehop.indexing.llm.egress.sending` that is in force.
    """

    _inner: LLM = PrivateAttr()
    _asked: Asked = PrivateAttr()
    _metadata: LLMMetadata | None = PrivateAttr()
    _closing: list[Callable[[], None]] = PrivateAttr(default_factory=list)

    def __init__(self, inner: LLM, asked: Asked, metadata: LLMMetadata | None = None) -> None:
        """:param metadata: what is known of the model; None: what the inner one says."""
        super().__init__(callback_manager=inner.callback_manager)
        self._inner = inner
        self._asked = asked
        self._metadata = metadata

    @classmethod
    def class_name(cls) -> str:
        """Name of the class, as LlamaIndex stores it."""
        return "notehop_told_llm"

    @property
    def metadata(self) -> LLMMetadata:
        """Window, length of answers and name of the model."""
        return self._metadata or self._inner.metadata

    @property
    def inner(self) -> LLM:
        """The model that is asked."""
        return self._inner

    @property
    def asked(self) -> Asked:
        """Who is asked, and where."""
        return self._asked

    def on_close(self, closing: Callable[[], None]) -> None:
        """Have something done by :meth:`close`."""
        self._closing.append(closing)

    def close(self) -> None:
        """Let go of the connections that are kept; asking again makes new ones."""
        for closing in self._closing:
            closing()

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Ask once."""
        with self._telling():
            return self._seen(self._inner.chat(messages, **kwargs))

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Ask once."""
        with self._telling():
            return self._seen(self._inner.complete(prompt, formatted=formatted, **kwargs))

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Ask, and hand on what comes as it comes; closing it closes the connection."""
        opened: list[Counted] = []
        with self._telling(), opening(opened):
            return self._pieces(self._inner.stream_chat(messages, **kwargs), opened)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Do as :meth:`stream_chat`."""
        opened: list[Counted] = []
        with self._telling(), opening(opened):
            return self._pieces(
                self._inner.stream_complete(prompt, formatted=formatted, **kwargs), opened
            )

    def _pieces(self, pieces: Any, opened: list[Counted]) -> Generator[Any, None, None]:
        try:
            while True:
                with self._telling(), opening(opened):
                    piece = next(pieces, None)
                if piece is None:
                    return
                yield self._seen(piece)
        finally:
            if isinstance(pieces, Generator):
                pieces.close()
            for answer in opened:
                answer.close()

    def _seen(self, reply: Reply) -> Reply:
        """The reply, after a look at why it ended."""
        ended = ended_by(reply.raw)
        sending = SENDING.get()
        if sending is not None and ended in _LENGTH:
            most = self.metadata.num_output
            sending.notice(
                f"the answer of {self._asked.model} was cut off at {most:,} tokens; a larger "
                "llm.max_tokens lets it say more"
            )
        elif sending is not None and ended in _WITHHELD:
            sending.notice(f"{self._asked.model} held its answer back, or part of it ({ended})")
        return reply

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except ProviderError:
            raise
        except (NotImplementedError, GeneratorExit):
            raise
        except Exception as exc:
            raise told(exc, self._asked) from exc


def told(exc: BaseException, asked: Asked) -> ProviderError:
    """The error behind a library's exception: what the door raised, else what the library says."""
    cause: BaseException | None = exc
    while cause is not None:
        if isinstance(cause, ProviderError):
            return cause
        cause = cause.__cause__ or cause.__context__
    return of_words(str(exc) or type(exc).__name__, asked)


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


def _of(told: Any, name: str) -> Any:
    return told.get(name) if isinstance(told, dict) else getattr(told, name, None)
