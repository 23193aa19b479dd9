"""A model in a GGUF file, in this process, by llama.cpp; it is loaded when it is first asked.

Touches: model (reads the file).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import llama_cpp
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
from pydantic import PrivateAttr

from notehop.config.errors import ProviderError
from notehop.indexing.llm.egress import SENDING

_log = logging.getLogger(__name__)

Piece = TypeVar("Piece")

MOST_WINDOW = 8_192
"""Tokens of the window unless the settings name another: memory grows with it."""

_TEMPLATE = "tokenizer.chat_template"

_QUIET = threading.Lock()


class GgufLLM(CustomLLM):
    """Asks a model by the chat template of its file. Threads may share it; they take turns."""

    file: Path
    window: int
    max_tokens: int
    temperature: float
    gpu_layers: int
    threads: int

    _loading: Any = PrivateAttr(default_factory=threading.RLock)
    _asking: Any = PrivateAttr(default_factory=threading.Lock)
    _words: Any = PrivateAttr(default=None)
    _model: Any = PrivateAttr(default=None)

    @classmethod
    def class_name(cls) -> str:
        """Name of the class, as LlamaIndex stores it."""
        return "notehop_gguf"

    @property
    def metadata(self) -> LLMMetadata:
        """The window is that of the settings, else the trained one, at most 8,192 tokens."""
        return LLMMetadata(
            context_window=self._window(),
            num_output=self.max_tokens,
            is_chat_model=True,
            model_name=self.file.stem,
        )

    def count(self, text: str) -> int:
        """Tokens of a text, by the model's own tokenizer."""
        found = self._vocabulary().tokenize(
            text.encode("utf-8", "replace"), add_bos=False, special=False
        )
        return len(found)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Answer at once; it ends early once nobody waits."""
        last: ChatResponse | None = None
        for piece in self.stream_chat(messages, **kwargs):
            last = piece
        return last or _reply("", "", None)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Answer token by token.

        :raises ProviderError: ``cancelled``, once nobody waits for it any more.
        """
        asked = [
            {"role": message.role.value, "content": message.content or ""} for message in messages
        ]
        return self._said(asked, kwargs)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ARG002
        """Answer a prompt as if a user said it."""
        reply = self.chat([ChatMessage(role=MessageRole.USER, content=prompt)], **kwargs)
        return CompletionResponse(text=reply.message.content or "", raw=reply.raw)

    def stream_complete(
        self,
        prompt: str,
        formatted: bool = False,  # noqa: ARG002
        **kwargs: Any,
    ) -> CompletionResponseGen:
        """Do as :meth:`complete`, token by token."""
        for reply in self.stream_chat([ChatMessage(content=prompt)], **kwargs):
            yield CompletionResponse(
                text=reply.message.content or "", delta=reply.delta, raw=reply.raw
            )

    def _said(
        self, messages: list[dict[str, str]], options: dict[str, Any]
    ) -> Generator[ChatResponse, None, None]:
        text = ""
        with self._asking:
            model = self._loaded()
            self._remark(model)
            # Another question must not find the words of this one in the model's memory.
            model.reset()
            wanted = {"max_tokens": self.max_tokens, "temperature": self.temperature, **options}
            chunks = model.create_chat_completion(messages=messages, stream=True, **wanted)
            for chunk in chunks:
                _stop_if_unwanted()
                delta = chunk["choices"][0]["delta"].get("content") or ""
                text += delta
                yield _reply(text, delta, chunk)

    def _remark(self, model: Any) -> None:
        sending = SENDING.get()
        if sending is not None and _TEMPLATE not in (model.metadata or {}):
            sending.notice(
                f"{self.file.name} brings no chat template, so it was not made to answer "
                "questions; take a model whose name says instruct or chat"
            )

    def _window(self) -> int:
        if self.window:
            return self.window
        told = self._vocabulary().metadata or {}
        name = f"{told.get('general.architecture', '')}.context_length"
        trained = str(told.get(name, ""))
        return min(int(trained), MOST_WINDOW) if trained.isdigit() else MOST_WINDOW

    def _vocabulary(self) -> Any:
        """The model without its weights: how it cuts words, and what the file says of it."""
        with self._loading:
            if self._words is None:
                self._words = self._model or _open(self.file, vocab_only=True, n_ctx=512)
            return self._words

    def _loaded(self) -> Any:
        with self._loading:
            if self._model is None:
                self._model = _open(
                    self.file,
                    n_ctx=self._window(),
                    n_gpu_layers=self.gpu_layers,
                    n_threads=self.threads or None,
                )
            return self._model


def _open(file: Path, **options: Any) -> Any:
    """:raises ProviderError: if it is no model that this llama.cpp reads."""
    _let_others_speak()
    try:
        return llama_cpp.Llama(model_path=str(file), verbose=False, **options)
    except (ValueError, RuntimeError, OSError) as exc:
        raise ProviderError(
            f"{file}: llama.cpp cannot load this model ({exc}); it may be broken off, of a newer "
            "kind than the installed llama-cpp-python reads, or too large for the memory",
            "model",
        ) from exc


def _let_others_speak() -> None:
    """Keep the library from closing standard output while it loads, and from talking itself.

    It does so for the whole process, to be quiet; meanwhile an MCP server could not answer.
    """
    with _QUIET:
        mute: Any = llama_cpp._utils.suppress_stdout_stderr
        mute.__enter__ = lambda muting: muting
        mute.__exit__ = lambda *_: None
        llama_cpp.llama_log_set(_silent, None)


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator, unused-ignore]
def _silent(level: int, text: bytes, _: Any) -> None:
    """Hand what the library says to our log; what went wrong it raises."""
    _log.debug("llama.cpp (%s): %s", level, text.decode("utf-8", "replace").rstrip())


def _stop_if_unwanted() -> None:
    sending = SENDING.get()
    if sending is not None and sending.cancelled is not None and sending.cancelled():
        raise ProviderError("the answer is not waited for any more", "cancelled")


def _reply(text: str, delta: str, raw: Any) -> ChatResponse:
    message = ChatMessage(role=MessageRole.ASSISTANT, content=text)
    return ChatResponse(message=message, delta=delta, raw=raw)
