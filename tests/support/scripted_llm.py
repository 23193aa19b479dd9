"""A language model that says what a test wrote down, and keeps what it was asked."""

from collections.abc import Callable
from typing import Any

from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen, LLMMetadata
from llama_index.core.llms import CustomLLM
from pydantic import PrivateAttr


class ScriptedLLM(CustomLLM):
    """Answers each prompt with ``says``, or with what ``tell`` makes of it, or raises ``fails``."""

    says: str = ""
    tell: Callable[[str], str] | None = None
    fails: str | None = None
    window: int = 8_000

    _asked: list[str] = PrivateAttr(default_factory=list)

    @property
    def asked(self) -> list[str]:
        return self._asked

    @property
    def metadata(self) -> LLMMetadata:
        """A completion model with a window of ``window`` tokens."""
        return LLMMetadata(context_window=self.window, num_output=100, model_name="scripted")

    def close(self) -> None:
        """Nothing is open."""

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ARG002
        self._asked.append(prompt)
        if self.fails is not None:
            raise ConnectionError(self.fails)
        return CompletionResponse(text=self.says if self.tell is None else self.tell(prompt))

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        said = self.complete(prompt, formatted, **kwargs).text
        yield CompletionResponse(text=said, delta=said)


def plainly(prompt: str) -> str:
    """A summary or header of a note that follows from what was sent alone."""
    kind = "Placed" if "Place this passage" in prompt else "Summed up"
    words = prompt.split("Title: ", 1)[1].split("\n", 1)[0]
    passage = prompt.rsplit("<passage>", 1)[-1].split()
    return f"{kind}: {words} says {passage[-8] if len(passage) > 8 else 'little'}."
