"""The model that writes about notes: one request, one line of plain text.

Touches: model, network (through :mod:`notehop.indexing.llm`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms import LLM

from notehop.config import Settings
from notehop.config.errors import NotehopError, ProviderError
from notehop.indexing.enrich.clean import cleaned
from notehop.indexing.enrich.headers import model_identity
from notehop.indexing.enrich.prompts import HEADER_CHARS, SUMMARY_CHARS, Request
from notehop.indexing.llm.consent import is_loopback
from notehop.indexing.llm.egress import Purpose, sending
from notehop.indexing.llm.load import asked_of, load_llm
from notehop.indexing.llm.tokens import TokenCounter, counter
from notehop.indexing.llm.told import ToldLLM

_FRAME_TOKENS = 12
"""Tokens that a chat takes around two messages."""


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a request; ``notices`` are for the owner of the notes."""

    text: str
    tokens: int
    notices: tuple[str, ...] = ()


class Scribe:
    """Asks one language model. ``host`` is who gets the notes; ``model`` its name, as shown."""

    def __init__(self, llm: LLM, counter: TokenCounter, *, model: str, host: str) -> None:
        """Send nothing yet."""
        self._llm = llm
        self.counter = counter
        self.model = model
        self.host = host

    def close(self) -> None:
        """Close the connections of the model, if it has any."""
        if isinstance(self._llm, ToldLLM):
            self._llm.close()

    def size(self, request: Request) -> int:
        """The tokens that a request sends."""
        said = self.counter.count(request.system) + self.counter.count(request.prompt)
        return said + _FRAME_TOKENS

    def write(self, request: Request, path: str, cancelled: Callable[[], bool]) -> Written:
        """Ask once.

        :param path: of the note whose text is sent.
        :raises NotehopError: if the model fails, or answers without words.
        """
        messages = [
            ChatMessage(role=MessageRole.SYSTEM, content=request.system),
            ChatMessage(role=MessageRole.USER, content=request.prompt),
        ]
        purpose: Purpose = "summary" if request.kind == "summary" else "header"
        try:
            with sending([path], purpose=purpose, cancelled=cancelled) as sent:
                said = self._llm.chat(messages).message.content or ""
        except NotehopError:
            raise
        except Exception as exc:
            # A library says it in its own way; nothing a model does may end the run.
            raise ProviderError(f"the model {self.model} failed ({exc})") from exc
        text = cleaned(said, SUMMARY_CHARS if request.kind == "summary" else HEADER_CHARS)
        if not text:
            raise ProviderError(f"the model {self.model} answered without words")
        tokens = self.size(request) + self.counter.count(said)
        return Written(text, tokens, tuple(sent.notices))


def load_scribe(settings: Settings, log_dir: Path) -> Scribe | None:
    """The model that the settings name; None if they name none.

    :param log_dir: of the log of what leaves the machine.
    :raises ProviderError: if it cannot be asked: no extra, key, name or file.
    """
    llm = load_llm(settings, log_dir=log_dir)
    if llm is None:
        return None
    host = asked_of(settings).host
    if not host or host == "localhost" or is_loopback(host):
        host = "this machine"
    name = model_identity(settings)["model"]
    return Scribe(llm, counter(settings), model=Path(name).name, host=host)
