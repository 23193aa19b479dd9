"""Serves one client over standard input and output, until it goes.

The protocol goes line by line over two descriptors, and ends when the input does; whatever else is
printed goes to standard error. What is no message is answered as JSON-RPC says and passed over: the
SDK's own transport keeps silent about it, reads lines of any length, and cannot be ended while it
waits for one.

Touches: index and models, through the vault it opens; processes (the follower); terminal.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from types import FrameType
from typing import Any, TypeVar

import anyio
from anyio.from_thread import run as run_in_loop
from anyio.lowlevel import EventLoopToken, current_token
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from notehop.app.mcp import Wire
from notehop.app.mcp.server import Context, make_server
from notehop.app.models import Captured, CaptureQuery
from notehop.app.services.open_vault import LazyVault
from notehop.config.errors import IndexFailure

MAX_LINE = 4_000_000
"""Bytes that a message may have, as over HTTP: the longest text that may be captured."""

Reading = MemoryObjectReceiveStream[SessionMessage | Exception]
Writing = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def messages_over(wire: Wire) -> AsyncIterator[tuple[Reading, Writing]]:
    """Messages from the client and to it, while the context lasts.

    :raises BrokenPipeError: in a group, if the client has gone while it was written to.
    """
    arrived, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, written = anyio.create_memory_object_stream[SessionMessage](0)
    lines = _Lines(arrived, outgoing.clone())
    token = current_token()
    # A daemon: nothing can end a read but the client.
    threading.Thread(
        target=lines.read, args=(wire.read, token), name="notehop-mcp-input", daemon=True
    ).start()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_write, wire.write, written)
        yield incoming, outgoing


class _Lines:
    """Reads messages in a thread and hands them to the loop, each when the one before is taken."""

    def __init__(
        self, arrived: MemoryObjectSendStream[SessionMessage | Exception], back: Writing
    ) -> None:
        self._arrived = arrived
        self._back = back

    def read(self, descriptor: int, token: EventLoopToken) -> None:
        """Read until the input ends, or the loop does."""
        # However it ends, there is nobody to tell: the loop is gone.
        with suppress(Exception), os.fdopen(descriptor, "rb") as stream:
            while line := stream.readline(MAX_LINE + 1):
                whole = len(line) <= MAX_LINE
                while not line.endswith(b"\n") and (rest := stream.readline(MAX_LINE)):
                    line = rest
                if not whole or line.strip():
                    run_in_loop(self._take, line if whole else None, token=token)
        with suppress(Exception):
            run_in_loop(self._end, token=token)

    async def _take(self, line: bytes | None) -> None:
        if line is None:
            await self._refuse(types.INVALID_REQUEST, f"a message has {MAX_LINE:,} bytes at most")
            return
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError as exc:
            broken = exc.errors(include_url=False, include_input=False)[0]["type"] == "json_invalid"
            if broken:
                await self._refuse(types.PARSE_ERROR, "this line is not JSON")
            else:
                told = "this is no JSON-RPC 2.0 message; one a line, batches are not taken"
                await self._refuse(types.INVALID_REQUEST, told)
            return
        await self._arrived.send(SessionMessage(message))

    async def _refuse(self, code: int, told: str) -> None:
        error = types.ErrorData(code=code, message=told)
        await self._back.send(
            SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error))
        )

    async def _end(self) -> None:
        await self._arrived.aclose()
        await self._back.aclose()


async def _write(descriptor: int, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with messages:
        async for one in messages:
            line = one.message.model_dump_json(by_alias=True, exclude_unset=True)
            # The client may take its time; whoever ends this does not wait for it.
            await anyio.to_thread.run_sync(
                _write_all, descriptor, f"{line}\n".encode(), abandon_on_cancel=True
            )


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


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
        async with messages_over(wire) as (reading, writing):
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
