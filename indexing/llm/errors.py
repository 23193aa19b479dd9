"""Turns what goes wrong at a provider into one message: where, what, and what to do."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

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

CONNECTION_ERRORS = (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError)
"""What a connection fails with, before its answer or in the middle of it."""


class RetryableError(ProviderError):
    """What the same request may not meet again; ``after``: seconds that the provider asks to wait."""

    after: float | None = None


class _Rule(NamedTuple):
    """What a status says, where it comes with some words."""

    statuses: Container[int]
    kind: str
    says: str
    words: re.Pattern[str] = re.compile("")
    retry: bool = False


_RULES = (
    _Rule(
        range(300, 400),
        "other",
        "sends on to another address (status {status}), which gets nothing; check llm.base_url",
    ),
    # What the provider says of a key may repeat it, in part.
    _Rule([401], "key", "does not take the key in {variable} (status 401); check it"),
    _Rule([403], "key", "refuses this (status 403){quoted}"),
    _Rule([402], "rate", "has no credit left for this key{quoted}; see to it there"),
    _Rule([429], "rate", "takes no more requests for now{quoted}; ask again later", retry=True),
    _Rule(
        [400, 413, 422, 500],
        "overflow",
        "says that the text is longer than the model can read at once{quoted}; set "
        "llm.context_window to what it takes, or lower connected.context_chunks",
        _OVERFLOW,
    ),
    _Rule([400, 404], "model", "has no model {model!r}; {get_model}", _NO_MODEL),
    _Rule(
        [404],
        "model",
        "knows no {path}{quoted}; check llm.model, and llm.base_url (of most servers it ends in /v1)",
    ),
    _Rule(
        [408, 409, 425, *range(500, 600)],
        "server",
        "could not answer (status {status}){quoted}; ask again later",
        retry=True,
    ),
    _Rule(range(1_000), "other", "refuses this (status {status}){quoted}"),
)
"""What replies that are no answers say; the first that fits."""


def of_status(status: int, body: bytes, config: ProviderConfig, path: str) -> ProviderError:
    """The error of a reply that is none."""
    if status in (401, 403) and config.key is None:
        variable = key_variable(config.llm.provider)
        says = f"asks for a key (status {status}); set the environment variable {variable}"
        return ProviderError(f"{config.where} {says}", "key")
    words = body.decode("utf-8", "replace").strip()
    if status in (400, 429) and _NO_CREDIT.search(_json_error(words)):
        status = 402
    # A page for a browser says nothing.
    return _of_rules(_RULES, status, "" if words.startswith("<") else words, config, path)


def _json_error(words: str) -> str:
    """Message, code and type of an error in JSON, without the notes that it may repeat elsewhere."""
    try:
        error = json.loads(words)
    except (ValueError, RecursionError):
        return ""
    if isinstance(error, dict):
        error = error.get("error", error)
    if isinstance(error, dict):
        error = " ".join(str(error.get(name)) for name in ("message", "code", "type"))
    return error if isinstance(error, str) else ""


def _of_rules(
    rules: Iterable[_Rule], status: int, words: str, config: ProviderConfig, path: str = ""
) -> ProviderError:
    rule = next(one for one in rules if status in one.statuses and one.words.search(words))
    provider, model = config.llm.provider, config.llm.model
    says = rule.says.format(
        status=status,
        quoted=_quote(words, config),
        variable=key_variable(provider),
        path=path,
        model=model,
        get_model=f"run: ollama pull {model}" if provider == "ollama" else "check llm.model",
    )
    return (RetryableError if rule.retry else ProviderError)(f"{config.where} {says}", rule.kind)


def of_transport(exc: Exception, config: ProviderConfig, *, local: bool) -> ProviderError:
    """The error of a connection that failed, before an answer began or in the middle of it.

    :param exc: one of :data:`CONNECTION_ERRORS`.
    :param local: whether it is to this machine, where a server that is not up will not be in a second.
    """
    made: type[ProviderError] = RetryableError
    kind = "refused"
    if OVERDUE in str(exc):
        return too_long(config, f"{config.reply_s:g} s", "timeout")
    if isinstance(exc, httpcore.ConnectTimeout | httpcore.PoolTimeout):
        kind, says = "timeout", f"cannot be reached within {CONNECT_S} s"
        says += "; is it up, and is llm.base_url right?"
    elif isinstance(exc, httpcore.TimeoutException):
        made, kind = ProviderError, "timeout"
        says = f"said nothing for {config.llm.timeout_s:g} s; a larger llm.timeout_s waits longer"
        says += ", a smaller model answers sooner"
    elif not isinstance(exc, httpcore.ConnectError):
        kind, says = "server", f"broke the connection off ({_reason(exc)}); ask again"
    elif untrusted := [one for one in _causes(exc) if isinstance(one, ssl.SSLCertVerificationError)]:
        made = ProviderError
        says = (
            f"shows a certificate that is not trusted ({untrusted[0].verify_message}); nothing was "
            "sent. If it is yours, name the file of its authority in SSL_CERT_FILE"
        )
    else:
        start = "is it running, and is llm.base_url right?"
        if config.llm.provider == "ollama":
            start = "is Ollama running? Start it with: ollama serve"
        says = f"takes no connection ({_reason(exc)}); {start}"
        made = ProviderError if local else made
    return made(f"{config.where} {says}", kind)


def of_library(exc: Exception, config: ProviderConfig) -> ProviderError:
    """The error behind a library's exception: what the transport raised, else what the library says."""
    for cause in _causes(exc):
        if isinstance(cause, ProviderError):
            return cause
    unread = _Rule([400], "other", "gave no answer that can be read{quoted}")
    known = [rule for rule in _RULES if rule.words.pattern]
    return _of_rules([*known, unread], 400, str(exc) or type(exc).__name__, config)


def too_long(config: ProviderConfig, taken: str, kind: str = "server") -> ProviderError:
    """The error of a reply that does not end within its bytes or its time."""
    return ProviderError(
        f"{config.where} does not end its reply: it was given up after {taken}; a larger "
        "llm.timeout_s waits longer, a larger llm.max_tokens reads more",
        kind,
    )


def _quote(words: str, config: ProviderConfig) -> str:
    line = " ".join(config.hidden(words).split())
    return f": {line[:_QUOTED]}{'…' if len(line) > _QUOTED else ''}" if line else ""


def _causes(exc: BaseException | None) -> Iterator[BaseException]:
    while exc is not None:
        yield exc
        exc = exc.__cause__ or exc.__context__


def _reason(exc: BaseException) -> str:
    return " ".join(str(exc).split())[:200] or type(exc).__name__
