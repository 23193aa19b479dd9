"""Turns what goes wrong at a provider into one message: where, what, and what to do."""

from __future__ import annotations

import json
import re
import ssl
from typing import Any

import httpcore

from notehop.config.errors import ProviderError
from notehop.indexing.llm.providers import ProviderConfig

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

OVERDUE = "the reply takes too long"
"""What a time-out says if the server did not keep silent, but does not come to an end."""

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


def of_status(
    status: int, body: bytes, config: ProviderConfig, path: str
) -> tuple[ProviderError, bool]:
    """The error of a reply that is none, and whether it is worth asking again."""
    words = _words_of(body)
    quoted = f": {_quote(words, config)}" if words else ""
    where = f"{config.origin} ({config.provider})"
    if 300 <= status < 400:
        return ProviderError(
            f"{where} wants the text sent elsewhere (status {status}), which is not done; set "
            "llm.base_url to the address that answers itself"
        ), False
    if status == 401 or (status == 403 and config.key is None):
        return _no_key(where, status, config), False
    if status == 403:
        return ProviderError(f"{where} refuses this (status 403){quoted}", "key"), False
    if status == 402 or (status in (400, 403, 429) and _NO_CREDIT.search(words)):
        return ProviderError(
            f"{where} has no credit left for this key{quoted}; see to it there", "rate"
        ), False
    if status == 429:
        return ProviderError(
            f"{where} takes no more requests for now (status 429){quoted}; ask again later", "rate"
        ), True
    if status in (400, 413, 422, 500) and _OVERFLOW.search(words):
        return overflow(where, quoted), False
    if status in (400, 404) and _NO_MODEL.search(words):
        return no_model(where, config), False
    if status == 404:
        return ProviderError(
            f"{where} knows no {path}{quoted}; check llm.base_url (most servers want it to end in "
            "/v1)"
            if config.provider == "openai-compatible"
            else f"{where} knows no {path}{quoted}; check llm.base_url and llm.model",
            "model",
        ), False
    if status >= 500 or status in AGAIN:
        return ProviderError(
            f"{where} could not answer (status {status}){quoted}; ask again later", "server"
        ), True
    return ProviderError(f"{where} refuses this (status {status}){quoted}"), False


def of_transport(exc: Exception, config: ProviderConfig) -> tuple[ProviderError, bool]:
    """The error of a connection that failed before an answer began; and whether to ask again.

    :param exc: one of :data:`CONNECTION_ERRORS`; so in :func:`of_cut`.
    """
    where = f"{config.origin} ({config.provider})"
    if isinstance(exc, httpcore.ConnectTimeout | httpcore.PoolTimeout):
        return ProviderError(
            f"{where} cannot be reached within {config.connect_timeout_s:g} s; is it up, and is "
            "llm.base_url right?",
            "timeout",
        ), True
    if isinstance(exc, httpcore.TimeoutException):
        return timed_out(config, overdue=OVERDUE in str(exc)), False
    if isinstance(exc, httpcore.ConnectError):
        if (words := _certificate(exc)) is not None:
            return ProviderError(
                f"{where} shows a certificate that is not trusted ({words}); nothing was sent. If "
                "it is yours, name the file of its authority in SSL_CERT_FILE",
                "refused",
            ), False
        start = (
            "; is Ollama running? Start it with: ollama serve"
            if config.provider == "ollama"
            else "; is it running, and is llm.base_url right?"
        )
        return ProviderError(
            f"{where} takes no connection ({_reason(exc)}){start}", "refused"
        ), True
    if isinstance(exc, httpcore.UnsupportedProtocol):
        return ProviderError(
            f"{config.url}: no address that can be asked; check llm.base_url"
        ), False
    return ProviderError(f"{where} broke the connection off ({_reason(exc)})", "server"), True


def of_cut(exc: Exception, config: ProviderConfig) -> ProviderError:
    """The error of an answer that broke off in the middle."""
    if isinstance(exc, httpcore.TimeoutException):
        return timed_out(config, overdue=OVERDUE in str(exc))
    return ProviderError(
        f"{config.origin} ({config.provider}) broke off in the middle of its answer "
        f"({_reason(exc)}); ask again",
        "server",
    )


def of_words(words: str, config: ProviderConfig) -> ProviderError:
    """The error that a provider tells in words, in the middle of its answer or from a library."""
    where = f"{config.origin} ({config.provider})" if config.url else config.provider
    quoted = f": {_quote(words, config)}" if words.strip() else ""
    if _OVERFLOW.search(words):
        return overflow(where, quoted)
    if _NO_MODEL.search(words):
        return no_model(where, config)
    return ProviderError(f"{where} gave no answer that can be read{quoted}")


def timed_out(config: ProviderConfig, *, overdue: bool = False) -> ProviderError:
    """The error of a model that says nothing for too long, or does not end."""
    if overdue:
        return too_long(config, f"{config.reply_s:g} s")
    return ProviderError(
        f"{config.origin} ({config.provider}) said nothing for {config.timeout_s:g} s; a larger "
        "llm.timeout_s waits longer, a smaller model answers sooner",
        "timeout",
    )


def too_long(config: ProviderConfig, taken: str) -> ProviderError:
    """The error of a reply that does not end within its bytes or its time."""
    return ProviderError(
        f"{config.origin} ({config.provider}) does not end its reply: it was given up after {taken}; "
        "a larger llm.timeout_s waits longer, a larger llm.max_tokens reads more",
        "timeout" if taken.endswith(" s") else "server",
    )


def compressed(config: ProviderConfig, encoding: str) -> ProviderError:
    """The error of a reply that is compressed, though none was asked for: few bytes may be many."""
    return ProviderError(
        f"{config.origin} ({config.provider}) sends its reply compressed ({encoding[:40]!r}), which "
        "was not asked for; it is not read. Have the server, or the proxy before it, send it plain",
        "server",
    )


def overflow(where: str, quoted: str) -> ProviderError:
    """The error of a prompt that is longer than the model's window."""
    return ProviderError(
        f"{where}: the text is longer than the model can read at once{quoted}; set "
        "llm.context_window to what it takes, or lower connected.context_chunks",
        "overflow",
    )


def no_model(where: str, config: ProviderConfig) -> ProviderError:
    """The error of a model that its provider does not have."""
    do = f"run: ollama pull {config.model}" if config.provider == "ollama" else "check llm.model"
    return ProviderError(f"{where} has no model {config.model!r}; {do}", "model")


def _no_key(where: str, status: int, config: ProviderConfig) -> ProviderError:
    # What the provider says may repeat the key, in part.
    if config.key is None:
        payload = f"{where} asks for a key (status {status}); set the environment variable"
        return ProviderError(f"{payload} {config.variable}", "key")
    return ProviderError(
        f"{where} does not take the key in {config.variable} (status {status}); check it", "key"
    )


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
    kinds = [str(payload[name]) for name in ("code", "type") if isinstance(payload.get(name), str)]
    words = next(
        (
            payload[name]
            for name in ("message", "error", "detail")
            if isinstance(payload.get(name), str) and payload[name]
        ),
        "",
    )
    return " ".join([words, *(f"({kind})" for kind in kinds)]).strip() or text


def _quote(words: str, config: ProviderConfig) -> str:
    line = " ".join(config.hidden(words).split())
    return line if len(line) <= _QUOTED else f"{line[:_QUOTED]}…"


def _certificate(exc: BaseException) -> str | None:
    cause: BaseException | None = exc
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause.verify_message
        cause = cause.__cause__ or cause.__context__
    return None


def _reason(exc: BaseException) -> str:
    return " ".join(str(exc).split())[:200] or type(exc).__name__
