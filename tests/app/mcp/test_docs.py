"""The page for agents and the README name the tools, arguments and limits that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

from typer.testing import CliRunner

from tests.support.product import TOOLS, app, arguments, http, resources, stdio

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
    assert f"{stdio.MAX_LINE:,} bytes" in PAGE
    assert f"{http.SESSIONS} sessions" in PAGE
    assert f"hundred best linked notes, {resources.PAGE} a page" in PAGE
    assert resources.MOST == 100


def test_the_configurations_are_json_and_start_the_command() -> None:
    section = README.split("## For agents")[1].split("\n## ")[0]
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
