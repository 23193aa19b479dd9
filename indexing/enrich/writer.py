"""Asks the language model of the settings to write a text about notes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from notehop.config import Settings
from notehop.config.errors import NotehopError, ProviderError
from notehop.indexing.enrich.prompts import KEPT_CHARS, Request, cleaned
from notehop.indexing.llm.text import count_tokens

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

_FRAME_TOKENS = 12  # tokens that a chat takes around two messages


@dataclass(frozen=True, slots=True)
class TextWriter:
    """Asks one language model. ``host`` is who gets the notes; ``model`` its name, as shown."""

    llm: LLM
    model: str
    host: str

    def close(self) -> None:
        """Close the connections of the model, if it has any."""
        from notehop.indexing.llm.provider_llm import ProviderLLM

        if isinstance(self.llm, ProviderLLM):
            self.llm.close()

    def size(self, request: Request) -> int:
        """The tokens that a request sends."""
        return count_tokens(request.system) + count_tokens(request.prompt) + _FRAME_TOKENS

    def write(self, request: Request, path: str) -> tuple[str, int, list[str]]:
        """Ask once.

        :param path: of the note whose text is sent.
        :returns: the text, empty if the model answers without words; the tokens that it cost; and
            notices for the owner of the notes.
        :raises NotehopError: if the model fails.
        """
        from llama_index.core.base.llms.types import ChatMessage, MessageRole

        from notehop.indexing.llm.egress import sending

        messages = [
            ChatMessage(role=MessageRole.SYSTEM, content=request.system),
            ChatMessage(role=MessageRole.USER, content=request.prompt),
        ]
        try:
            with sending([path], purpose=request.kind) as sent:
                reply = self.llm.chat(messages).message.content or ""
        except NotehopError:
            raise
        except Exception as exc:
            # A library says it in its own way; nothing a model does may end the run.
            said = " ".join(str(exc).split())[:300] or type(exc).__name__
            raise ProviderError(f"the model {self.model} failed ({said})") from exc
        return cleaned(reply, KEPT_CHARS), self.size(request) + count_tokens(reply), sent.notices


def load_writer(settings: Settings, log_dir: Path) -> TextWriter:
    """The model that the settings name.

    :param log_dir: of the log of what leaves the machine.
    :raises ProviderError: if it cannot be asked: no extra, key, name or file.
    """
    # Not above: most runs write nothing, and language models take a second to import.
    from notehop.indexing.llm.egress import names_this_machine
    from notehop.indexing.llm.provider_llm import ProviderLLM
    from notehop.indexing.llm.providers import address, host_of

    llm = ProviderLLM(settings, log_dir)
    llm.connect()
    host = host_of(address(settings.llm))
    if not host or names_this_machine(host):
        host = "this machine"
    return TextWriter(llm, Path(settings.llm.model).name, host)
