"""The one way by which anything goes to a provider: an httpx transport that every SDK is given.

For each request it asks whether the host may get text, writes the egress log before a byte is sent,
sends, sends again where that may help, and turns what goes wrong into a :class:`ProviderError`. An
answer that began is never asked for again. Redirects are not followed, and no proxy of the
environment is used: both would be other hosts than the one that was allowed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

import httpcore
import httpx

from notehop.config.errors import ProviderError
from notehop.indexing.llm.egress import (
    OPENED,
    SENDING,
    UNWANTED,
    WHAT_GOES,
    Attempt,
    EgressLog,
    Hosts,
    Sending,
    check_wanted,
    is_loopback,
    names_this_machine,
)
from notehop.indexing.llm.errors import (
    CONNECT_S,
    CONNECTION_ERRORS,
    OVERDUE,
    RetryableError,
    of_status,
    of_transport,
    too_long,
)
from notehop.indexing.llm.providers import ProviderConfig

_log = logging.getLogger(__name__)

PATIENCE = 0.1  # seconds between two looks at whether an answer is still waited for

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

_ERROR_BYTES = 65_536  # bytes of an error that are read: it is looked at, not passed on whole


class ProviderTransport(httpx.BaseTransport):
    """The transport of a provider's client; what must not block calls it in a thread."""

    def __init__(self, config: ProviderConfig, hosts: Hosts, log: EgressLog) -> None:
        """Connect to nothing yet."""
        self.config = config
        self._hosts = hosts
        self._egress = log
        self._announced: set[tuple[str, str]] = set()
        secure = config.url.startswith("https:")
        self._pool = connection_pool(secure=secure, reply_s=config.reply_s)

    def close(self) -> None:
        """Let go of the connections that are kept; another request makes new ones."""
        self._pool.close()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, perhaps more than once. Raises ProviderError: whatever goes wrong."""
        sending = SENDING.get() or Sending()
        host = request.url.raw_host.decode("ascii").rstrip(".")
        local = self._hosts.admit(host, WHAT_GOES[sending.purpose])
        if not local and (host, sending.purpose) not in self._announced:
            self._announced.add((host, sending.purpose))
            llm, keyed = self.config.llm, self.config.key is not None
            text = self._egress.announcement(
                host, sending.purpose, f"{llm.provider}, {llm.model}", self.config.url, "llm.base_url", keyed
            )
            if text is not None:
                _log.warning("%s", text)
                sending.notice(text)
        request.headers = self._headers(request.headers)
        length = request.headers.get("content-length", "0")
        tries = 0
        while True:
            check_wanted()
            tries += 1
            attempt = self._egress.begin(
                host=host,
                local=local,
                provider=self.config.llm.provider,
                model=self.config.llm.model,
                purpose=sending.purpose,
                notes=sending.notes,
                bytes_out=int(length) if length.isdigit() else 0,
                attempt=tries,
            )
            try:
                return self._send(request, attempt, local)
            except RetryableError as error:
                if tries > self.config.llm.retries or (error.after or 0) > LONGEST_PAUSE:
                    raise
                growing = self.config.first_pause * 2.0 ** (tries - 1)
                until = monotonic() + (error.after or growing)
            while (left := until - monotonic()) > 0:
                check_wanted()
                sleep(min(left, PATIENCE))

    def _headers(self, given: httpx.Headers) -> httpx.Headers:
        """The headers that are needed, and the key of this provider."""
        # Clients add others, from variables of the environment that were set for somebody else.
        headers = httpx.Headers([(name, given[name]) for name in _HEADERS if name in given])
        # Of what is compressed nobody knows how much it is before it is read.
        headers["accept-encoding"] = "identity"
        # Theirs would name the system and its versions.
        headers["user-agent"] = "notehop"
        if self.config.key is not None:
            key = self.config.key.get_secret_value()
            if self.config.llm.provider == "anthropic":
                headers["x-api-key"] = key
            else:
                headers["authorization"] = f"Bearer {key}"
        return headers

    def _send(self, request: httpx.Request, attempt: Attempt, local: bool) -> httpx.Response:
        """Try once. Raises ProviderError if there is no answer, its RetryableError if a try may help."""
        assert isinstance(request.stream, httpx.SyncByteStream)
        url, wait = request.url, self.config.llm.timeout_s
        times = {"connect": CONNECT_S, "read": wait, "write": wait, "pool": wait}
        asked = httpcore.Request(
            request.method,
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions={**request.extensions, "timeout": times},
        )
        try:
            response = self._pool.handle_request(asked)
        except CONNECTION_ERRORS as exc:
            error = of_transport(exc, self.config, local=local)
            attempt.end(error=error.kind)
            raise error from exc
        except BaseException as exc:
            attempt.end(error=exc.kind if isinstance(exc, ProviderError) else "cancelled")
            raise
        headers = httpx.Headers(response.headers)
        encoding = headers.get("content-encoding", "").strip().lower()
        plain = encoding in ("", "identity")
        if plain and response.status < 300:
            stream = ReplyStream(response, attempt, self.config, local=local)
            return httpx.Response(
                response.status, headers=headers, stream=stream, extensions=response.extensions
            )
        body = b""
        if plain:  # of one that is compressed nothing is read: few bytes may be many
            with suppress(*CONNECTION_ERRORS):
                for piece in response.iter_stream():
                    body += piece
                    if len(body) > _ERROR_BYTES:
                        break
        response.close()
        if response.status < 300:
            error = ProviderError(
                f"{self.config.where} sends its reply compressed ({encoding[:40]!r}), which is not "
                "read; have the server, or the proxy before it, send it plain",
                "server",
            )
        else:
            error = of_status(response.status, body, self.config, url.path)
        if isinstance(error, RetryableError):
            # Azure, and OpenAI in part, send the first alone.
            for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
                with suppress(ValueError):
                    error.after = max(0.0, float(headers.get(name, "")) / unit)
                    break
        attempt.end(status=response.status, bytes_in=len(body), error=error.kind)
        raise error


class ReplyStream(httpx.SyncByteStream):
    """An answer as it comes in, within its bytes; how it ended is written down. Its seconds are limited
    where they are read."""

    def __init__(
        self, response: httpcore.Response, attempt: Attempt, config: ProviderConfig, *, local: bool
    ) -> None:
        self._response = response
        self._attempt = attempt
        self._config = config
        self._local = local
        self._bytes = 0
        OPENED.set(self)

    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._response.iter_stream():
                self._bytes += len(piece)
                if self._bytes > self._config.reply_bytes:
                    raise too_long(self._config, f"{self._config.reply_bytes:,} bytes")
                yield piece
        except CONNECTION_ERRORS as exc:
            error = of_transport(exc, self._config, local=self._local)
            self._end(error.kind)
            raise error from exc
        except ProviderError as exc:
            self._end(exc.kind)
            raise

    def close(self) -> None:
        self._response.close()
        self._end()

    def _end(self, error: str | None = None) -> None:
        self._attempt.end(status=200, bytes_in=self._bytes, error=error)


def connection_pool(*, secure: bool, reply_s: float) -> httpcore.ConnectionPool:
    """Connections that are given up when nobody waits any more.

    :param secure: whether any is in TLS.
    :param reply_s: seconds that a reply may take from its request on.
    """
    return httpcore.ConnectionPool(
        ssl_context=httpx.create_ssl_context() if secure else None,
        network_backend=_Backend(reply_s),
        keepalive_expiry=30.0,
    )


class _Backend(httpcore.SyncBackend):
    """Connects to where it is told, and to this machine by no name: a name can be made to lead elsewhere."""

    def __init__(self, reply_s: float) -> None:
        self._reply_s = reply_s

    def connect_tcp(self, host: str, port: int, *args: Any, **options: Any) -> httpcore.NetworkStream:
        if names_this_machine(host) and not is_loopback(host):
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return self.connect_tcp("127.0.0.1", port, *args, **options)
            host = "::1"
        connected = super().connect_tcp(host, port, *args, **options)
        return _CancellableStream(connected, self._reply_s)


class _CancellableStream(httpcore.NetworkStream):
    """A connection whose reading ends soon after nobody waits for it any more, and after a time
    from the last request on, however little comes each time."""

    def __init__(self, inner: httpcore.NetworkStream, reply_s: float) -> None:
        self._inner = inner
        self._reply_s = reply_s
        self._sent_at = monotonic()

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        overdue = self._sent_at + self._reply_s
        until = overdue if timeout is None else min(overdue, monotonic() + timeout)
        while (left := until - monotonic()) > 0:
            check_wanted()
            if UNWANTED.get() is not None:
                left = min(left, PATIENCE)
            with suppress(httpcore.ReadTimeout):
                return self._inner.read(max_bytes, timeout=left)
        raise httpcore.ReadTimeout(OVERDUE if monotonic() >= overdue else "")

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._sent_at = monotonic()
        self._inner.write(buffer, timeout=timeout)

    def start_tls(self, *args: Any, **options: Any) -> httpcore.NetworkStream:
        """Go on in TLS; the certificate is checked for the name, whatever the address."""
        return _CancellableStream(self._inner.start_tls(*args, **options), self._reply_s)

    def close(self) -> None:
        self._inner.close()

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
