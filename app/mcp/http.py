"""The protocol over streamable HTTP, as a part of a server that has the vault already.

Whose requests are let in is decided before they come here: the guards of the server know its names,
origins and token. The SDK's own look at ``Host`` and ``Origin`` knows less and is left off.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from notehop.app.problems import http_problem

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from notehop.app.mcp.tools import Access

PATH = "/mcp"

SESSIONS = 200
"""Sessions that are open at once: each holds a task, and an agent needs one."""

IDLE = 30 * 60.0
"""Seconds after which a session without a request is closed; its client begins another."""


class HttpTransport:
    """Serves agents at :data:`PATH` while its router is served.

    The SDK is loaded with the first request: most servers never see an agent.

    :param name: of the vault.
    :param closing: set when the server goes; open streams end then.
    """

    def __init__(self, access: Access, name: str, closing: asyncio.Event) -> None:
        self._access = access
        self._name = name
        self._closing = closing
        self._starting = asyncio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None
        self._running: asyncio.Task[None] | None = None
        # An instance, not a function: the router hands it every method as it comes.
        self.router = APIRouter(routes=[Route(PATH, endpoint=self)], lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, _: object) -> AsyncIterator[None]:
        """End all sessions with the server."""
        try:
            yield
        finally:
            self._closing.set()
            if self._running is not None:
                with suppress(asyncio.CancelledError):
                    await self._running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        manager = await self._started()
        if self._closing.is_set():
            told = "the server is being stopped; ask again when it is back"
            problem = http_problem(HTTPStatus.SERVICE_UNAVAILABLE, told, kind="stopping")
            body = problem.model_dump(exclude_none=True)
            refusal = JSONResponse(body, problem.status, media_type="application/problem+json")
            await refusal(scope, receive, send)
            return
        await manager.handle_request(scope, receive, send)

    async def _started(self) -> StreamableHTTPSessionManager:
        async with self._starting:
            if self._manager is None:
                manager = await asyncio.to_thread(self._made)
                ready = asyncio.Event()
                running = asyncio.create_task(self._run(manager, ready))
                begun = asyncio.create_task(ready.wait())
                await asyncio.wait({begun, running}, return_when=asyncio.FIRST_COMPLETED)
                if not ready.is_set():
                    begun.cancel()
                    await running  # raises why; the next request tries again
                self._manager, self._running = manager, running
            return self._manager

    def _made(self) -> StreamableHTTPSessionManager:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from notehop.app.mcp.server import make_server

        server = make_server(self._access, self._name)
        return StreamableHTTPSessionManager(
            server, session_idle_timeout=IDLE, max_sessions=SESSIONS
        )

    async def _run(self, manager: StreamableHTTPSessionManager, ready: asyncio.Event) -> None:
        async with manager.run():
            ready.set()
            await self._closing.wait()
