"""The protocol over streamable HTTP, as a part of a server that has the vault already, and whose guards
let in what comes here: the SDK's own look at ``Host`` and ``Origin`` knows less and is left off.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup, TaskStatus
from fastapi import APIRouter
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from notehop.app.services.vaults import NAMED, LazyVault
from notehop.config.errors import ServerStopping

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from notehop.app.mcp.server import Run

_log = logging.getLogger(__name__)

PATH = "/mcp"

SESSIONS = 200  # sessions that are open at once: each holds a task, and an agent needs one
IDLE = 30 * 60.0  # seconds without a request after which one is closed; its client begins another


class HttpTransport:
    """Serves agents at :data:`PATH` while its router is served.

    The SDK is loaded with the first request: most servers never see an agent.

    :param vaults: by name, the default first. A request that is for one of them has that alone.
    :param closing: set when the server goes; open streams end then.
    """

    def __init__(self, vaults: Mapping[str, LazyVault], run: Run, closing: asyncio.Event) -> None:
        self._vaults = vaults
        self._thread = run
        self._closing = closing
        self._starting = asyncio.Lock()
        self._managers: dict[str | None, StreamableHTTPSessionManager] = {}
        self._tasks: TaskGroup
        # An instance, not a function: the router hands it every method as it comes.
        self.router = APIRouter(routes=[Route(PATH, endpoint=self)], lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, _: object) -> AsyncIterator[None]:
        """End all sessions with the server."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._closing.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._closing.is_set():
            raise ServerStopping("the server is being stopped; ask again when it is back")
        name = scope.get(NAMED)
        async with self._starting:
            if name not in self._managers:
                manager = await asyncio.to_thread(self._made, name)
                await self._tasks.start(self._run, manager)
                self._managers[name] = manager
        await self._managers[name].handle_request(scope, receive, send)

    def _made(self, name: str | None) -> StreamableHTTPSessionManager:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from notehop.app.mcp.server import make_server

        vaults = self._vaults if name is None else {name: self._vaults[name]}
        return StreamableHTTPSessionManager(
            make_server(vaults, self._thread), session_idle_timeout=IDLE, max_sessions=SESSIONS
        )

    async def _run(self, manager: StreamableHTTPSessionManager, *, task_status: TaskStatus[None]) -> None:
        started = False
        try:
            async with manager.run():
                started = True
                task_status.started()
                await self._closing.wait()
        except Exception:
            if not started:
                raise
            # One vault's sessions end: the others', and the server, go on.
            _log.exception("the sessions of an MCP server ended")
            self._managers = {name: one for name, one in self._managers.items() if one != manager}
