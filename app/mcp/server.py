"""The protocol's server over some vaults, the same for every transport: tools, and the notes as resources,
of which the best linked ones are listed and every one can be read by its address.

Errors of ours become results that say what to do; others are logged, and not quoted.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from importlib.metadata import version
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import quote, unquote

from mcp import MCPError, types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession

from notehop.app.mcp.tools import TOOLS, Tool, instructions, read_vault
from notehop.app.problems import agent_text
from notehop.app.services.vaults import LazyVault
from notehop.config.errors import IndexFailure, NotehopError, NoteMissing, UsageError
from notehop.indexing.llm.egress import UNWANTED, holding

if TYPE_CHECKING:
    from notehop.app.services.vault import VaultHandle

_log = logging.getLogger(__name__)

T = TypeVar("T")

Context = ServerRequestContext[Any, Any]
Page = types.PaginatedRequestParams | None

SCHEME = "note://"
MARKDOWN = "text/markdown"

LISTED = 100  # notes that are listed: a client shows them to a person, who looks for the others
A_PAGE = 25  # notes of a page of that list


class Run(Protocol):
    """Has a thread do what blocks, as :meth:`notehop.app.api.workers.Workers.run` does."""

    async def __call__(self, work: Callable[[], T], *, slow: bool = False) -> T: ...


def make_server(vaults: Mapping[str, LazyVault], run: Run) -> Server[Any]:
    """The server of some vaults, by name, the default first."""
    handlers = _Handlers(vaults, run)
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

    def __init__(self, vaults: Mapping[str, LazyVault], run: Run) -> None:
        self._vaults = vaults
        self._names = [*vaults]
        self._run = run

    async def list_tools(self, _: Context, __: Page) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                input_schema=tool.input_schema(self._names),
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
        gone, failed = threading.Event(), False
        try:
            name, rest = read_vault(params.arguments or {}, self._names)
            given = tool.read(rest)
            with holding(UNWANTED, gone.is_set):
                reply = await self._worked(self._vaults[name], tool, given, ctx.session)
        except Exception as exc:  # noqa: BLE001 (the client is told, and the log)
            reply, failed = agent_text(exc), True
            if not isinstance(exc, NotehopError):
                _log.error("the tool %s failed", tool.name, exc_info=exc)
        finally:
            gone.set()
        content = [types.TextContent(type="text", text=reply)]
        return types.CallToolResult(content=content, is_error=failed)

    async def _worked(self, lazy: LazyVault, tool: Tool, given: Any, session: ServerSession) -> str:
        """Have a tool do its work; a client that gave a token to be told by hears of each step."""
        steps = count(1)

        async def report(message: str) -> None:
            await session.report_progress(next(steps), message=message)

        vault: VaultHandle | None = None
        # To write a note takes neither index nor models.
        with suppress(NotehopError) if tool.writes else nullcontext():
            vault = lazy.opened
            if vault is None:
                await report("opening the index")
                vault = await self._run(lazy.open)
            if tool.models and not vault.ready:
                await report("loading the model")
                await self._run(vault.warm)
        await report(tool.says)
        asked = lazy if tool.writes else vault
        return await self._run(lambda: tool.work(asked, given), slow=tool.slow)

    async def list_resources(self, _: Context, params: Page) -> types.ListResourcesResult:
        cursor = (params and params.cursor) or "0"
        if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
            raise MCPError(types.INVALID_PARAMS, "this cursor is none that was handed out")
        start = int(cursor)
        found = await self._answered(self._best_linked)
        end = start + A_PAGE
        return types.ListResourcesResult(
            resources=found[start:end], next_cursor=str(end) if end < len(found) else None
        )

    def _best_linked(self) -> list[types.Resource]:
        found: list[types.Resource] = []
        for vault, lazy in self._vaults.items():
            try:
                most = max(1, LISTED // len(self._names))
                nodes = lazy.open().picture((), most=most).nodes
            except IndexFailure as exc:
                # Clients ask for the list by themselves: the tools will say what is wrong.
                _log.info("no resources of %s are listed: %s", vault, exc)
                continue
            # The default needs no name.
            named = vault != self._names[0]
            behind = f"?vault={quote(vault, safe='')}" if named else ""
            found += [
                types.Resource(
                    uri=f"{SCHEME}{quote(node.path, safe='')}{behind}",
                    name=f"{vault}: {node.path}" if named else node.path,
                    title=node.title,
                    description=f"{node.degree} links",
                    mime_type=MARKDOWN,
                )
                for node in sorted(nodes, key=lambda node: (-node.pagerank, node.path))
            ]
        return found

    async def list_templates(self, _: Context, __: Page) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="note",
            title="A note of the vault",
            uri_template=f"{SCHEME}{{path}}{'{?vault}' if len(self._names) > 1 else ''}",
            description="The text of a note. path: its path in the vault (or title or alias), "
            "percent-encoded; a heading behind # reads that section alone.",
            mime_type=MARKDOWN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, _: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        text = await self._answered(lambda: self._text_of(uri))
        contents = types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)
        return types.ReadResourceResult(contents=[contents])

    def _text_of(self, uri: str) -> str:
        """The text of a note, or of the section behind ``#``."""
        path, _, section = uri.removeprefix(SCHEME).partition("#")
        vault = self._names[0]
        if len(self._names) > 1 and "?vault=" in path:
            path, _, named = path.rpartition("?vault=")
            vault = unquote(named)
        name = unquote(path)
        if vault not in self._vaults:
            raise _missing(uri, f"the vaults there are: {', '.join(self._names)}")
        if not uri.startswith(SCHEME) or not name.strip():
            raise _missing(
                uri, f"{SCHEME} and the path of a note, percent-encoded, is what there is"
            )
        opened = self._vaults[vault].open()
        try:
            return opened.note(name, section=unquote(section) or None, mentions=False).text
        except (NoteMissing, UsageError) as exc:
            raise _missing(uri, agent_text(exc)) from exc

    async def _answered(self, work: Callable[[], T]) -> T:
        """Have a thread work for a request that has no way to say what went wrong but an ``MCPError``."""
        try:
            return await self._run(work)
        except MCPError:
            raise
        except Exception as exc:
            if not isinstance(exc, NotehopError):
                _log.error("a resource failed", exc_info=exc)
            raise MCPError(types.INTERNAL_ERROR, agent_text(exc)) from exc


def _missing(uri: str, why: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, f"no such resource: {why}", {"uri": uri[:1_000]})
