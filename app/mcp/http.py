"""The protocol over streamable HTTP, as a part of a server that has the vault already.

Whose requests are let in is decided before they come here: the guards of the server know its names,
origins and token. The SDK's own look at ``Host`` and ``Origin`` knows less and is left off.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi import APIRouter
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from notehop.app.problems import http_problem
from notehop.app.services.vaults import NAMED

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

    :param vaults: by name, the default first. A request that is for one of them has that alone.
    :param closing: set when the server goes; open streams end then.
    """

    def __init__(self, vaults: Mapping[str, Access], closing: asyncio.Event) -> None:
        self._vaults = vaults
        self._closing = closing
        self._starting = asyncio.Lock()
        self._managers: dict[str | None, StreamableHTTPSessionManager] = {}
        self._running: list[asyncio.Task[None]] = []
        # An instance, not a function: the router hands it every method as it comes.
        self.router = APIRouter(routes=[Route(PATH, endpoint=self)], lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, _: object) -> AsyncIterator[None]:
        """End all sessions with the server."""
        try:
            yield
        finally:
            self._closing.set()
            for running in self._running:
                with suppress(asyncio.CancelledError):
                    await running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        manager = await self._started(scope.get(NAMED))
        if self._closing.is_set():
            told = "the server is being stopped; ask again when it is back"
            problem = http_problem(HTTPStatus.SERVICE_UNAVAILABLE, told, kind="stopping")
            body = problem.model_dump(exclude_none=True)
            refusal = JSONResponse(body, problem.status, media_type="application/problem+json")
            await refusal(scope, receive, send)
            return
        await manager.handle_request(scope, receive, send)

    async def _started(self, name: str | None) -> StreamableHTTPSessionManager:
        async with self._starting:
            if name not in self._managers:
                manager = await asyncio.to_thread(self._made, name)
                ready = asyncio.Event()
                running = asyncio.create_task(self._run(manager, ready))
                begun = asyncio.create_task(ready.wait())
                await asyncio.wait({begun, running}, return_when=asyncio.FIRST_COMPLETED)
                if not ready.is_set():
                    begun.cancel()
                    await running  # raises why; the next request tries again
                self._managers[name] = manager
                self._running.append(running)
            return self._managers[name]

    def _made(self, name: str | None) -> StreamableHTTPSessionManager:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from notehop.app.mcp.server import make_server

        server = make_server(self._vaults if name is None else {name: self._vaults[name]})
        return StreamableHTTPSessionManager(
            server, session_idle_timeout=IDLE, max_sessions=SESSIONS
        )

    async def _run(self, manager: StreamableHTTPSessionManager, ready: asyncio.Event) -> None:
        async with manager.run():
            ready.set()
            await self._closing.wait()
