"""Marks requests of other machines, so that what goes wrong names no path of this one to them."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from notehop.app.api.middleware.hosts import from_here
from notehop.app.problems import elsewhere


class Whence:
    """Says in the context of a request where it comes from."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        mark = elsewhere.set(not from_here(scope))
        try:
            await self._app(scope, receive, send)
        finally:
            elsewhere.reset(mark)
