"""The protocol's server over a vault: the same for every transport.

Errors of ours become results that say what to do; others are logged, and not quoted.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

from mcp import MCPError, types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession

from notehop.app.mcp import resources
from notehop.app.mcp.arguments import input_schema, read_arguments, read_vault
from notehop.app.mcp.tools import TOOLS, Access, Call, Tool, instructions
from notehop.app.problems import UNEXPECTED, agent_text
from notehop.config.errors import IndexFailure, NotehopError

if TYPE_CHECKING:
    from notehop.app.services.vault import VaultHandle

_log = logging.getLogger(__name__)

T = TypeVar("T")

Context = ServerRequestContext[Any, Any]


def make_server(vaults: Mapping[str, Access]) -> Server[Any]:
    """The server of some vaults.

    :param vaults: by name, the default first.
    """
    handlers = _Handlers(vaults)
    server: Server[Any] = Server(
        "notehop",
        version=version("notehop"),
        title="notehop",
        description="Ask an Obsidian vault: cited answers that follow the links between notes.",
        instructions=instructions([*vaults]),
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
    )
    # It holds the SDK's tracer alone, which hands what went wrong with a note to any provider.
    server.middleware.clear()
    return server


class _Handlers:
    """Handles the requests of all clients."""

    def __init__(self, vaults: Mapping[str, Access]) -> None:
        self._vaults = vaults
        self._names = [*vaults]
        self._default = vaults[self._names[0]]

    async def list_tools(
        self,
        _: Context,
        params: types.PaginatedRequestParams | None,  # noqa: ARG002 (they fit one page)
    ) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                input_schema=input_schema(tool.arguments, self._names),
                # What a client takes for granted of a tool that only reads is not said.
                annotations=types.ToolAnnotations(read_only_hint=False, destructive_hint=False)
                if tool.writes
                else types.ToolAnnotations(read_only_hint=True),
            )
            for tool in TOOLS.values()
        ]
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no such tool; use {', '.join(TOOLS)}")
        gone = threading.Event()
        steps = _Steps(ctx.session)
        try:
            name, rest = read_vault(params.arguments or {}, self._names)
            given, call = read_arguments(tool.arguments, rest), Call(steps.say, gone.is_set)
            reply = await self._done(self._vaults[name], tool, given, call, steps)
        except NotehopError as exc:
            return _failed(agent_text(exc))
        except Exception as exc:  # noqa: BLE001 (the client is told, and the log)
            _log.error("the tool %s failed", tool.name, exc_info=exc)
            return _failed(agent_text(exc))
        finally:
            gone.set()
        return types.CallToolResult(content=[types.TextContent(type="text", text=reply)])

    async def list_resources(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = None if params is None else params.cursor

        def work() -> types.ListResourcesResult:
            found: list[resources.Listed] = []
            for name, access in self._vaults.items():
                try:
                    nodes = resources.best_linked(access.open(), resources.MOST // len(self._names))
                except IndexFailure as exc:
                    # Clients ask for the list by themselves: the tools will say what is wrong.
                    _log.info("no resources of %s are listed: %s", name, exc)
                    continue
                found += [(self._said(name), node) for node in nodes]
            return resources.page(found, cursor)

        return await self._answered(work)

    async def list_templates(
        self,
        _: Context,
        params: types.PaginatedRequestParams | None,  # noqa: ARG002 (there is one)
    ) -> types.ListResourceTemplatesResult:
        several = len(self._names) > 1
        return types.ListResourceTemplatesResult(resource_templates=[resources.template(several)])

    async def read_resource(
        self, _: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        def work() -> types.ReadResourceResult:
            uri = str(params.uri)
            name, plain = resources.split(uri) if len(self._names) > 1 else (None, uri)
            if name is not None and name not in self._vaults:
                names = ", ".join(self._names)
                raise resources.missing(uri, f"the vaults there are: {names}")
            access = self._default if name is None else self._vaults[name]
            return resources.read(access.open, plain, uri)

        return await self._answered(work)

    def _said(self, name: str) -> str | None:
        """The name of a vault where it has to be said: None for the default."""
        return None if name == self._names[0] else name

    async def _done(self, access: Access, tool: Tool, given: Any, call: Call, steps: _Steps) -> str:
        """Have a tool do its work, and say before it what takes longer the first time."""
        vault: VaultHandle | None = None
        if access.opened:
            vault = access.open()
        else:
            await steps.report("opening the index")
            with suppress(IndexFailure) if tool.writes else nullcontext():
                vault = await access.run(access.open)
        if tool.models and vault is not None and not vault.ready:
            await steps.report("loading the model")
            with suppress(NotehopError) if tool.writes else nullcontext():
                await access.run(vault.warm)
        return await access.run(
            lambda: tool.work(access if tool.writes else vault, given, call), slow=tool.slow
        )

    async def _answered(self, work: Callable[[], T]) -> T:
        """Have a thread work for a request that has no way to say what went wrong but an error.

        :raises MCPError: what went wrong.
        """
        try:
            return await self._default.run(work)
        except MCPError:
            raise
        except NotehopError as exc:
            raise MCPError(types.INTERNAL_ERROR, agent_text(exc)) from exc
        except Exception as exc:
            _log.error("a resource failed", exc_info=exc)
            raise MCPError(types.INTERNAL_ERROR, UNEXPECTED) from exc


class _Steps:
    """Tells a client what is being done, if it gave a token to be told by."""

    def __init__(self, session: ServerSession) -> None:
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._count = 0

    async def report(self, message: str) -> None:
        """Tell of the next step."""
        self._count += 1
        await self._session.report_progress(self._count, message=message)

    def say(self, message: str) -> None:
        """Tell of it from a thread, and do not wait until it is told."""
        with suppress(RuntimeError):  # the loop has ended meanwhile
            asyncio.run_coroutine_threadsafe(self.report(message), self._loop)


def _failed(told: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=told)], is_error=True)
