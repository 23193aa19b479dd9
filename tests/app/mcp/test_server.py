"""Tools of the MCP server, and the examples of its page."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from mcp import Client, MCPError, types
from typer.testing import CliRunner

from tests.app.api.fake_vault import FakeVault
from tests.support.product import (
    TOOLS,
    Access,
    Captured,
    CaptureQuery,
    ErrorEvent,
    IndexMissing,
    ModelError,
    Query,
    SourcesEvent,
    StreamEvent,
    app,
    arguments,
    http,
    make_server,
    problem,
    resources,
)

T = TypeVar("T")


class Endless(FakeVault):
    """An answer goes on until nobody waits for it."""

    def __init__(self, fails: Exception | None = None) -> None:
        super().__init__(fails)
        self.ready = True
        self.began = threading.Event()
        self.noticed = threading.Event()

    def stream(
        self, query: Query, *, cancelled: Callable[[], bool] | None = None
    ) -> Iterator[StreamEvent]:
        self.asked.append(query)
        yield SourcesEvent(sources=[])
        if self.fails is not None:
            yield ErrorEvent(problem=problem(self.fails))
            return
        self.began.set()
        while not cancelled():
            self.noticed.wait(0.001)
        self.noticed.set()


class FakeAccess:
    def __init__(self, vault: Endless, closed: Exception | None = None) -> None:
        self.vault = vault
        self.closed = closed
        self.opened = closed is None

    def open(self) -> Any:
        if self.closed is not None:
            raise self.closed
        return self.vault

    def capture(self, query: CaptureQuery) -> Captured:
        return Captured(filename="Inbox/x.md", message=query.text)

    async def run(self, work: Callable[[], T], *, slow: bool = False) -> T:  # noqa: ARG002
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


def call(access: Access, name: str, **arguments: Any) -> types.CallToolResult:
    async def work() -> types.CallToolResult:
        async with Client(make_server({"My vault": access}), mode="legacy") as client:
            return await client.call_tool(name, arguments)

    return anyio.run(work)


def told(result: types.CallToolResult) -> str:
    assert result.is_error
    return str(result.content[0].text)  # type: ignore[union-attr]


def test_a_search_is_handed_on_as_it_was_asked() -> None:
    vault = Endless()
    filters = {"tag": ["fish"], "not": {"path": ["Old"]}}
    result = call(
        FakeAccess(vault), "smart_search", query="elvers", top_k=7, intent="status", filters=filters
    )
    (asked,) = vault.asked
    assert (asked.query, asked.top_k, asked.intent) == ("elvers", 7, "status")
    assert asked.filters.tag == ["fish"]
    assert asked.filters.not_.path == ["Old"]
    nothing = "nothing in the vault matches; try other words, or fewer filters"
    assert result.content[0].text == f"No hits.\n\nNote: {nothing}"


def test_an_answer_that_nobody_waits_for_is_stopped() -> None:
    vault = Endless()

    async def work() -> None:
        async with Client(make_server({"x": FakeAccess(vault)}), mode="legacy") as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "ask", {"question": "why?"})
                await anyio.to_thread.run_sync(vault.began.wait, 10)
                tasks.cancel_scope.cancel()
            assert await anyio.to_thread.run_sync(vault.noticed.wait, 10)

    anyio.run(work)


def test_an_error_of_ours_is_told() -> None:
    vault = Endless(ModelError("the model is missing; run: notehop models pull x"))
    for result in (
        call(FakeAccess(vault), "smart_search", query="x"),
        call(FakeAccess(vault), "ask", question="x"),
    ):
        assert told(result) == "the model is missing; run: notehop models pull x"


@pytest.mark.parametrize(("tool", "argument"), [("smart_search", "query"), ("ask", "question")])
def test_an_error_that_nobody_foresaw_is_logged_and_not_quoted(
    caplog: pytest.LogCaptureFixture, tool: str, argument: str
) -> None:
    vault = Endless(RuntimeError("the secret is 7321"))
    with caplog.at_level(logging.ERROR):
        result = call(FakeAccess(vault), tool, **{argument: "x"})
    assert told(result) == "an internal error; the log of the server says more"
    assert "7321" not in str(result)
    assert ("7321" in caplog.text) is (tool == "smart_search")


def test_a_vault_that_cannot_be_opened_is_told_by_every_tool_but_capture() -> None:
    access = FakeAccess(Endless(), IndexMissing("no index yet; run: notehop index"))
    assert told(call(access, "read_note", note="x")) == "no index yet; run: notehop index"
    assert not call(access, "capture", text="keep me").is_error

    async def read() -> None:
        async with Client(make_server({"x": access}), mode="legacy") as client:
            assert (await client.list_resources()).resources == []
            with pytest.raises(MCPError, match="run: notehop index"):
                await client.read_resource("note://x")

    anyio.run(read)


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
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == list(TOOLS)
    for tool in TOOLS.values():
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{tool.name}` |"))
        assert row.endswith(
            f"| {'yes' if tool.models else 'no'} | {'one new note' if tool.writes else 'no'} |"
        )
        assert f"`{tool.name}`" in README


def test_the_limits_are_those_in_force() -> None:
    assert f"({arguments.LEAST} to {arguments.MOST:,};" in PAGE
    assert f"{http.SESSIONS} sessions" in PAGE
    assert f"hundred best linked notes, {resources.PAGE} a page" in PAGE
    assert resources.MOST == 100


def test_the_configurations_are_json_and_start_the_command() -> None:
    section = PAGE.split("## Setting an agent up")[1].split("\n## ")[0]
    first, second = (
        json.loads(one) for one in re.findall(r"```json\n(.*?)```", section, re.DOTALL)
    )
    server = first["mcpServers"]["notes"]
    assert server["command"].endswith("/notehop")
    assert server["args"][0] == "mcp"
    assert second["mcpServers"]["notes"]["url"].endswith(http.PATH)
    shown = CliRunner().invoke(app, ["mcp", "--help"], env={"COLUMNS": "100"})
    assert shown.exit_code == 0
    assert "--no-watch" in shown.output
