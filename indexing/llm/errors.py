"""Turns what goes wrong at a provider into one message: where, what, and what to do."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Iterator
from typing import Any

import httpcore

from notehop.config.errors import ProviderError
from notehop.config.secrets import key_variable
from notehop.indexing.llm.providers import ProviderConfig

CONNECT_S = 10  # until a connection stands

OVERDUE = "the reply takes too long"
"""What a time-out says if the server did not keep silent, but does not come to an end."""

_QUOTED = 300  # characters of a provider's own words that are passed on

_OVERFLOW = re.compile(
    r"context[_ ]length|context[_ ]size|context[_ ]window|maximum context|"
    r"max(imum)? (input|prompt) (length|tokens)|prompt is too long|"
    r"input is too long|too many (input )?tokens|exceed_context",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model_not_found|no such model|unknown model|invalid model|"
    r"model.{0,80}(not found|does not exist|not exist|not loaded|try pulling)",
    re.IGNORECASE | re.DOTALL,
)
_NO_CREDIT = re.compile(
    r"insufficient_quota|credit balance|exceeded your current quota|billing|payment", re.IGNORECASE
)

CONNECTION_ERRORS = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)
"""What a connection fails with, before its answer or in the middle of it."""


class RetryableError(ProviderError):
    """What the same request may not meet again; ``after``: seconds that the provider asks to wait."""

    after: float | None = None


def of_status(status: int, body: bytes, config: ProviderConfig, path: str) -> ProviderError:
    """The error of a reply that is none."""
    words = _words_of(body)
    quoted = _quote(words, config)
    variable = key_variable(config.llm.provider)
    made: type[ProviderError] = ProviderError
    kind, says = "other", f"refuses this (status {status}){quoted}"
    if 300 <= status < 400:
        says = (
            f"wants the text sent elsewhere (status {status}), which is not done; set llm.base_url to "
            "the address that answers itself"
        )
    # What the provider says of a key may repeat it, in part.
    elif status in (401, 403) and config.key is None:
        kind = "key"
        says = f"asks for a key (status {status}); set the environment variable {variable}"
    elif status == 401:
        kind, says = "key", f"does not take the key in {variable} (status 401); check it"
    elif status == 403:
        kind = "key"
    elif status == 402 or (status in (400, 429) and _NO_CREDIT.search(words)):
        kind, says = "rate", f"has no credit left for this key{quoted}; see to it there"
    elif status == 429:
        made, kind = RetryableError, "rate"
        says = f"takes no more requests for now (status 429){quoted}; ask again later"
    elif (known := _of_words(words, config, status)) is not None:
        return known
    elif status == 404:
        compatible = config.llm.provider == "openai-compatible"
        more = " (most servers want it to end in /v1)" if compatible else " and llm.model"
        kind, says = "model", f"knows no {path}{quoted}; check llm.base_url{more}"
    elif status >= 500 or status in (408, 409, 425):
        made, kind = RetryableError, "server"
        says = f"could not answer (status {status}){quoted}; ask again later"
    return made(f"{config.where} {says}", kind)


def of_transport(exc: Exception, config: ProviderConfig, *, local: bool) -> ProviderError:
    """The error of a connection that failed before an answer began.

    :param exc: one of :data:`CONNECTION_ERRORS`; so in :func:`of_cut`.
    :param local: whether it is to this machine, where a server that is not up will not be in a second.
    """
    made: type[ProviderError] = RetryableError
    if isinstance(exc, httpcore.ConnectTimeout | httpcore.PoolTimeout):
        kind, says = "timeout", f"cannot be reached within {CONNECT_S} s"
        says += "; is it up, and is llm.base_url right?"
    elif isinstance(exc, httpcore.TimeoutException):
        return timed_out(config, exc)
    elif isinstance(exc, httpcore.UnsupportedProtocol):
        return ProviderError(f"{config.url}: no address that can be asked; check llm.base_url")
    elif not isinstance(exc, httpcore.ConnectError):
        kind, says = "server", f"broke the connection off ({_reason(exc)})"
    else:
        kind = "refused"
        for cause in _causes(exc):
            if isinstance(cause, ssl.SSLCertVerificationError):
                return ProviderError(
                    f"{config.where} shows a certificate that is not trusted "
                    f"({cause.verify_message}); nothing was sent. If it is yours, name the file of "
                    "its authority in SSL_CERT_FILE",
                    kind,
                )
        start = "is it running, and is llm.base_url right?"
        if config.llm.provider == "ollama":
            start = "is Ollama running? Start it with: ollama serve"
        says = f"takes no connection ({_reason(exc)}); {start}"
        made = ProviderError if local else made
    return made(f"{config.where} {says}", kind)


def of_cut(exc: Exception, config: ProviderConfig) -> ProviderError:
    """The error of an answer that broke off in the middle."""
    if isinstance(exc, httpcore.TimeoutException):
        return timed_out(config, exc)
    says = f"broke off in the middle of its answer ({_reason(exc)}); ask again"
    return ProviderError(f"{config.where} {says}", "server")


def of_library(exc: Exception, config: ProviderConfig) -> ProviderError:
    """The error behind a library's exception: what the transport raised, else what the library says."""
    for cause in _causes(exc):
        if isinstance(cause, ProviderError):
            return cause
    words = str(exc) or type(exc).__name__
    unread = f"{config.where} gave no answer that can be read{_quote(words, config)}"
    return _of_words(words, config) or ProviderError(unread)


def timed_out(config: ProviderConfig, exc: Exception | None = None) -> ProviderError:
    """The error of a model that says nothing for too long, or does not end."""
    if OVERDUE in str(exc):
        return too_long(config, f"{config.reply_s:g} s", "timeout")
    says = f"said nothing for {config.llm.timeout_s:g} s; a larger llm.timeout_s waits longer"
    return ProviderError(f"{config.where} {says}, a smaller model answers sooner", "timeout")


def too_long(config: ProviderConfig, taken: str, kind: str = "server") -> ProviderError:
    """The error of a reply that does not end within its bytes or its time."""
    return ProviderError(
        f"{config.where} does not end its reply: it was given up after {taken}; a larger "
        "llm.timeout_s waits longer, a larger llm.max_tokens reads more",
        kind,
    )


def _of_words(words: str, config: ProviderConfig, status: int = 400) -> ProviderError | None:
    """The error that a provider's words tell of, where its status alone does not."""
    if status in (400, 413, 422, 500) and _OVERFLOW.search(words):
        return ProviderError(
            f"{config.where}: the text is longer than the model can read at once"
            f"{_quote(words, config)}; set llm.context_window to what it takes, or lower "
            "connected.context_chunks",
            "overflow",
        )
    if status in (400, 404) and _NO_MODEL.search(words):
        model = config.llm.model
        ollama = config.llm.provider == "ollama"
        do = f"run: ollama pull {model}" if ollama else "check llm.model"
        return ProviderError(f"{config.where} has no model {model!r}; {do}", "model")
    return None


def _words_of(body: bytes) -> str:
    """What a provider says of an error, in any of the shapes that are around."""
    text = body.decode("utf-8", "replace").strip()
    try:
        payload: Any = json.loads(text)
    except ValueError:
        return "" if text.startswith("<") else text
    if isinstance(payload, dict) and isinstance(payload.get("error"), dict):
        payload = payload["error"]
    if not isinstance(payload, dict):
        return text
    said = {key: value for key, value in payload.items() if isinstance(value, str) and value}
    words = next((said[name] for name in ("message", "error", "detail") if name in said), "")
    kinds = [f"({said[name]})" for name in ("code", "type") if name in said]
    return " ".join([words, *kinds]).strip() or text


def _quote(words: str, config: ProviderConfig) -> str:
    line = " ".join(config.hidden(words).split())
    return f": {line[:_QUOTED]}{'…' if len(line) > _QUOTED else ''}" if line else ""


def _causes(exc: BaseException | None) -> Iterator[BaseException]:
    while exc is not None:
        yield exc
        exc = exc.__cause__ or exc.__context__


def _reason(exc: BaseException) -> str:
    return " ".join(str(exc).split())[:200] or type(exc).__name__
