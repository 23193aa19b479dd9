"""The one way by which anything goes to a provider: an httpx transport that every SDK is given.

For each request it asks whether the host may get text, writes the egress log before a byte is sent,
sends, sends again where that may help, and turns what goes wrong into a :class:`ProviderError`. An
answer that began is never asked for again. Redirects are not followed, and no proxy of the
environment is used: both would be other hosts than the one that was allowed.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic, sleep
from typing import Any

import httpcore
import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from notehop.config.errors import ProviderError
from notehop.indexing.llm.connections import PATIENCE, CheckedBackend, Counted
from notehop.indexing.llm.consent import Hosts, refusal
from notehop.indexing.llm.egress import SENDING, WHAT_GOES, Attempt, EgressLog, Sending
from notehop.indexing.llm.errors import compressed, of_status, of_transport
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


class Failed(Exception):
    """One try that failed; ``again`` is whether another may not, ``after`` when, in seconds."""

    def __init__(self, error: ProviderError, again: bool, after: float | None = None) -> None:
        super().__init__(str(error))
        self.error = error
        self.again = again
        self.after = after


class EgressPolicy:
    """What both transports share: who is asked, who may be, and what is written of it."""

    def __init__(self, config: ProviderConfig, hosts: Hosts, log: EgressLog) -> None:
        self.config = config
        self.hosts = hosts
        self.log = log
        self.closing: list[Callable[[], None]] = []
        """Lets go of the connections that are kept."""
        self._announced: set[tuple[str, str]] = set()

    def close(self) -> None:
        """Let go of the connections that block; those of an event loop end with it."""
        for closing in self.closing:
            closing()

    def admit(self, request: httpx.Request) -> OutgoingRequest:
        """Let a request through.

        :raises ProviderError: ``consent``, if its host may get nothing.
        """
        request.extensions = {**request.extensions, "timeout": self._timeout()}
        request.headers = self._headers(request.headers)
        sending = SENDING.get()
        host = request.url.raw_host.decode("ascii").rstrip(".")
        what = WHAT_GOES[sending.purpose] if sending else "text of your notes"
        if self.hosts.allows(host):
            local = not self._remote(host, request)
        else:
            local = bool(self.hosts.local(host, _port(request.url)))
            if not local:
                raise refusal(host, what)
        if not local:
            self._announce(host, what, sending)
        return OutgoingRequest(self, request, host, local, sending)

    def _remote(self, host: str, request: httpx.Request) -> bool:
        with suppress(ProviderError):
            return not self.hosts.local(host, _port(request.url))
        return True

    def _announce(self, host: str, what: str, sending: Sending | None) -> None:
        """Say once for each purpose who gets what: in the log of the program and in the reply."""
        purpose = sending.purpose if sending else "other"
        if (host, purpose) in self._announced:
            return
        self._announced.add((host, purpose))
        if self.log.knows(host, purpose):
            return
        text = (
            f"{host} ({self.config.provider}, {self.config.model}) now gets {what}, with this call "
            f"and with those to come{self._openly()}; this is said once (notehop status --egress "
            "lists them)"
        )
        _log.warning("%s", text)
        if sending is not None:
            sending.notice(text)

    def _openly(self) -> str:
        """That whoever is on the way can read it, where that is so."""
        if not self.config.url.startswith("http:"):
            return ""
        key = ", and with them your key" if self.config.key is not None else ""
        return (
            f". They go over plain http: whoever is on the way can read them{key}. Write https:// "
            "in llm.base_url if it can be asked so"
        )

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

    def _timeout(self) -> dict[str, float]:
        wait = self.config.timeout_s
        return {"connect": self.config.connect_timeout_s, "read": wait, "write": wait, "pool": wait}


class OutgoingRequest:
    """One request on its way, with all its tries."""

    def __init__(
        self,
        policy: EgressPolicy,
        request: httpx.Request,
        host: str,
        local: bool,
        sending: Sending | None,
    ) -> None:
        self.policy = policy
        self.request = request
        self.sending = sending
        self._host = host
        self._local = local
        self._tries = 0

    def attempt(self) -> Attempt:
        """Write down that the request is sent now.

        :raises ProviderError: if it goes to another machine and that cannot be written.
        """
        if self.is_cancelled():
            raise ProviderError("the answer is not waited for any more", "cancelled")
        self._tries += 1
        length = self.request.headers.get("content-length", "0")
        return self.policy.log.begin(
            host=self._host,
            local=self._local,
            provider=self.policy.config.provider,
            model=self.policy.config.model,
            purpose=self.sending.purpose if self.sending else "other",
            notes=self.sending.notes if self.sending else (),
            bytes_out=int(length) if length.isdigit() else 0,
            attempt=self._tries,
        )

    def is_cancelled(self) -> bool:
        return bool(self.sending and self.sending.cancelled and self.sending.cancelled())

    def unsent(self, exc: httpx.TransportError, attempt: Attempt) -> Failed:
        """What became of a try without an answer."""
        error, again = of_transport(exc, self.policy.config)
        attempt.end(error=error.kind)
        # A server of this machine that is not up now will not be in a second.
        down = self._local and isinstance(exc, httpx.ConnectError)
        return Failed(error, again and not down)

    def turned_down(self, response: httpx.Response, body: bytes, attempt: Attempt) -> Failed:
        """What became of a try that was answered with an error."""
        error, again = of_status(
            response.status_code, body, self.policy.config, self.request.url.path
        )
        attempt.end(status=response.status_code, bytes_in=len(body), error=error.kind)
        after = _retry_after(response.headers)
        return Failed(error, again and (after is None or after <= LONGEST_PAUSE), after)

    def check_encoding(self, response: httpx.Response, attempt: Attempt) -> None:
        """See that a reply is not compressed.

        :raises Failed: if it is.
        """
        if encoding := encoding_of(response):
            error = compressed(self.policy.config, encoding)
            attempt.end(status=response.status_code, error=error.kind)
            raise Failed(error, again=False)

    def retrying(self) -> dict[str, Any]:
        """How tries follow each other."""
        return {
            "stop": stop_after_attempt(self.policy.config.retries + 1),
            "wait": partial(_pause, first=self.policy.config.first_pause),
            "retry": retry_if_exception(lambda exc: isinstance(exc, Failed) and exc.again),
            "reraise": True,
        }

    def rest(self, seconds: float) -> None:
        """Wait before the next try, unless nobody waits for it any more."""
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0 and not self.is_cancelled():
            sleep(min(left, PATIENCE))


def encoding_of(response: httpx.Response) -> str | None:
    """How a reply is compressed, if it is."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    return None if encoding in ("", "identity") else encoding


def _pause(state: RetryCallState, first: float) -> float:
    """Seconds until the next try: what the provider asks for, else growing; and some by chance."""
    failed = state.outcome.exception() if state.outcome else None
    if isinstance(failed, Failed) and failed.after:
        return failed.after + random.uniform(0, failed.after / 2)
    growing = min(first * 2.0 ** (state.attempt_number - 1), LONGEST_PAUSE / 2)
    return growing + random.uniform(0, growing)


def _retry_after(headers: httpx.Headers) -> float | None:
    """Seconds that a provider asks to wait; None if it asks for none that can be read."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with suppress(ValueError):
            return max(0.0, float(headers.get(name, "")) / unit)
    return None


def _port(url: httpx.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


_ERROR_BYTES = 65_536
"""Bytes of an error that are read: it is looked at, not passed on whole."""


class ProviderTransport(httpx.BaseTransport):
    """The transport of every client; what must not block calls it in a thread."""

    def __init__(self, policy: EgressPolicy) -> None:
        self._policy = policy
        policy.closing.append(self.close)
        config = policy.config
        self._wire = _Wire(policy.hosts, config.url.startswith("https:"), config.reply_s)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, perhaps more than once.

        :raises ProviderError: whatever goes wrong.
        """
        outgoing = self._policy.admit(request)
        try:
            for attempt in Retrying(sleep=outgoing.rest, **outgoing.retrying()):
                with attempt:
                    return self._once(outgoing)
        except Failed as failed:
            raise failed.error from failed.__cause__
        raise AssertionError("tries end with an answer or an error")

    def _once(self, outgoing: OutgoingRequest) -> httpx.Response:
        attempt = outgoing.attempt()
        try:
            response = self._wire.handle_request(outgoing.request)
        except httpx.TransportError as exc:
            raise outgoing.unsent(exc, attempt) from exc
        except BaseException as exc:
            attempt.end(error=_kind(exc))
            raise
        if response.status_code < 300:
            assert isinstance(response.stream, httpx.SyncByteStream)
            try:
                outgoing.check_encoding(response, attempt)
            except Failed:
                response.close()
                raise
            stream = Counted(response.stream, attempt, self._policy.config, _is_stream(response))
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
        raise outgoing.turned_down(response, body, attempt)

    def close(self) -> None:
        """Close what is open."""
        self._wire.close()


class NoAsyncTransport(httpx.AsyncBaseTransport):
    """The transport of clients that an SDK wants and nobody asks: nothing goes around it."""

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
