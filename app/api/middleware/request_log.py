"""Names every request, says so in its reply, and logs what became of it.

No line holds a question, a path of a note or a token: the log may be read by others.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from notehop.app.api.logs import request_id

_log = logging.getLogger("notehop.app.api.requests")

NAME = "X-Request-Id"

_GIVEN = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""An id that a client may give: nothing that could forge a line of the log."""

Observe = Callable[[str, str, int, float], None]
"""Hears of a route, a method, a status and the seconds it took."""


class RequestLog:
    """Gives each request an id, which is on its reply and on all that is logged for it."""

    def __init__(self, app: ASGIApp, *, observe: Observe | None = None) -> None:
        self._app = app
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and log what became of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(NAME, "")
        name = given if _GIVEN.fullmatch(given) else secrets.token_hex(8)
        mark = request_id.set(name)
        started = time.perf_counter()
        status = 0

        async def named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[NAME] = name
            await send(message)

        try:
            await self._app(scope, receive, named)
        finally:
            self._tell(scope, status, time.perf_counter() - started)
            request_id.reset(mark)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        route = str(getattr(scope.get("route"), "path", "none"))
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        if self._observe is not None:
            self._observe(route, method, status, seconds)
        fields = {"method": method, "route": route, "status": status, "ms": round(seconds * 1e3, 1)}
        _log.info("request", extra={"fields": fields})


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
