"""Connections to providers: only to addresses that may be reached, given up when asked; replies on them
are counted, and how they ended is written down.

That a name leads to this machine is looked at here, for the very address that is connected to: what
a name led to a moment before says nothing.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from time import monotonic
from typing import Any, TypeVar

import httpcore
import httpx

from notehop.config.errors import ProviderError
from notehop.indexing.llm.consent import Hosts
from notehop.indexing.llm.egress import OPENED, SENDING, UNWANTED, Attempt
from notehop.indexing.llm.errors import CONNECTION_ERRORS, OVERDUE, of_cut, timed_out, too_long
from notehop.indexing.llm.providers import ProviderConfig

Connection = TypeVar("Connection")

PATIENCE = 0.1
"""Seconds between two looks at whether an answer is still waited for."""


class CheckedBackend(httpcore.NetworkBackend):
    """Connects to hosts that are allowed, and else to loopback addresses alone."""

    def __init__(self, hosts: Hosts, reply_s: float) -> None:
        """:param reply_s: seconds that a reply may take from its request on."""
        self._hosts = hosts
        self._reply_s = reply_s
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address that answers."""

        def connect(address: str) -> httpcore.NetworkStream:
            return self._inner.connect_tcp(
                address,
                port,
                timeout=timeout,
                local_address=local_address,
                socket_options=socket_options,
            )

        connected = _first(_addresses(self._hosts, host, port), connect)
        return CancellableStream(connected, self._reply_s)


class CancellableStream(httpcore.NetworkStream):
    """A connection whose reading ends soon after nobody waits for it any more, and after a time
    from the last request on, however little comes each time."""

    def __init__(self, inner: httpcore.NetworkStream, reply_s: float) -> None:
        self._inner = inner
        self._reply_s = reply_s
        self._sent_at = monotonic()

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what there is.

        :raises httpcore.ReadTimeout: if nothing comes in time, or the reply takes too long.
        :raises ProviderError: ``cancelled``.
        """
        overdue = self._sent_at + self._reply_s
        until = overdue if timeout is None else min(overdue, monotonic() + timeout)
        sending = SENDING.get()
        cancelled = UNWANTED.get() if sending is None else sending.cancelled
        while (left := until - monotonic()) > 0:
            if cancelled is not None:
                if cancelled():
                    raise ProviderError("the answer is not waited for any more", "cancelled")
                left = min(left, PATIENCE)
            with suppress(httpcore.ReadTimeout):
                return self._inner.read(max_bytes, timeout=left)
        raise httpcore.ReadTimeout(OVERDUE if monotonic() >= overdue else "")

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write all of it."""
        self._sent_at = monotonic()
        self._inner.write(buffer, timeout=timeout)

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """Go on in TLS; the certificate is checked for the name, whatever the address."""
        return CancellableStream(
            self._inner.start_tls(ssl_context, server_hostname=server_hostname, timeout=timeout),
            self._reply_s,
        )

    def get_extra_info(self, info: str) -> Any:
        """What the connection knows of itself."""
        return self._inner.get_extra_info(info)


def _addresses(hosts: Hosts, host: str, port: int) -> list[str]:
    """What to connect to.

    :raises ProviderError: ``consent``, if the user did not name the host and it is not here.
    """
    if hosts.allows(host):
        return hosts.addresses(host, port)
    if found := hosts.local(host, port):
        return found
    raise ProviderError(
        f"{host} does not lead to this machine any more; nothing was sent", "consent"
    )


def _first(addresses: list[str], connect: Callable[[str], Connection]) -> Connection:
    for place, address in enumerate(addresses, start=1):
        try:
            return connect(address)
        except (httpcore.ConnectError, httpcore.ConnectTimeout):
            if place == len(addresses):
                raise
    raise AssertionError("a host has addresses")


_ENDS = (b"[DONE]", b"message_stop")
"""What a stream says last: its client does not read on to the end of the connection."""

_TAIL = 64


class _Limits:
    """What a reply may have: bytes, seconds, and of a stream, seconds until the next whole line."""

    def __init__(self, config: ProviderConfig, in_lines: bool) -> None:
        self.bytes = 0
        self._config = config
        self._in_lines = in_lines
        self._begun = self._line_ended = monotonic()

    def take(self, piece: bytes) -> None:
        """Count a piece that came in.

        :raises ProviderError: if the reply has or takes more than it may.
        """
        now = monotonic()
        self.bytes += len(piece)
        if self.bytes > self._config.reply_bytes:
            raise too_long(self._config, f"{self._config.reply_bytes:,} bytes")
        if now - self._begun > self._config.reply_s:
            raise too_long(self._config, f"{self._config.reply_s:g} s")
        if b"\n" in piece:
            self._line_ended = now
        elif self._in_lines and now - self._line_ended > self._config.timeout_s:
            raise timed_out(self._config)


class Counted(httpx.SyncByteStream):
    """An answer as it comes in; what breaks it off is told in our words."""

    def __init__(
        self,
        response: httpcore.Response,
        attempt: Attempt,
        config: ProviderConfig,
        in_lines: bool = False,
    ) -> None:
        """:param in_lines: whether it is a stream of events, each of which ends with its line."""
        self._response = response
        self._attempt = attempt
        self._config = config
        self._limits = _Limits(config, in_lines)
        self._last = b""
        if (into := OPENED.get()) is not None:
            into.append(self)

    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._response.iter_stream():
                self._limits.take(piece)
                self._last = (self._last + piece)[-_TAIL:]
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

    def _end(self, error: str | None) -> None:
        self._attempt.end(status=200, bytes_in=self._limits.bytes, error=error)
