"""What every request to a provider passes: consent, the egress log, and whether to ask once more.

Touches: network (resolves names), index (the egress log).
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic, sleep
from typing import Any

import httpx
from tenacity import RetryCallState, retry_if_exception, stop_after_attempt

from notehop.config.errors import ProviderError
from notehop.indexing.llm.asked import Asked
from notehop.indexing.llm.consent import Hosts, refusal
from notehop.indexing.llm.egress import SENDING, WHAT_GOES, Sending
from notehop.indexing.llm.egress_log import Attempt, EgressLog
from notehop.indexing.llm.errors import compressed, of_status, of_transport
from notehop.indexing.llm.sockets import PATIENCE

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


class Gate:
    """What both transports share: who is asked, who may be, and what is written of it."""

    def __init__(self, asked: Asked, hosts: Hosts, log: EgressLog) -> None:
        self.asked = asked
        self.hosts = hosts
        self.log = log
        self.closing: list[Callable[[], None]] = []
        """Lets go of the connections that are kept."""
        self._told: set[tuple[str, str]] = set()

    def close(self) -> None:
        """Let go of the connections that block; those of an event loop end with it."""
        for closing in self.closing:
            closing()

    def passing(self, request: httpx.Request) -> Passing:
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
        return Passing(self, request, host, local, sending)

    def _remote(self, host: str, request: httpx.Request) -> bool:
        with suppress(ProviderError):
            return not self.hosts.local(host, _port(request.url))
        return True

    def _announce(self, host: str, what: str, sending: Sending | None) -> None:
        """Say once for each purpose who gets what: in the log of the program and in the reply."""
        purpose = sending.purpose if sending else "other"
        if (host, purpose) in self._told:
            return
        self._told.add((host, purpose))
        if self.log.knows(host, purpose):
            return
        text = (
            f"{host} ({self.asked.provider}, {self.asked.model}) now gets {what}, with this call "
            f"and with those to come{self._openly()}; this is said once (notehop status --egress "
            "lists them)"
        )
        _log.warning("%s", text)
        if sending is not None:
            sending.notice(text)

    def _openly(self) -> str:
        """That whoever is on the way can read it, where that is so."""
        if not self.asked.url.startswith("http:"):
            return ""
        key = ", and with them your key" if self.asked.key is not None else ""
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
        if self.asked.key is not None:
            key = self.asked.key.get_secret_value()
            if self.asked.provider == "anthropic":
                headers["x-api-key"] = key
            else:
                headers["authorization"] = f"Bearer {key}"
        return headers

    def _timeout(self) -> dict[str, float]:
        wait = self.asked.timeout_s
        return {"connect": self.asked.connect_timeout_s, "read": wait, "write": wait, "pool": wait}


class Passing:
    """One request on its way, with all its tries."""

    def __init__(
        self, gate: Gate, request: httpx.Request, host: str, local: bool, sending: Sending | None
    ) -> None:
        self.gate = gate
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
        return self.gate.log.begin(
            host=self._host,
            local=self._local,
            provider=self.gate.asked.provider,
            model=self.gate.asked.model,
            purpose=self.sending.purpose if self.sending else "other",
            notes=self.sending.notes if self.sending else (),
            bytes_out=int(length) if length.isdigit() else 0,
            attempt=self._tries,
        )

    def is_cancelled(self) -> bool:
        return bool(self.sending and self.sending.cancelled and self.sending.cancelled())

    def unsent(self, exc: httpx.TransportError, attempt: Attempt) -> Failed:
        """What became of a try without an answer."""
        error, again = of_transport(exc, self.gate.asked)
        attempt.end(error=error.kind)
        # A server of this machine that is not up now will not be in a second.
        down = self._local and isinstance(exc, httpx.ConnectError)
        return Failed(error, again and not down)

    def turned_down(self, response: httpx.Response, body: bytes, attempt: Attempt) -> Failed:
        """What became of a try that was answered with an error."""
        error, again = of_status(response.status_code, body, self.gate.asked, self.request.url.path)
        attempt.end(status=response.status_code, bytes_in=len(body), error=error.kind)
        after = _retry_after(response.headers)
        return Failed(error, again and (after is None or after <= LONGEST_PAUSE), after)

    def check_encoding(self, response: httpx.Response, attempt: Attempt) -> None:
        """See that a reply is not compressed.

        :raises Failed: if it is.
        """
        if encoding := encoding_of(response):
            error = compressed(self.gate.asked, encoding)
            attempt.end(status=response.status_code, error=error.kind)
            raise Failed(error, again=False)

    def retrying(self) -> dict[str, Any]:
        """How tries follow each other."""
        return {
            "stop": stop_after_attempt(self.gate.asked.retries + 1),
            "wait": partial(_pause, first=self.gate.asked.first_pause),
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
    said = response.headers.get("content-encoding", "").strip().lower()
    return None if said in ("", "identity") else said


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
