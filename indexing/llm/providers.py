"""The provider of a language model that the settings name, and where it is asked."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from notehop.config.errors import ProviderError
from notehop.config.secrets import provider_key

if TYPE_CHECKING:
    from notehop.config import Settings
    from notehop.config.settings import LlmSettings


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
    def where(self) -> str:
        """Host, port and provider, as a message names them."""
        return f"{urlsplit(self.url).netloc} ({self.llm.provider})"

    @property
    def reply_bytes(self) -> int:
        """Bytes that a reply may have: five times what providers need for that many tokens, and 32 MB
        whatever is asked for: it is read by people."""
        return min(1_000_000 + 2_000 * self.llm.max_tokens, 32_000_000)

    @property
    def reply_s(self) -> float:
        """Seconds that a reply may take from the request on, and from its head to its end: five times
        as long as a model may say nothing."""
        return 5 * self.llm.timeout_s

    def hidden(self, text: str) -> str:
        """A text without the key, wherever a provider repeats it."""
        key = "" if self.key is None else self.key.get_secret_value()
        return text.replace(key, "(not shown)") if key else text


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

_NEEDS = {
    "ollama": ("llama_index.llms.ollama", "ollama"),
    "openai": ("llama_index.llms.openai", "openai"),
    "openai-compatible": ("llama_index.llms.openai", "openai"),
    "anthropic": ("anthropic",),
}
"""What the extra of a provider brings."""


def provider_of(settings: Settings) -> ProviderConfig:
    """Who is asked, and where; nothing is loaded to tell it. Raises ProviderError if its extra, its
    key, its name or its address is missing, with what to do."""
    llm = settings.llm
    if not llm.model:
        raise ProviderError(f"llm.provider = {llm.provider!r} needs a model: set llm.model", "model")
    url = address(llm)
    if not url and llm.provider == "openai-compatible":
        raise ProviderError(
            "llm.provider = 'openai-compatible' needs an address: set llm.base_url, for example "
            "http://127.0.0.1:8080/v1",
            "model",
        )
    key = provider_key(llm)
    for library in _NEEDS[llm.provider]:
        try:
            installed = find_spec(library) is not None
        except (ModuleNotFoundError, ValueError):
            installed = False
        if not installed:
            raise ProviderError(
                f"llm.provider = {llm.provider!r} needs an extra that is not installed "
                f"({library}); run: pip install 'notehop[{llm.provider}]'",
                "model",
            )
    return ProviderConfig(llm, url, key)


def address(llm: LlmSettings) -> str:
    """The address that is asked; empty where none is set."""
    return llm.base_url or ADDRESSES.get(llm.provider, "")
