"""Serves one client over standard input and output, until it goes; whatever else is printed goes to
standard error.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable
from typing import TypeVar

import anyio
from mcp.server.context import CallNext, HandlerResult
from mcp.server.stdio import stdio_server

from notehop.app.mcp.server import Context, make_server
from notehop.app.services.vaults import Vaults

_log = logging.getLogger(__name__)

T = TypeVar("T")


def serve(vaults: Vaults, *, follow: bool) -> None:
    """Serve until the client closes its end, or SIGINT or SIGTERM; the process ends with it.

    :param follow: whether to keep the index up to the vault meanwhile.
    """
    code = 0
    try:
        for vault in vaults.values():
            vault.rest_when_idle(vault.place.settings.server.idle_minutes)
        anyio.run(_serve, vaults, follow)
    except* (BrokenPipeError, ConnectionResetError):
        pass  # the client went while it was written to
    except* BaseException as exc:  # noqa: BLE001 (the process ends in any case)
        _log.error("the client is served no more", exc_info=exc)
        code = 1
    # At once: nobody hears a reply. The follower ends as its standard input does.
    os._exit(code)


async def _serve(vaults: Vaults, follow: bool) -> None:
    turns = anyio.CapacityLimiter(max(2, os.cpu_count() or 1))

    async def run(work: Callable[[], T], *, slow: bool = False) -> T:  # noqa: ARG001
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=turns)

    server = make_server(vaults, run)
    followed = not follow

    async def follow_once(ctx: Context, call_next: CallNext) -> HandlerResult:
        """After the first request was answered: the client waits for nothing else."""
        nonlocal followed
        result = await call_next(ctx)
        if not followed:
            followed = True
            vaults.follow()
        return result

    server.middleware.append(follow_once)
    for number in (signal.SIGTERM, signal.SIGINT):
        # At once: the thread that waits for a line cannot be ended otherwise.
        signal.signal(number, lambda *_: os._exit(0))
    # A line that is no message is passed over.
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())
