"""Holds back addresses that ask too often, so that one client leaves the others their share.

This machine is never held back: its programs belong to the user, and the number of requests that
run at once is bounded in any case.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from http import HTTPStatus

from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.middleware.hosts import from_here
from app.api.problem_response import respond
from app.problems import http_problem

REMEMBERED = 10_000
"""Addresses that are counted at most; the one that was silent for longest is forgotten first."""

BURST = 10.0
"""Seconds' worth of requests that may come at once."""


class RateLimit:
    """A bucket of requests for each address, filled at a steady rate.

    :param per_minute: requests a minute on average; 0 holds nobody back.
    :param clock: seconds.
    """

    def __init__(
        self, app: ASGIApp, *, per_minute: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._app = app
        self._rate = per_minute / 60
        self._most = max(1.0, self._rate * BURST)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        wait = 0.0
        if scope["type"] == "http" and self._rate and not from_here(scope):
            wait = self.wait(_network(str(scope["client"][0])))
        if not wait:
            await self._app(scope, receive, send)
            return
        detail = f"more than {self._rate * 60:g} requests a minute; ask again in {wait:.0f} s"
        refusal = respond(
            http_problem(HTTPStatus.TOO_MANY_REQUESTS, detail), {"Retry-After": f"{wait:.0f}"}
        )
        await refusal(scope, receive, send)

    def wait(self, client: str) -> float:
        """Whole seconds until a client may ask again; 0 lets it in, and counts it."""
        now = self._clock()
        left, since = self._buckets.pop(client, (self._most, now))
        left = min(self._most, left + (now - since) * self._rate)
        let_in = left >= 1
        self._buckets[client] = (left - let_in, now)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        return 0.0 if let_in else math.ceil((1 - left) / self._rate)


def _network(client: str) -> str:
    """What one client has: an address, and of version 6 the whole network that it is given."""
    try:
        address = ipaddress.ip_address(client)
    except ValueError:
        return client
    if address.version == 4:
        return client
    return str(ipaddress.ip_network((int(address) >> 64 << 64, 64)))
