"""Turns an error that nobody foresaw into a problem, inside of what every reply must have."""

from __future__ import annotations

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from notehop.app.api.problem_response import respond
from notehop.app.problems import problem

_log = logging.getLogger(__name__)


class Unexpected:
    """Replies 500 and logs why; a reply that has begun can only be broken off."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as exc:
            if scope["type"] != "http" or begun:
                raise
            # By its route: the path of a note says what it is about.
            route = getattr(scope.get("route"), "path", "a route")
            _log.error("%s %s failed", scope["method"], route, exc_info=exc)
            await respond(problem(exc))(scope, receive, watched)
