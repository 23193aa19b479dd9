"""A language model that answers by a function, and keeps what it was sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llama_index.core.base.llms.types import (
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms import CustomLLM
from pydantic import PrivateAttr


class TellingLLM(CustomLLM):
    """Says what ``tell`` makes of a prompt; what that raises, it raises."""

    tell: Callable[[str], str]

    _asked: list[str] = PrivateAttr(default_factory=list)

    @property
    def asked(self) -> list[str]:
        """Every prompt so far."""
        return self._asked

    @property
    def metadata(self) -> LLMMetadata:
        """A completion model."""
        return LLMMetadata(model_name="telling")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ARG002
        """Answer."""
        self._asked.append(prompt)
        return CompletionResponse(text=self.tell(prompt))

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        """Answer in one piece."""
        yield self.complete(prompt, formatted, **kwargs)


def plainly(prompt: str) -> str:
    """A summary or header that follows from what was sent alone."""
    kind = "Placed" if "Place this passage" in prompt else "Summed up"
    words = prompt.split("Title: ", 1)[1].split("\n", 1)[0]
    passage = prompt.rsplit("<passage>", 1)[-1].split()
    return f"{kind}: {words} says {passage[-8] if len(passage) > 8 else 'little'}."
