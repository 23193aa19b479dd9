"""Serves one client over standard input and output, until it goes.

Touches: index and models, through the vault it opens; processes (the follower); terminal.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware

from notehop.app.mcp.descriptors import Wire
from notehop.app.mcp.server import Context, make_server
from notehop.app.mcp.transport import connected
from notehop.app.models import Captured, CaptureQuery
from notehop.app.services.open_vault import LazyVault
from notehop.config.errors import IndexFailure

_log = logging.getLogger(__name__)

T = TypeVar("T")

ENDING = 2.0
"""Seconds that ending may take, whatever hangs: clients wait as long before they kill."""


def serve(vault: LazyVault, wire: Wire, *, follow: bool) -> None:
    """Serve until the client closes its end, or SIGINT or SIGTERM; the process ends with it.

    :param follow: whether to keep the index up to the vault meanwhile.
    """
    code = 0
    try:
        anyio.run(_serve, vault, wire, follow)
    except BaseException as exc:  # noqa: BLE001 (the process ends in any case)
        if not _is_gone(exc):
            _log.error("the client is served no more", exc_info=exc)
            code = 1
    _end(vault, code)


async def _serve(vault: LazyVault, wire: Wire, follow: bool) -> None:
    server = make_server(_Own(vault), vault.place.name)
    if follow:
        server.middleware.append(_once_answered(vault.follow))
    with anyio.CancelScope() as scope:
        _stop_by_signals(scope, vault)
        async with connected(wire) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())


class _Own:
    """The vault of this process alone."""

    def __init__(self, vault: LazyVault) -> None:
        self._vault = vault
        self._turns = anyio.CapacityLimiter(max(2, os.cpu_count() or 1))
        self.open = vault.open

    @property
    def opened(self) -> bool:
        return self._vault.opened

    def capture(self, query: CaptureQuery) -> Captured:
        try:
            return self._vault.open().capture(query)
        except IndexFailure:
            from notehop.app.services.capture import capture_cold

            return capture_cold(self._vault.place, query)

    async def run(self, work: Callable[[], T], *, slow: bool = False) -> T:  # noqa: ARG002
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._turns)


def _once_answered(begin: Callable[[], None]) -> ServerMiddleware[Any]:
    """Begin something after the first request was answered: the client waits for nothing else."""
    begun = False

    async def middleware(ctx: Context, call_next: CallNext) -> HandlerResult:
        nonlocal begun
        result = await call_next(ctx)
        if not begun:
            begun = True
            begin()
        return result

    return middleware


def _stop_by_signals(scope: anyio.CancelScope, vault: LazyVault) -> None:
    loop = asyncio.get_running_loop()

    def stop(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        # Should anything keep the loop from it, this does not.
        late = threading.Timer(ENDING, _end, (vault, 0))
        late.daemon = True
        late.start()
        loop.call_soon_threadsafe(scope.cancel)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


def _is_gone(exc: BaseException) -> bool:
    """Whether all that happened is that the client went while it was written to."""
    if isinstance(exc, BaseExceptionGroup):
        return all(_is_gone(one) for one in exc.exceptions)
    return isinstance(exc, BrokenPipeError | ConnectionResetError)


def _end(vault: LazyVault, code: int) -> None:
    """End the process at once: calls that still run have nobody to reply to.

    The follower ends by itself, for its standard input does.
    """
    late = threading.Timer(ENDING, os._exit, (code,))
    late.daemon = True
    late.start()
    vault.stop()
    sys.stderr.flush()
    os._exit(code)
