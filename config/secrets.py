"""Secrets: the tokens of servers and vaults, and the keys of language model providers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from pydantic import SecretStr

from notehop.config.errors import ProviderError, SettingsError
from notehop.config.settings import LlmSettings, ServerSettings

SHORTEST = 16  # characters that a token has at least: with fewer it could be guessed

_LONGEST = 4_096

VAULT_TOKEN = "NOTEHOP_TOKEN_"  # how the variables begin that hold the tokens of vaults


def server_token(settings: ServerSettings) -> str | None:
    """The token of the server, None if it has none; or SettingsError, if it could not be sent."""
    token = settings.token
    return None if token is None else _checked(token.get_secret_value(), "server.token")


def token_variable(name: str) -> str:
    """The environment variable that holds the token of a vault: ``NOTEHOP_TOKEN_MY_NOTES``."""
    return VAULT_TOKEN + re.sub(r"[^A-Z0-9]", "_", name.upper())


def vault_tokens(names: Iterable[str]) -> dict[str, str]:
    """The tokens of vaults, by name: each opens its vault alone.

    :raises SettingsError: if one is no token, or of two vaults.
    """
    of: dict[str, str] = {}
    for name in names:
        variable = token_variable(name)
        if variable in of:
            raise SettingsError(
                f"{variable} is the token of two vaults, {of[variable]} and {name}; give one another "
                "name: --vault name=folder"
            )
        if os.environ.get(variable):
            of[variable] = name
    return {name: _checked(os.environ[one], one) for one, name in of.items()}


def _checked(token: str, origin: str) -> str:
    """A token that a header can carry; or SettingsError, which does not show it."""
    if not (SHORTEST <= len(token) <= _LONGEST and _can_be_sent(token)):
        raise SettingsError(
            f"{origin}: a token has {SHORTEST} to {_LONGEST:,} visible ASCII characters and no "
            "space; make one with: openssl rand -hex 32"
        )
    return token


def _can_be_sent(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
"""Services whose key has a variable of its own; each goes to no other provider."""

OWN_VARIABLE = "NOTEHOP_LLM__API_KEY"  # the variable of a server that speaks a service's protocol


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
    if key is not None and not _can_be_sent(key.get_secret_value()):
        raise ProviderError(
            f"{named}: the key holds a space or a sign that cannot be sent; set it again", "key"
        )
    return key
