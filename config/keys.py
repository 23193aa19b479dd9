"""The keys of language model providers: from the environment, and from nowhere else.

Touches: environment.
"""

from __future__ import annotations

import os

from pydantic import SecretStr

from notehop.config.errors import ProviderError
from notehop.config.settings import LlmSettings

VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
"""Services whose key has a variable of its own; each goes to no other provider."""

OWN_VARIABLE = "NOTEHOP_LLM__API_KEY"
"""The variable of a server that speaks a service's protocol."""


def key_variable(provider: str) -> str:
    """The environment variable that holds a provider's key."""
    return VARIABLES.get(provider, OWN_VARIABLE)


def provider_key(settings: LlmSettings) -> SecretStr | None:
    """The key of the provider that is set; None if it has none and can do without.

    :raises ProviderError: if a service is to be asked without a key, or a key cannot be sent.
    """
    variable = VARIABLES.get(settings.provider)
    if variable is None:
        key, named = settings.api_key, OWN_VARIABLE
    else:
        key, named = SecretStr(os.environ.get(variable, "").strip()), variable
        if not key.get_secret_value():
            raise ProviderError(
                f"llm.provider = {settings.provider!r} needs a key: set the environment variable "
                f"{variable} (keys are read from no file)",
                "key",
            )
    if key is None:
        return None
    value = key.get_secret_value()
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ProviderError(
            f"{named}: the key holds a space or a sign that cannot be sent; set it again", "key"
        )
    return key
