"""Connections to providers: only to addresses that may be reached, given up when nobody waits any more.

That a name leads to this machine is looked at here, for the very address that is connected to: what
a name led to a moment before says nothing.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from contextlib import suppress
from time import monotonic
from typing import Any

import httpcore

from notehop.config.errors import ProviderError
from notehop.indexing.llm.consent import Hosts
from notehop.indexing.llm.egress import SENDING, UNWANTED

PATIENCE = 0.1
"""Seconds between two looks at whether an answer is still waited for."""

OVERDUE = "the reply takes too long"
"""What a time-out says if the server did not keep silent, but does not come to an end."""


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
        failed: Exception | None = None
        for address in self._addresses(host, port):
            try:
                connected = self._inner.connect_tcp(
                    address,
                    port,
                    timeout=timeout,
                    local_address=local_address,
                    socket_options=socket_options,
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as exc:
                failed = exc
            else:
                return CancellableStream(connected, self._reply_s)
        assert failed is not None, "a host has addresses"
        raise failed

    def _addresses(self, host: str, port: int) -> list[str]:
        """What to connect to.

        :raises ProviderError: ``consent``, if the user did not name the host and it is not here.
        """
        if self._hosts.allows(host):
            return self._hosts.addresses(host, port)
        if found := self._hosts.local(host, port):
            return found
        raise ProviderError(
            f"{host} does not lead to this machine any more; nothing was sent", "consent"
        )


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
        secured = self._inner.start_tls(
            ssl_context, server_hostname=server_hostname, timeout=timeout
        )
        return CancellableStream(secured, self._reply_s)

    def get_extra_info(self, info: str) -> Any:
        """What the connection knows of itself."""
        return self._inner.get_extra_info(info)
