"""The protocol's server over some vaults, the same for every transport; and over standard input and output.

Errors of ours become results that say what to do; others are logged, and not quoted.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any, Protocol, TypeVar

import anyio
from mcp import MCPError, types
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.stdio import stdio_server

from notehop.app.mcp.tools import TOOLS, instructions, read_vault
from notehop.app.problems import agent_text
from notehop.app.services.vaults import LazyVault, Vaults
from notehop.config.errors import NotehopError
from notehop.indexing.llm.egress import UNWANTED, holding

_log = logging.getLogger(__name__)

T = TypeVar("T")

Context = ServerRequestContext[Any, Any]
Page = types.PaginatedRequestParams | None


class Run(Protocol):
    """Has a thread do what blocks, as :meth:`notehop.app.api.workers.Workers.run` does."""

    async def __call__(self, work: Callable[[], T], *, slow: bool = False) -> T: ...


def make_server(vaults: Mapping[str, LazyVault], run: Run) -> Server[Any]:
    """The server of some vaults, by name, the default first."""
    names = [*vaults]

    async def list_tools(_: Context, __: Page) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=tool.name,
                description=tool.description,
                input_schema=tool.input_schema(names),
                # What a client takes for granted of a tool that only reads is not said.
                annotations=types.ToolAnnotations(read_only_hint=False, destructive_hint=False)
                if tool.writes
                else types.ToolAnnotations(read_only_hint=True),
            )
            for tool in TOOLS.values()
        ]
        return types.ListToolsResult(tools=tools)

    async def call_tool(_: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no such tool; use {', '.join(TOOLS)}")
        gone, failed = threading.Event(), False
        try:
            name, rest = read_vault(params.arguments or {}, names)
            given, vault = tool.read(rest), vaults[name]

            def work() -> str:
                # To write a note takes no index.
                return tool.work(vault if tool.writes else vault.open(), given)

            with holding(UNWANTED, gone.is_set):
                reply = await run(work, slow=tool.slow)
        except Exception as exc:  # noqa: BLE001 (the client is told, and the log)
            reply, failed = agent_text(exc), True
            if not isinstance(exc, NotehopError):
                _log.error("the tool %s failed", tool.name, exc_info=exc)
        finally:
            gone.set()
        content = [types.TextContent(type="text", text=reply)]
        return types.CallToolResult(content=content, is_error=failed)

    server: Server[Any] = Server(
        "notehop",
        version=version("notehop"),
        title="notehop",
        description="Ask an Obsidian vault: cited answers that follow the links between notes.",
        instructions=instructions(names),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    # It holds the SDK's tracer alone, which hands what went wrong with a note to any provider.
    server.middleware.clear()
    return server


def serve_stdio(vaults: Vaults, *, follow: bool) -> None:
    """Serve one client over standard input and output until it closes its end, or SIGINT or SIGTERM; the
    process ends with it. Whatever else is printed goes to standard error.

    :param follow: whether to keep the index up to the vault meanwhile.
    """
    code = 0
    try:
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
