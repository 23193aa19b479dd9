"""What is asked of a provider: who it is, where, and what must not be told of it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr

from notehop.config.keys import key_variable

HIDDEN = "(not shown)"


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

    @property
    def host(self) -> str:
        """The name of its host, without a port."""
        return host_of(self.url)

    @property
    def origin(self) -> str:
        """Host and port as a person would write them."""
        return urlsplit(self.url).netloc

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
