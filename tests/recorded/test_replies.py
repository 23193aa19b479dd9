"""What programs read: the JSON of each command, the OpenAPI document, the tools that agents see."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.app.api.fake_vault import FakeVault
from tests.app.mcp.agent import agent
from tests.recorded.conftest import Compare
from tests.support.commands import call, options
from tests.support.notes import NOTES, write_notes
from tests.support.postgres import PostgresServer
from tests.support.product import create_app, make_server
from tests.support.real_index import real_index

SATURDAY = 1_788_000_000
"""When all files of the vault were written."""

COMMANDS: dict[str, list[str]] = {
    "index": ["index"],
    "index again": ["index"],
    "ask": ["ask", "When is the launch of Atlas?"],
    "ask, explained": ["ask", "When is the launch of Atlas?", "--explain"],
    "ask, connected": [
        *("ask", "When is the launch of Atlas?", "-k", "1", "--explain"),
        *("--order", "rank", "--direction", "both"),
    ],
    "ask, not known": ["ask", "What is the boiling point of ethanol?"],
    "search": ["search", "launch of Atlas"],
    "search for notes": ["search", "map tiles", "--notes"],
    "search, filtered": ["search", "path:people weeks"],
    "browse": ["browse", "Atlas"],
    "browse by links": ["browse", "Plan", "--depth", "2", "--rank", "edges"],
    "suggest": ["suggest"],
    "links": ["links"],
    "links of a note": ["links", "Plan.md"],
    "status": ["status"],
    "doctor": ["doctor"],
}

VARIES = re.compile(
    r"seconds|timings|_ms$|^bytes$|^sizes$|^age$|started|ended|^updated$|made_with|pid|host"
    r"|^catalog$"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _made(tmp_path_factory.mktemp("recorded"))


def _made(root: Path) -> Path:
    vault = write_notes(root / "My vault", NOTES)
    for file in vault.rglob("*"):
        os.utime(file, (SATURDAY, SATURDAY))
    real_index(vault, root / "index")
    return root


def steady(value: Any, folder: Path) -> Any:
    """A reply without what differs from run to run and from machine to machine."""
    if isinstance(value, dict):
        return {key: "..." if VARIES.search(key) else steady(one, folder) for key, one in value.items()}
    if isinstance(value, list):
        return [steady(one, folder) for one in value]
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, str):
        return value.replace(str(folder), "/home").replace(str(Path.home()), "/home")
    return value


@pytest.mark.model
def test_commands(folder: Path, compare: Compare) -> None:
    _commands(folder, compare)


@pytest.mark.model
@pytest.mark.services
def test_commands_over_a_catalog_on_a_server(
    tmp_path: Path, compare: Compare, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTEHOP_CATALOG__URL", postgres.new_database())
    _commands(_made(tmp_path / "recorded"), compare)
    assert not (tmp_path / "recorded" / "index" / "catalog.sqlite").exists()


def _commands(folder: Path, compare: Compare) -> None:
    where = [*options(folder / "My vault", folder / "index"), "--json"]
    replies = {}
    for name, command in COMMANDS.items():
        done = call(*command, *where)
        assert done.exit_code in (0, 1), f"{name}: {done.output}"
        replies[name] = [done.exit_code, steady(json.loads(done.stdout), folder)]
    compare("commands", replies)


def test_openapi(compare: Compare) -> None:
    document = create_app(FakeVault()).openapi()
    parts = {f"path {name}": said for name, said in document.pop("paths").items()}
    schemas = document.pop("components")["schemas"]
    compare("openapi", document | parts | {f"schema {name}": one for name, one in schemas.items()})


def test_tools(compare: Compare) -> None:
    with agent(make_server({"My vault": None}, None)) as one:
        tools = one.do(one.client.list_tools).tools
    compare("tools", {tool.name: tool.model_dump(mode="json", exclude_none=True) for tool in tools})
