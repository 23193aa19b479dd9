"""The one way by which anything goes to a provider: an httpx transport that every SDK is given.

For each request it asks whether the host may get text, writes the egress log before a byte is sent,
sends, sends again where that may help, and turns what goes wrong into a :class:`ProviderError`. An
answer that began is never asked for again. Redirects are not followed, and no proxy of the
environment is used: both would be other hosts than the one that was allowed.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic, sleep

import httpcore
import httpx

from notehop.config.errors import ProviderError
from notehop.indexing.llm.connections import PATIENCE, CheckedBackend
from notehop.indexing.llm.consent import Hosts
from notehop.indexing.llm.egress import OPENED, SENDING, WHAT_GOES, Attempt, EgressLog, Sending
from notehop.indexing.llm.errors import (
    CONNECTION_ERRORS,
    compressed,
    of_cut,
    of_status,
    of_transport,
    timed_out,
    too_long,
)
from notehop.indexing.llm.providers import ProviderConfig

_log = logging.getLogger(__name__)

LONGEST_PAUSE = 30.0
"""Seconds that a provider may have us wait: nobody waits for an answer that long twice."""

_HEADERS = (
    "host",
    "accept",
    "connection",
    "content-type",
    "content-length",
    "transfer-encoding",
    "anthropic-version",
    "anthropic-beta",
)

_ERROR_BYTES = 65_536
"""Bytes of an error that are read: it is looked at, not passed on whole."""

_ENDS = (b"[DONE]", b"message_stop")
"""What a stream says last: its client does not read on to the end of the connection."""

_TAIL = 64


class Failed(Exception):
    """One try that failed; ``again`` is whether another may not, ``after`` when, in seconds."""

    def __init__(self, error: ProviderError, again: bool, after: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.again = again
        self.after = after


@dataclass(frozen=True, slots=True)
class _Call:
    """One request on its way, with all its tries."""

    request: httpx.Request
    host: str
    local: bool
    sending: Sending | None

    def is_cancelled(self) -> bool:
        return bool(self.sending and self.sending.cancelled and self.sending.cancelled())

    def rest(self, seconds: float) -> None:
        """Wait before the next try, unless nobody waits for it any more."""
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0 and not self.is_cancelled():
            sleep(min(left, PATIENCE))


class ProviderTransport(httpx.BaseTransport):
    """The transport of a provider's client; what must not block calls it in a thread."""

    def __init__(self, config: ProviderConfig, hosts: Hosts, log: EgressLog) -> None:
        """Connect to nothing yet."""
        self.config = config
        self._hosts = hosts
        self._egress = log
        self._announced: set[tuple[str, str]] = set()
        self._pool = httpcore.ConnectionPool(
            ssl_context=(httpx.create_ssl_context() if config.url.startswith("https:") else None),
            network_backend=CheckedBackend(hosts, config.reply_s),
            keepalive_expiry=30.0,
        )

    def close(self) -> None:
        """Let go of the connections that are kept; another request makes new ones."""
        self._pool.close()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, perhaps more than once.

        :raises ProviderError: whatever goes wrong.
        """
        call = self._admit(request)
        tries = 0
        while True:
            tries += 1
            try:
                return self._send(call, tries)
            except Failed as failed:
                if not failed.again or tries > self.config.retries:
                    raise failed.error from failed.__cause__
                call.rest(self._pause(failed, tries))

    def _pause(self, failed: Failed, tries: int) -> float:
        """Seconds until the next try: what the provider asks for, else growing; and some by chance."""
        if failed.after:
            return failed.after * random.uniform(1, 1.5)
        growing = min(self.config.first_pause * 2.0 ** (tries - 1), LONGEST_PAUSE / 2)
        return growing * random.uniform(1, 2)

    def _admit(self, request: httpx.Request) -> _Call:
        """Let a request through.

        :raises ProviderError: ``consent``, if its host may get nothing.
        """
        wait = self.config.timeout_s
        times = {
            "connect": self.config.connect_timeout_s,
            "read": wait,
            "write": wait,
            "pool": wait,
        }
        request.extensions = {**request.extensions, "timeout": times}
        request.headers = self._headers(request.headers)
        sending = SENDING.get()
        host = request.url.raw_host.decode("ascii").rstrip(".")
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        what = WHAT_GOES[sending.purpose] if sending else "text of your notes"
        local = self._hosts.admit(host, port, what)
        if not local:
            self._announce(host, what, sending)
        return _Call(request, host, local, sending)

    def _announce(self, host: str, what: str, sending: Sending | None) -> None:
        """Say once for each purpose who gets what: in the log of the program and in the reply."""
        purpose = sending.purpose if sending else "other"
        if (host, purpose) in self._announced:
            return
        self._announced.add((host, purpose))
        if self._egress.knows(host, purpose):
            return
        openly = ""
        if self.config.url.startswith("http:"):
            key = ", and with them your key" if self.config.key is not None else ""
            openly = (
                f". They go over plain http: whoever is on the way can read them{key}. Write "
                "https:// in llm.base_url if it can be asked so"
            )
        text = (
            f"{host} ({self.config.provider}, {self.config.model}) now gets {what}, with this call "
            f"and with those to come{openly}; this is said once (notehop status --egress lists them)"
        )
        _log.warning("%s", text)
        if sending is not None:
            sending.notice(text)

    def _headers(self, given: httpx.Headers) -> httpx.Headers:
        """The headers that are needed, and the key of this provider.

        Clients add others, from variables of the environment that were set for somebody else.
        """
        headers = httpx.Headers([(name, given[name]) for name in _HEADERS if name in given])
        # Of what is compressed nobody knows how much it is before it is read.
        headers["accept-encoding"] = "identity"
        # Theirs would name the system and its versions.
        headers["user-agent"] = "notehop"
        if self.config.key is not None:
            key = self.config.key.get_secret_value()
            if self.config.provider == "anthropic":
                headers["x-api-key"] = key
            else:
                headers["authorization"] = f"Bearer {key}"
        return headers

    def _send(self, call: _Call, tries: int) -> httpx.Response:
        """Try once.

        :raises Failed: if there is no answer.
        :raises ProviderError: if nobody waits for one, or what goes to another machine cannot be
            written down.
        """
        attempt = self._begin(call, tries)
        try:
            response = self._pool.handle_request(_as_httpcore(call.request))
        except CONNECTION_ERRORS as exc:
            error, again = of_transport(exc, self.config)
            attempt.end(error=error.kind)
            # A server of this machine that is not up now will not be in a second.
            down = call.local and isinstance(exc, httpcore.ConnectError)
            raise Failed(error, again and not down) from exc
        except BaseException as exc:
            attempt.end(error=exc.kind if isinstance(exc, ProviderError) else "cancelled")
            raise
        headers = httpx.Headers(response.headers)
        encoding = headers.get("content-encoding", "").strip().lower()
        plain = encoding in ("", "identity")
        if response.status >= 300:
            # Of one that is compressed nothing is read.
            body = _beginning(response) if plain else b""
            response.close()
            error, again = of_status(response.status, body, self.config, call.request.url.path)
            attempt.end(status=response.status, bytes_in=len(body), error=error.kind)
            after = _retry_after(headers)
            raise Failed(error, again and (after is None or after <= LONGEST_PAUSE), after)
        if not plain:
            response.close()
            error = compressed(self.config, encoding)
            attempt.end(status=response.status, error=error.kind)
            raise Failed(error, again=False)
        return httpx.Response(
            response.status,
            headers=headers,
            stream=ReplyStream(response, attempt, self.config, headers.get("content-type", "")),
            extensions=response.extensions,
        )

    def _begin(self, call: _Call, tries: int) -> Attempt:
        """Write down that a request is sent now."""
        if call.is_cancelled():
            raise ProviderError("the answer is not waited for any more", "cancelled")
        length = call.request.headers.get("content-length", "0")
        return self._egress.begin(
            host=call.host,
            local=call.local,
            provider=self.config.provider,
            model=self.config.model,
            purpose=call.sending.purpose if call.sending else "other",
            notes=call.sending.notes if call.sending else (),
            bytes_out=int(length) if length.isdigit() else 0,
            attempt=tries,
        )


class ReplyStream(httpx.SyncByteStream):
    """An answer as it comes in, within its limits; how it ended is written down.

    Bytes are limited here, and of a stream the seconds until the next whole line; the seconds of the
    whole reply where they are read.
    """

    def __init__(
        self, response: httpcore.Response, attempt: Attempt, config: ProviderConfig, kind: str
    ) -> None:
        """:param kind: the content type."""
        self._response = response
        self._attempt = attempt
        self._config = config
        self._in_lines = kind.startswith(("text/event-stream", "application/x-ndjson"))
        self._bytes = 0
        self._line_ended = monotonic()
        self._last = b""
        if (into := OPENED.get()) is not None:
            into.append(self)

    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._response.iter_stream():
                self._count(piece)
                yield piece
        except CONNECTION_ERRORS as exc:
            error = of_cut(exc, self._config)
            self._end(error.kind)
            raise error from exc
        except ProviderError as exc:
            self._end(exc.kind)
            raise
        self._end(None)

    def close(self) -> None:
        self._response.close()
        # One that was not read on was whole, or is not wanted any more.
        self._end(None if any(end in self._last for end in _ENDS) else "cancelled")

    def _count(self, piece: bytes) -> None:
        """:raises ProviderError: if the reply has or takes more than it may."""
        self._bytes += len(piece)
        self._last = (self._last + piece)[-_TAIL:]
        if self._bytes > self._config.reply_bytes:
            raise too_long(self._config, f"{self._config.reply_bytes:,} bytes")
        if b"\n" in piece:
            self._line_ended = monotonic()
        elif self._in_lines and monotonic() - self._line_ended > self._config.timeout_s:
            raise timed_out(self._config)

    def _end(self, error: str | None) -> None:
        self._attempt.end(status=200, bytes_in=self._bytes, error=error)


def _as_httpcore(request: httpx.Request) -> httpcore.Request:
    assert isinstance(request.stream, httpx.SyncByteStream)
    url = request.url
    return httpcore.Request(
        request.method,
        httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=request.stream,
        extensions=request.extensions,
    )


def _beginning(response: httpcore.Response) -> bytes:
    """What can be read of an error, as far as it is looked at."""
    body = b""
    with suppress(*CONNECTION_ERRORS):
        for piece in response.iter_stream():
            body += piece
            if len(body) > _ERROR_BYTES:
                break
    return body


def _retry_after(headers: httpx.Headers) -> float | None:
    """Seconds that a provider asks to wait; None if it asks for none that can be read."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with suppress(ValueError):
            return max(0.0, float(headers.get(name, "")) / unit)
    return None
