"""The model that writes about notes: one request, one line of plain text.

Touches: model, network (through :mod:`notehop.indexing.llm`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms import LLM

from notehop.config import Settings
from notehop.config.errors import NotehopError, ProviderError
from notehop.indexing.enrich.extract import cut
from notehop.indexing.enrich.headers import model_identity
from notehop.indexing.enrich.prompts import HEADER_CHARS, SUMMARY_CHARS, Request
from notehop.indexing.llm.consent import is_loopback
from notehop.indexing.llm.egress import Purpose, sending
from notehop.indexing.llm.provider_llm import ProviderLLM
from notehop.indexing.llm.providers import load_llm, provider_of
from notehop.indexing.llm.tokens import TokenCounter, counter
from notehop.indexing.vault.plain import without_emphasis

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.S | re.I)
_CODE = re.compile(r"^[ \t]*(?:`{3,}|~{3,}).*$", re.M)
_IMAGE = re.compile(r"!\[([^\]\n]{0,300})\]\([^)\n]{0,2000}\)|!\[\[[^\]\n]{0,300}\]\]")
_LINK = re.compile(r"\[([^\]\n]{0,300})\]\([^)\n]{0,2000}\)")
_WIKILINK = re.compile(r"\[\[(?:[^\]|\n]{0,300}\|)?([^\]|\n]{0,300})\]\]")
_TAG = re.compile(r"<!--.*?(?:-->|\Z)|</?[a-zA-Z][^<>\n]*>", re.S)
_LINE = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|\d{1,3}[.)][ \t]+)", re.M)
_ADDRESS = re.compile(
    r"\b(?:(?:https?|ftp|file|obsidian)://|javascript:(?=\S)|data:(?=\w+/[\w.+-]+[;,]))"
    r"(?:\([^\s()]*\)|[^\s<>\"'()\]])*(?<![.,;:!?])",
    re.I,
)
_LABEL = re.compile(
    r"^(?:here(?:'s| is)\b[^:\n]{0,60}:|(?:summary|context|header|answer)\s*:)\s*", re.I
)
_QUOTED = re.compile(r'^(["“„«\'])(.*)(["”“»\'])$', re.S)

_LONGEST_MARKS = 20_000
"""Characters of a reply that are looked at, beside those that are kept: marks and addresses."""


def cleaned(reply: str, most: int) -> str:
    """The words of a model on one line, without thoughts, marks, links, addresses and controls.

    :param most: characters; cut after a sentence where one ends in the last half, else after a
        word.
    :returns: empty if there are no words.
    """
    text = _THOUGHT.sub("", reply)[: most + _LONGEST_MARKS]
    text = _CODE.sub("", text)
    text = _TAG.sub("", _WIKILINK.sub(r"\1", _LINK.sub(r"\1", _IMAGE.sub(r"\1", text))))
    text = _ADDRESS.sub("", text)
    text = without_emphasis(_LINE.sub("", text))
    text = " ".join("".join(map(_shown, text)).split())
    text = _LABEL.sub("", text)
    if (quoted := _QUOTED.match(text)) is not None and quoted[1] not in quoted[2]:
        text = quoted[2].strip()
    return cut(text, most) if any(map(str.isalnum, text)) else ""


def _shown(char: str) -> str:
    """The character; a blank for a control; nothing for one that hides or turns what is read."""
    category = unicodedata.category(char)
    if category in ("Cf", "Co", "Cs", "Cn"):
        # Joiners make letters of some scripts and emoji what they are.
        return char if char in "\u200c\u200d" else ""
    return " " if category in ("Cc", "Zl", "Zp") else char


_FRAME_TOKENS = 12
"""Tokens that a chat takes around two messages."""


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a request; ``notices`` are for the owner of the notes."""

    text: str
    tokens: int
    notices: tuple[str, ...] = ()


class TextWriter:
    """Asks one language model. ``host`` is who gets the notes; ``model`` its name, as shown."""

    def __init__(self, llm: LLM, counter: TokenCounter, *, model: str, host: str) -> None:
        """Send nothing yet."""
        self._llm = llm
        self.counter = counter
        self.model = model
        self.host = host

    def close(self) -> None:
        """Close the connections of the model, if it has any."""
        if isinstance(self._llm, ProviderLLM):
            self._llm.close()

    def size(self, request: Request) -> int:
        """The tokens that a request sends."""
        reply = self.counter.count(request.system) + self.counter.count(request.prompt)
        return reply + _FRAME_TOKENS

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
                reply = self._llm.chat(messages).message.content or ""
        except NotehopError:
            raise
        except Exception as exc:
            # A library says it in its own way; nothing a model does may end the run.
            raise ProviderError(f"the model {self.model} failed ({exc})") from exc
        text = cleaned(reply, SUMMARY_CHARS if request.kind == "summary" else HEADER_CHARS)
        if not text:
            raise ProviderError(f"the model {self.model} answered without words")
        tokens = self.size(request) + self.counter.count(reply)
        return Written(text, tokens, tuple(sent.notices))


def load_writer(settings: Settings, log_dir: Path) -> TextWriter | None:
    """The model that the settings name; None if they name none.

    :param log_dir: of the log of what leaves the machine.
    :raises ProviderError: if it cannot be asked: no extra, key, name or file.
    """
    llm = load_llm(settings, log_dir=log_dir)
    if llm is None:
        return None
    host = provider_of(settings).host
    if not host or host == "localhost" or is_loopback(host):
        host = "this machine"
    name = model_identity(settings)["model"]
    return TextWriter(llm, counter(settings), model=Path(name).name, host=host)
