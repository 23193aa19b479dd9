"""Makes the language model that the settings name; nothing is sent by that.

Each provider's library is imported when it is the one, and is an extra.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from notehop.config.errors import ProviderError
from notehop.config.secrets import provider_key

if TYPE_CHECKING:
    from notehop.config import Settings
    from notehop.config.settings import LlmSettings
    from notehop.indexing.llm.provider_llm import ProviderLLM

HIDDEN = "(not shown)"

MAX_REPLY_BYTES = 32_000_000
"""Whatever is asked for: an answer is read by people."""

PATIENCE_SHARE = 5
"""How many times as long as a model may say nothing, a whole reply may take."""


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """A provider as its calls and its errors need it; ``url`` is the address it is asked at.

    ``first_pause``: seconds before the second try, doubled for each one after, where the provider asks
    for none.
    """

    llm: LlmSettings
    url: str
    key: SecretStr | None = None
    first_pause: float = 0.5

    @property
    def host(self) -> str:
        """The name of its host, without a port."""
        return host_of(self.url)

    @property
    def where(self) -> str:
        """Host, port and provider, as a message names them."""
        return f"{urlsplit(self.url).netloc} ({self.llm.provider})"

    @property
    def reply_bytes(self) -> int:
        """Bytes that a reply may have: five times what providers need for that many tokens."""
        return min(1_000_000 + 2_000 * self.llm.max_tokens, MAX_REPLY_BYTES)

    @property
    def reply_s(self) -> float:
        """Seconds that a reply may take from the request on, and from its head to its end."""
        return PATIENCE_SHARE * self.llm.timeout_s

    def hidden(self, text: str) -> str:
        """A text without the key, wherever a provider repeats it."""
        if self.key is None or not (value := self.key.get_secret_value()):
            return text
        return text.replace(value, HIDDEN)


def host_of(url: str) -> str:
    """The name of an address's host, without a port."""
    return (urlsplit(url).hostname or "").rstrip(".")


ADDRESSES = {
    "ollama": "http://127.0.0.1:11434",
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}
"""Where a provider is asked unless ``llm.base_url`` says otherwise."""

DEFAULT_CONTEXT_WINDOW = 8_192
"""Tokens of the window of a model of which nothing is known: what small models of today have."""

DEFAULT_TEMPERATURE = 0.1
"""The temperature of models that are run by their user."""

NO_KEY = "none"
"""What an SDK is given for a key, since it insists on one; the transport puts in the true one."""

_NEEDS = {
    "ollama": ("llama_index.llms.ollama", "ollama"),
    "openai": ("llama_index.llms.openai", "openai"),
    "openai-compatible": ("llama_index.llms.openai", "openai"),
    "anthropic": ("anthropic",),
}
"""What the extra of a provider brings."""

LLAMA_CPP = (
    "llm.provider = 'llama-cpp' is gone: notehop runs no GGUF file itself any more. Run it by its own "
    "server (llama-server -m {model} --port 8080, or LM Studio), and set llm.provider = "
    "'openai-compatible' and llm.base_url = 'http://127.0.0.1:8080/v1' (docs/language-models.md)"
)


def load_llm(
    settings: Settings, *, log_dir: Path | None = None, lazily: bool = False
) -> ProviderLLM | None:
    """The language model that the settings name; None for ``none``. No request is sent.

    :param log_dir: folder of the egress log: that of the index; None for the user's data folder.
    :param lazily: load its library when it is first asked; what stands in the way of it is raised then,
        each time.
    :raises ProviderError: if its extra, its key, its name or its address is missing, with what to do.
    """
    if settings.llm.provider == "none":
        return None
    from notehop.indexing.llm.provider_llm import ProviderLLM

    made = ProviderLLM(settings, log_dir)
    if not lazily:
        made.connect()
    return made


def provider_of(settings: Settings) -> ProviderConfig:
    """Who is asked, and where; nothing is loaded to tell it.

    :raises ProviderError: as :func:`load_llm`.
    """
    llm = settings.llm
    if not llm.model:
        raise ProviderError(
            f"llm.provider = {llm.provider!r} needs a model: set llm.model", "model"
        )
    if llm.provider == "llama-cpp":
        raise ProviderError(LLAMA_CPP.format(model=llm.model), "model")
    url = address(llm)
    if not url and llm.provider == "openai-compatible":
        raise ProviderError(
            "llm.provider = 'openai-compatible' needs an address: set llm.base_url, for example "
            "http://127.0.0.1:8080/v1",
            "model",
        )
    key = provider_key(llm)
    for library in _NEEDS[llm.provider]:
        if not _is_installed(library):
            raise ProviderError(
                f"llm.provider = {llm.provider!r} needs an extra that is not installed "
                f"({library}); run: pip install 'notehop[{llm.provider}]'",
                "model",
            )
    return ProviderConfig(llm, url, key)


def address(llm: LlmSettings) -> str:
    """The address that is asked; empty where none is set."""
    return llm.base_url or ADDRESSES.get(llm.provider, "")


def _is_installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except (ModuleNotFoundError, ValueError):
        return False
