"""Makes the language model that the settings name; nothing is sent by that.

Each provider's library is imported when it is the one, and is an extra.

Touches: model (a GGUF file), index (the egress log, when the model is asked).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notehop.config.errors import ProviderError
from notehop.config.keys import provider_key
from notehop.indexing.llm.asked import Asked
from notehop.indexing.llm.gguf_file import gguf_file

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from notehop.config import Settings
    from notehop.config.settings import LlmSettings
    from notehop.indexing.llm.consent import Resolve
    from notehop.indexing.llm.gate import Gate
    from notehop.indexing.llm.told import ToldLLM

ADDRESSES = {
    "ollama": "http://127.0.0.1:11434",
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}
"""Where a provider is asked unless ``llm.base_url`` says otherwise."""

UNKNOWN_WINDOW = 8_192
"""Tokens of the window of a model of which nothing is known: what small models of today have."""

STEADY = 0.1
"""The temperature of models that are run by their user."""

_MODULES = {
    "ollama": "notehop.indexing.llm.by_ollama",
    "openai": "notehop.indexing.llm.by_openai",
    "openai-compatible": "notehop.indexing.llm.by_openai",
    "anthropic": "notehop.indexing.llm.by_anthropic",
    "llama-cpp": "notehop.indexing.llm.by_llama_cpp",
}

_NEEDS = {
    "ollama": ("llama_index.llms.ollama", "ollama"),
    "openai": ("llama_index.llms.openai", "openai"),
    "openai-compatible": ("llama_index.llms.openai_like", "openai"),
    "anthropic": ("anthropic",),
    "llama-cpp": ("llama_cpp",),
}
"""What the extra of a provider brings."""


def load_llm(
    settings: Settings, *, log_dir: Path | None = None, resolve: Resolve | None = None
) -> LLM | None:
    """The language model that the settings name; None for ``none``. No request is sent.

    :param log_dir: folder of the egress log: that of the index; None for the user's data folder.
    :param resolve: finds the addresses of a host; None for the system's way.
    :raises ProviderError: if its extra, its key, its name or its file is missing, with what to do.
    """
    llm = settings.llm
    if llm.provider == "none":
        return None
    asked = asked_of(settings)
    build = _builder(llm.provider)
    if llm.provider == "llama-cpp":
        made: LLM = build(llm, asked)
        return made
    gate = _gate(settings, asked, log_dir, resolve)
    built: ToldLLM = build(llm, asked, gate)
    built.on_close(gate.close)
    return built


def asked_of(settings: Settings) -> Asked:
    """Who is asked, and where; nothing is loaded to tell it.

    :raises ProviderError: as :func:`load_llm`.
    """
    llm = settings.llm
    if not llm.model:
        raise ProviderError(
            f"llm.provider = {llm.provider!r} needs a model: set llm.model", "model"
        )
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
    if llm.provider == "llama-cpp":
        gguf_file(llm.model)
    return Asked(
        provider=llm.provider,
        # The folders of a file are nobody's business.
        model=Path(llm.model).name if llm.provider == "llama-cpp" else llm.model,
        url=url,
        timeout_s=llm.timeout_s,
        connect_timeout_s=llm.connect_timeout_s,
        retries=llm.retries,
        key=key,
        max_tokens=llm.max_tokens,
    )


def address(llm: LlmSettings) -> str:
    """The address that is asked; empty for a model in this process, or where none is set."""
    return "" if llm.provider == "llama-cpp" else llm.base_url or ADDRESSES.get(llm.provider, "")


def _builder(provider: str) -> Callable[..., Any]:
    """:raises ProviderError: if its library is there and cannot be loaded."""
    try:
        build: Callable[..., Any] = import_module(_MODULES[provider]).build
    except (ImportError, OSError, RuntimeError) as exc:
        raise ProviderError(
            f"the library of llm.provider = {provider!r} is installed and cannot be loaded "
            f"({exc}); run: pip install --force-reinstall 'notehop[{provider}]'",
            "model",
        ) from exc
    return build


def _is_installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:
        return False


def _gate(settings: Settings, asked: Asked, log_dir: Path | None, resolve: Resolve | None) -> Gate:
    from notehop.indexing.llm.consent import Hosts
    from notehop.indexing.llm.egress_log import EgressLog
    from notehop.indexing.llm.gate import Gate

    if log_dir is None:
        from platformdirs import user_data_path

        log_dir = user_data_path("notehop", ensure_exists=True)
    return Gate(asked, Hosts(settings.privacy.allow_hosts, resolve), EgressLog(log_dir))
