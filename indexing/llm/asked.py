"""What is asked of a provider: who it is, where, and what must not be told of it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr

from notehop.config.keys import key_variable

HIDDEN = "(not shown)"

MAX_REPLY_BYTES = 32_000_000
"""Whatever is asked for: an answer is read by people."""

PATIENCE_SHARE = 5
"""How many times as long as a model may say nothing, a whole reply may take."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A provider as its calls and its errors need it; ``url`` is the address it is asked at."""

    provider: str
    model: str
    url: str
    timeout_s: float
    connect_timeout_s: float
    retries: int
    key: SecretStr | None = None
    max_tokens: int = 1_000
    first_pause: float = 0.5
    """Seconds before the second try, doubled for each one after, where the provider asks for none."""

    @property
    def host(self) -> str:
        """The name of its host, without a port."""
        return host_of(self.url)

    @property
    def origin(self) -> str:
        """Host and port as a person would write them."""
        return urlsplit(self.url).netloc

    @property
    def reply_bytes(self) -> int:
        """Bytes that a reply may have: five times what providers need for that many tokens."""
        return min(1_000_000 + 2_000 * self.max_tokens, MAX_REPLY_BYTES)

    @property
    def reply_s(self) -> float:
        """Seconds that a reply may take from the request on, and from its head to its end."""
        return PATIENCE_SHARE * self.timeout_s

    @property
    def variable(self) -> str:
        """The environment variable of its key."""
        return key_variable(self.provider)

    def hidden(self, text: str) -> str:
        """A text without the key, wherever a provider repeats it."""
        if self.key is None or not (value := self.key.get_secret_value()):
            return text
        return text.replace(value, HIDDEN)


def host_of(url: str) -> str:
    """The name of an address's host, without a port."""
    return (urlsplit(url).hostname or "").rstrip(".")
