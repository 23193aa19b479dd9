"""Holds back addresses that ask too often, so that one client leaves the others their share.

This machine is never held back: its programs belong to the user, and the number of requests that
run at once is bounded in any case. What a proxy on it hands on is of others.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from http import HTTPStatus

from starlette.types import ASGIApp, Receive, Scope, Send

from notehop.app.api.middleware.hosts import forwarded, from_here, is_address, is_loopback
from notehop.app.api.problem_response import ProblemResponse, respond
from notehop.app.problems import http_problem

REMEMBERED = 10_000
"""Addresses that are counted at most; the one that was silent for longest is forgotten first."""

BURST = 10.0
"""Seconds' worth of requests that may come at once."""


class Buckets:
    """A bucket for each client, filled at a steady rate.

    :param per_minute: how often a client may on average, over 0.
    :param burst: how often at once.
    :param clock: seconds.
    """

    def __init__(
        self, per_minute: float, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = per_minute / 60
        self._most = max(1.0, burst)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, *, count: bool = True) -> float:
        """Whole seconds until a client may go on; 0 lets it.

        :param count: whether its going on is counted.
        """
        now = self._clock()
        left, since = self._buckets.get(client, (self._most, now))
        left = min(self._most, left + (now - since) * self._rate)
        let_in = left >= 1
        if count:
            self._buckets[client] = (left - let_in, now)
            self._buckets.move_to_end(client)
            if len(self._buckets) > REMEMBERED:
                self._buckets.popitem(last=False)
        return 0.0 if let_in else math.ceil((1 - left) / self._rate)

    def __len__(self) -> int:
        """How many clients are remembered."""
        return len(self._buckets)


class RateLimit:
    """Lets clients of other machines ask so often, and no more.

    :param per_minute: requests a minute on average; 0 holds nobody back.
    """

    def __init__(self, app: ASGIApp, *, per_minute: int) -> None:
        self._app = app
        self._per_minute = per_minute
        self._buckets = Buckets(per_minute, per_minute / 60 * BURST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        wait = 0.0
        if scope["type"] == "http" and self._per_minute and not from_here(scope):
            wait = self._buckets.wait(client_of(scope))
        if not wait:
            await self._app(scope, receive, send)
            return
        await too_often(f"more than {self._per_minute} requests a minute", wait)(
            scope, receive, send
        )


def too_often(what: str, wait: float) -> ProblemResponse:
    """The refusal of a client that has to wait so many seconds."""
    detail = f"{what}; ask again in {wait:.0f} s"
    return respond(
        http_problem(HTTPStatus.TOO_MANY_REQUESTS, detail), {"Retry-After": f"{wait:.0f}"}
    )


def client_of(scope: Scope) -> str:
    """Who asks, as far as it can be told: an address or a network, and whether by a proxy there.

    A proxy on this machine is believed the address that it adds last.
    """
    client = scope.get("client")
    address = str(client[0]) if client else ""
    if from_here(scope) or not forwarded(scope):
        return _network(address)
    said = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    last = said[-1].decode("latin-1").rpartition(",")[2].strip() if said else ""
    if is_loopback(address) and is_address(last):
        return f"by proxy {_network(last)}"
    return f"by proxy {_network(address)}"


def _network(client: str) -> str:
    """What one client has: an address, and of version 6 the whole network that it is given."""
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client
    if address.version == 4:
        return client
    return str(ipaddress.ip_network((int(address) >> 64 << 64, 64)))
