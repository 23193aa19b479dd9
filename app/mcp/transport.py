"""The protocol line by line over two descriptors: standard input and output.

It ends when the input does. What is no message is answered as JSON-RPC says and passed over: the
SDK's own transport keeps silent about it, reads lines of any length, and cannot be ended while it
waits for one.

Touches: terminal.
"""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.from_thread import run as run_in_loop
from anyio.lowlevel import EventLoopToken, current_token
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from notehop.app.mcp.descriptors import Wire

MAX_LINE = 4_000_000
"""Bytes that a message may have, as over HTTP: the longest text that may be captured."""

Reading = MemoryObjectReceiveStream[SessionMessage | Exception]
Writing = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def connected(wire: Wire) -> AsyncIterator[tuple[Reading, Writing]]:
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
