"""The language model of the settings, made when it is first asked: a search needs none of it.

Touches: the language model, which may be across the network.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

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

from notehop.app.services.place import Place
from notehop.config import Settings
from notehop.config.errors import ProviderError
from notehop.indexing.llm.load import UNKNOWN_WINDOW, load_llm
from notehop.indexing.llm.threaded import ThreadedLLM


def llm_of(place: Place) -> LLM | None:
    """The model that the settings name, for the index of a place; None if they name none."""
    settings = place.settings
    if settings.llm.provider == "none":
        return None
    return LazyLLM(settings, lambda: load_llm(settings, log_dir=place.layout.root))


class LazyLLM(ThreadedLLM):
    """Asks the model that is made when it is first needed.

    What stands in the way of making it is raised where it is asked, each time: who asks falls back
    and says so. Threads may share it.
    """

    _settings: Settings = PrivateAttr()
    _load: Any = PrivateAttr()
    _loading: Any = PrivateAttr(default_factory=threading.Lock)
    _loaded: LLM | None = PrivateAttr(default=None)

    def __init__(self, settings: Settings, load: Any) -> None:
        """:param load: makes the model, or raises a :class:`ProviderError`."""
        super().__init__()
        self._settings = settings
        self._load = load

    @classmethod
    def class_name(cls) -> str:
        """Name of the class, as LlamaIndex stores it."""
        return "notehop_lazy_llm"

    @property
    def model(self) -> LLM:
        """The model.

        :raises ProviderError: if it cannot be had, with what to do.
        """
        with self._loading:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def close(self) -> None:
        """Let go of the connections to its provider."""
        with self._loading:
            if self._loaded is not None:
                # Its class is not named here: importing it would cost each search.
                close: Callable[[], None] = getattr(self._loaded, "close", lambda: None)
                close()

    @property
    def metadata(self) -> LLMMetadata:
        """What is known of the model; where it cannot be had, what the settings say."""
        try:
            return self.model.metadata
        except ProviderError:
            said = self._settings.llm
            return LLMMetadata(
                context_window=said.context_window or UNKNOWN_WINDOW,
                num_output=said.max_tokens,
                is_chat_model=True,
                model_name=said.model or said.provider,
            )

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Ask once."""
        return self.model.chat(messages, **kwargs)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Ask once."""
        return self.model.complete(prompt, formatted=formatted, **kwargs)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Ask, and hand on what comes as it comes."""
        return self.model.stream_chat(messages, **kwargs)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Do as :meth:`stream_chat`."""
        return self.model.stream_complete(prompt, formatted=formatted, **kwargs)
