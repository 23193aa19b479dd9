"""The one way by which anything goes to a provider: an httpx transport that every SDK is given.

For each request it asks whether the host may get text, writes the egress log before a byte is sent,
sends, sends again where that may help, and turns what goes wrong into a :class:`ProviderError`. An
answer that began is never asked for again. Redirects are not followed, and no proxy of the
environment is used: both would be other hosts than the one that was allowed.

Touches: network, index (the egress log).
"""

from __future__ import annotations

from contextlib import suppress

import httpcore
import httpx
from tenacity import Retrying

from notehop.config.errors import ProviderError
from notehop.indexing.llm.consent import Hosts
from notehop.indexing.llm.counted import Counted
from notehop.indexing.llm.gate import Failed, Gate, Passing, encoding_of
from notehop.indexing.llm.sockets import CheckedBackend

_ERROR_BYTES = 65_536
"""Bytes of an error that are read: it is looked at, not passed on whole."""


class Door(httpx.BaseTransport):
    """The transport of every client; what must not block calls it in a thread."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        gate.closing.append(self.close)
        asked = gate.asked
        self._wire = _Wire(gate.hosts, asked.url.startswith("https:"), asked.reply_s)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, perhaps more than once.

        :raises ProviderError: whatever goes wrong.
        """
        passing = self._gate.passing(request)
        try:
            for attempt in Retrying(sleep=passing.rest, **passing.retrying()):
                with attempt:
                    return self._once(passing)
        except Failed as failed:
            raise failed.error from failed.__cause__
        raise AssertionError("tries end with an answer or an error")

    def _once(self, passing: Passing) -> httpx.Response:
        attempt = passing.attempt()
        try:
            response = self._wire.handle_request(passing.request)
        except httpx.TransportError as exc:
            raise passing.unsent(exc, attempt) from exc
        except BaseException as exc:
            attempt.end(error=_kind(exc))
            raise
        if response.status_code < 300:
            assert isinstance(response.stream, httpx.SyncByteStream)
            try:
                passing.check_encoding(response, attempt)
            except Failed:
                response.close()
                raise
            stream = Counted(response.stream, attempt, self._gate.asked, _is_stream(response))
            return httpx.Response(
                response.status_code,
                headers=response.headers,
                stream=stream,
                extensions=response.extensions,
            )
        body = b""
        with suppress(httpx.TransportError):
            for piece in () if encoding_of(response) else response.iter_raw():
                body += piece
                if len(body) > _ERROR_BYTES:
                    break
        response.close()
        raise passing.turned_down(response, body, attempt)

    def close(self) -> None:
        """Close what is open."""
        self._wire.close()


class NoAsyncDoor(httpx.AsyncBaseTransport):
    """The transport of clients that an SDK wants and nobody asks: nothing goes around the door."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send nothing."""
        raise RuntimeError(f"{request.url.host}: asked around notehop's own asynchronous methods")


class _Wire(httpx.HTTPTransport):
    """httpx's own transport over connections that are looked at."""

    def __init__(self, hosts: Hosts, encrypted: bool, reply_s: float) -> None:
        # The base class is not initialised: it would make a pool that connects anywhere.
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context() if encrypted else None,
            network_backend=CheckedBackend(hosts, reply_s),
            keepalive_expiry=30.0,
        )


def _is_stream(response: httpx.Response) -> bool:
    kind: str = response.headers.get("content-type", "")
    return kind.startswith(("text/event-stream", "application/x-ndjson"))


def _kind(exc: BaseException) -> str:
    return exc.kind if isinstance(exc, ProviderError) else "cancelled"
