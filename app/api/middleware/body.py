"""Refuses bodies that are too long or come too slowly, before all of them is read."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from notehop.app.api.problem_response import ProblemResponse, respond
from notehop.app.problems import http_problem

MAX_BODY = 4_000_000
"""Bytes a request may have: the longest text that may be captured, of any script."""

PATIENCE = 20.0
"""Seconds for the whole of it, on a local network or the same machine."""


class BodyLimit:
    """Reads bodies of up to ``most`` bytes within ``seconds``, and refuses others."""

    def __init__(self, app: ASGIApp, *, most: int = MAX_BODY, seconds: float = PATIENCE) -> None:
        self._app = app
        self._most = most
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body up to the limit, then pass the request on with it, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._seconds):
                body = await self._read(scope, receive)
        except TimeoutError:
            detail = f"the body did not come within {self._seconds:g} s; send it at once"
            refusal = respond(http_problem(HTTPStatus.REQUEST_TIMEOUT, detail))
            refusal.headers["connection"] = "close"
            await refusal(scope, receive, send)
            return
        if isinstance(body, ProblemResponse):
            await body(scope, receive, send)
            return
        if body is None:
            return
        sent = False

        async def replay() -> Message:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, replay, send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | ProblemResponse | None:
        """The body; a refusal if it is too long, None if the client left."""
        if self._declared(scope) > self._most:
            return self._too_long()
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._most:
                return self._too_long()
        return bytes(body)

    def _declared(self, scope: Scope) -> int:
        said = [value for name, value in scope["headers"] if name == b"content-length"]
        return int(said[0]) if said and said[0].isdigit() and len(said[0]) < 20 else 0

    def _too_long(self) -> ProblemResponse:
        detail = f"the body has more than {self._most:,} bytes; send less"
        return respond(http_problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail))
