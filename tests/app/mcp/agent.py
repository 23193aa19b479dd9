"""An agent: the SDK's client, over either transport, to a server in a process of its own."""

import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, types
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server import Server

from tests.support.processes import environment, notehop_serve

T = TypeVar("T")

PATIENCE = 120


class Agent:
    """The client, for tests that are not asynchronous."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self.client = client

    def do(self, work: Callable[..., Coroutine[Any, Any, T]], *arguments: Any) -> T:
        return self._portal.call(work, *arguments)

    def call(self, name: str, /, **arguments: Any) -> types.CallToolResult:
        result = self.do(self.client.call_tool, name, arguments)
        assert isinstance(result, types.CallToolResult)
        return result

    def reply(self, name: str, /, **arguments: Any) -> str:
        result = self.call(name, **arguments)
        assert not result.is_error, result.content
        return text(result)

    def refusal(self, name: str, /, **arguments: Any) -> str:
        result = self.call(name, **arguments)
        assert result.is_error
        return text(result)


def text(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


@contextmanager
def agent(
    transport: AbstractAsyncContextManager[Any] | Server[Any] | str, mode: str = "legacy"
) -> Iterator[Agent]:
    client = Client(transport, mode=mode)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield Agent(portal, client)


def command(vault: Path, index: Path, *more: str) -> list[str]:
    return ["-m", "notehop", "mcp", str(vault), "--index-dir", str(index), *more]


def over_stdio(vault: Path, index: Path, *more: str) -> AbstractAsyncContextManager[Any]:
    given = command(vault, index, *(more or ("--no-watch",)))
    parameters = StdioServerParameters(command=sys.executable, args=given, env=environment())
    return stdio_client(parameters)


@contextmanager
def server(vault: Path, index: Path, **settings: str) -> Iterator[str]:
    """The URL at which ``notehop serve`` answers."""
    variables = {f"NOTEHOP_{name.upper()}": value for name, value in settings.items()}
    with notehop_serve(vault, index, **variables) as (url, _):
        yield url
