"""Tools of the MCP server, and the examples of its page."""

import json
import logging
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from mcp import Client, types
from mcp.server import Server

from tests.app.api.fake_vault import FakeVault
from tests.support import product
from tests.support.commands import printed

T = TypeVar("T")


class Endless(FakeVault):
    """An answer goes on until nobody waits for it."""

    def __init__(self, fails: Exception | None = None) -> None:
        super().__init__(fails)
        self.ready = True
        self.began = threading.Event()
        self.noticed = threading.Event()

    def ask(self, query: product.Query) -> product.Answer:
        self.asked.append(query)
        if self.fails is not None:
            raise self.fails
        self.began.set()
        while not product.UNWANTED.get()():
            self.noticed.wait(0.001)
        self.noticed.set()
        raise product.NotehopError("nobody waits")


class FakeAccess:
    def __init__(self, vault: Endless, closed: Exception | None = None) -> None:
        self.vault = vault
        self.closed = closed
        self.opened = vault if closed is None else None

    def open(self) -> Any:
        if self.closed is not None:
            raise self.closed
        return self.vault

    def capture(self, query: product.CaptureQuery) -> product.Captured:
        return product.Captured(filename="Inbox/x.md", message=query.text)

    async def run(self, work: Callable[[], T], *, slow: bool = False) -> T:  # noqa: ARG002
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


def served(access: FakeAccess) -> Server[Any]:
    return product.make_server({"My vault": access}, access.run)  # type: ignore[no-any-return]


def call(access: FakeAccess, name: str, **arguments: Any) -> types.CallToolResult:
    async def work() -> types.CallToolResult:
        async with Client(served(access), mode="legacy") as client:
            return await client.call_tool(name, arguments)

    return anyio.run(work)


def told(result: types.CallToolResult) -> str:
    assert result.is_error
    return str(result.content[0].text)  # type: ignore[union-attr]


def test_an_answer_that_nobody_waits_for_is_stopped() -> None:
    vault = Endless()

    async def work() -> None:
        async with Client(served(FakeAccess(vault)), mode="legacy") as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "ask", {"question": "why?"})
                await anyio.to_thread.run_sync(vault.began.wait, 10)
                tasks.cancel_scope.cancel()
            assert await anyio.to_thread.run_sync(vault.noticed.wait, 10)

    anyio.run(work)


@pytest.mark.parametrize(("tool", "argument"), [("smart_search", "query"), ("ask", "question")])
def test_an_error_that_nobody_foresaw_is_logged_and_not_quoted(
    caplog: pytest.LogCaptureFixture, tool: str, argument: str
) -> None:
    vault = Endless(RuntimeError("the secret is 7321"))
    with caplog.at_level(logging.ERROR):
        result = call(FakeAccess(vault), tool, **{argument: "x"})
    assert told(result) == "an internal error; the log of the server says more"
    assert "7321" not in str(result)
    assert "7321" in caplog.text


def test_a_vault_that_cannot_be_opened_is_told_by_every_tool_but_capture() -> None:
    access = FakeAccess(Endless(), product.IndexMissing("no index yet; run: notehop index"))
    assert told(call(access, "read_note", note="x")) == "no index yet; run: notehop index"
    assert not call(access, "capture", text="keep me").is_error


def test_a_line_that_is_too_long_for_the_budget_is_cut() -> None:
    class Long(Endless):
        def note(self, *given: Any, **more: Any) -> Any:
            return super().note(*given, **more).model_copy(update={"text": "word " * 5_000})

    reply = call(FakeAccess(Long()), "read_note", note="Atlas.md", budget=300).content[0].text
    assert len(reply) < 3_000
    assert "\n\n> word " in reply
    assert reply.endswith("Note: line 1 is too long for the budget and was cut")


ROOT = Path(__file__).parents[3]

PAGE = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_tool_is_described_and_no_other() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == list(product.TOOLS)
    for tool in product.TOOLS.values():
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{tool.name}` |"))
        assert row.endswith(f"| {'one new note' if tool.writes else 'no'} |")
        assert f"`{tool.name}`" in README


def test_the_configurations_are_json_and_start_the_command() -> None:
    section = PAGE.split("## Setting an agent up")[1].split("\n## ")[0]
    first, second = (json.loads(one) for one in re.findall(r"```json\n(.*?)```", section, re.DOTALL))
    server = first["mcpServers"]["notes"]
    assert server["command"].endswith("/notehop")
    assert server["args"][0] == "mcp"
    assert second["mcpServers"]["notes"]["url"].endswith(product.http.PATH)
    assert "--no-watch" in printed("mcp", "--help", env={"COLUMNS": "100"})
