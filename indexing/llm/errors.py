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

OVERDUE = "the reply takes too long"
"""What a time-out says if the server did not keep silent, but does not come to an end."""

_QUOTED = 300
"""Characters of a provider's own words that are passed on."""

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

AGAIN = frozenset({408, 409, 425, 429})
"""Statuses below 500 after which the same request may well be taken."""


class RetryableError(ProviderError):
    """What the same request may not meet again; ``after``: seconds that the provider asks to wait."""

    after: float | None = None


def _error(config: ProviderConfig, kind: str, says: str, *, again: bool = False) -> ProviderError:
    return (RetryableError if again else ProviderError)(f"{config.where} {says}", kind)


def of_status(status: int, body: bytes, config: ProviderConfig, path: str) -> ProviderError:
    """The error of a reply that is none."""
    words = _words_of(body)
    quoted = _quote(words, config)
    variable = key_variable(config.llm.provider)
    if 300 <= status < 400:
        where = "set llm.base_url to the address that answers itself"
        says = f"wants the text sent elsewhere (status {status}), which is not done; {where}"
        return _error(config, "other", says)
    if status in (401, 403) and config.key is None:
        # What the provider says may repeat the key, in part; so below.
        says = f"asks for a key (status {status}); set the environment variable {variable}"
        return _error(config, "key", says)
    if status == 401:
        says = f"does not take the key in {variable} (status 401); check it"
        return _error(config, "key", says)
    if status == 403:
        return _error(config, "key", f"refuses this (status 403){quoted}")
    if status == 402 or (status in (400, 429) and _NO_CREDIT.search(words)):
        says = f"has no credit left for this key{quoted}; see to it there"
        return _error(config, "rate", says)
    if status == 429:
        says = f"takes no more requests for now (status 429){quoted}; ask again later"
        return _error(config, "rate", says, again=True)
    if status in (400, 413, 422, 500) and _OVERFLOW.search(words):
        return _overflow(quoted, config)
    if status in (400, 404) and _NO_MODEL.search(words):
        return _no_model(config)
    if status == 404:
        check = "llm.base_url and llm.model"
        if config.llm.provider == "openai-compatible":
            check = "llm.base_url (most servers want it to end in /v1)"
        return _error(config, "model", f"knows no {path}{quoted}; check {check}")
    if status >= 500 or status in AGAIN:
        says = f"could not answer (status {status}){quoted}; ask again later"
        return _error(config, "server", says, again=True)
    return _error(config, "other", f"refuses this (status {status}){quoted}")


def of_transport(exc: Exception, config: ProviderConfig, *, local: bool) -> ProviderError:
    """The error of a connection that failed before an answer began.

    :param exc: one of :data:`CONNECTION_ERRORS`; so in :func:`of_cut`.
    :param local: whether it is to this machine, where a server that is not up will not be in a second.
    """
    if isinstance(exc, httpcore.ConnectTimeout | httpcore.PoolTimeout):
        wait = f"{config.llm.connect_timeout_s:g} s"
        says = f"cannot be reached within {wait}; is it up, and is llm.base_url right?"
        return _error(config, "timeout", says, again=True)
    if isinstance(exc, httpcore.TimeoutException):
        return timed_out(config, overdue=OVERDUE in str(exc))
    if isinstance(exc, httpcore.UnsupportedProtocol):
        return ProviderError(f"{config.url}: no address that can be asked; check llm.base_url")
    if not isinstance(exc, httpcore.ConnectError):
        says = f"broke the connection off ({_reason(exc)})"
        return _error(config, "server", says, again=True)
    for cause in _causes(exc):
        if isinstance(cause, ssl.SSLCertVerificationError):
            says = (
                f"shows a certificate that is not trusted ({cause.verify_message}); nothing was "
                "sent. If it is yours, name the file of its authority in SSL_CERT_FILE"
            )
            return _error(config, "refused", says)
    start = "is it running, and is llm.base_url right?"
    if config.llm.provider == "ollama":
        start = "is Ollama running? Start it with: ollama serve"
    says = f"takes no connection ({_reason(exc)}); {start}"
    return _error(config, "refused", says, again=not local)


def of_cut(exc: Exception, config: ProviderConfig) -> ProviderError:
    """The error of an answer that broke off in the middle."""
    if isinstance(exc, httpcore.TimeoutException):
        return timed_out(config, overdue=OVERDUE in str(exc))
    says = f"broke off in the middle of its answer ({_reason(exc)}); ask again"
    return _error(config, "server", says)


def of_library(exc: Exception, config: ProviderConfig) -> ProviderError:
    """The error behind a library's exception: what the transport raised, else what the library says."""
    for cause in _causes(exc):
        if isinstance(cause, ProviderError):
            return cause
    words = str(exc) or type(exc).__name__
    quoted = _quote(words, config)
    if _OVERFLOW.search(words):
        return _overflow(quoted, config)
    if _NO_MODEL.search(words):
        return _no_model(config)
    return _error(config, "other", f"gave no answer that can be read{quoted}")


def timed_out(config: ProviderConfig, *, overdue: bool = False) -> ProviderError:
    """The error of a model that says nothing for too long, or does not end."""
    if overdue:
        return too_long(config, f"{config.reply_s:g} s", "timeout")
    says = (
        f"said nothing for {config.llm.timeout_s:g} s; a larger llm.timeout_s waits longer, a "
        "smaller model answers sooner"
    )
    return _error(config, "timeout", says)


def too_long(config: ProviderConfig, taken: str, kind: str = "server") -> ProviderError:
    """The error of a reply that does not end within its bytes or its time."""
    says = (
        f"does not end its reply: it was given up after {taken}; a larger llm.timeout_s waits "
        "longer, a larger llm.max_tokens reads more"
    )
    return _error(config, kind, says)


def compressed(config: ProviderConfig, encoding: str) -> ProviderError:
    """The error of a reply that is compressed, though none was asked for: few bytes may be many."""
    says = (
        f"sends its reply compressed ({encoding[:40]!r}), which was not asked for; it is not read. "
        "Have the server, or the proxy before it, send it plain"
    )
    return _error(config, "server", says)


def _overflow(quoted: str, config: ProviderConfig) -> ProviderError:
    return ProviderError(
        f"{config.where}: the text is longer than the model can read at once{quoted}; set "
        "llm.context_window to what it takes, or lower connected.context_chunks",
        "overflow",
    )


def _no_model(config: ProviderConfig) -> ProviderError:
    model = config.llm.model
    ollama = config.llm.provider == "ollama"
    do = f"run: ollama pull {model}" if ollama else "check llm.model"
    return _error(config, "model", f"has no model {model!r}; {do}")


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
    if len(line) > _QUOTED:
        line = f"{line[:_QUOTED]}…"
    return f": {line}" if line else ""


def _causes(exc: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = exc
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _reason(exc: BaseException) -> str:
    return " ".join(str(exc).split())[:200] or type(exc).__name__
