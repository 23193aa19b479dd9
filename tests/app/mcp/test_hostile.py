"""No name that an agent hands over leads out of the vault, or to a note that is kept out of it."""

from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import anyio
import pytest
from mcp import Client, types
from mcp.server import Server

from tests.app.api.hostile_table import OUTSIDE
from tests.support import product

pytestmark = pytest.mark.model

KEPT_OUT = ("Areas/Salary talk.md", "Areas/Salary talk", "Salary talk", "areas/salary TALK.md")


def server_of(vault: product.VaultHandle) -> Server[Any]:
    return product.make_server(product.Vaults.of(vault), product.Workers(product.load_settings().server).run)


def names() -> list[str]:
    found = [*KEPT_OUT, *OUTSIDE.values()]
    return list(dict.fromkeys(name for one in found for name in (one, unquote(one)) if name.strip()))


def files(vault: Path) -> set[Path]:
    return {*vault.rglob("*"), *vault.parent.iterdir()}


async def _refusals(client: Client, name: str) -> list[str]:
    """What each way to name a note says to a name; a text that it gives fails the test."""
    told: list[str] = []
    uris = [name, f"note://{name}", f"note://{quote(name, safe='')}"]
    calls = [("read_note", {"note": uri}) for uri in uris]
    for tool, arguments in (*calls, ("graph_browse", {"notes": [name]})):
        result = await client.call_tool(tool, arguments)
        assert result.is_error, (tool, name)
        assert isinstance(result.content[0], types.TextContent)
        told.append(result.content[0].text)
    return told


def test_no_name_leads_out_of_the_vault(demo: tuple[Path, Path]) -> None:
    place = product.locate(demo[0], index_dir=demo[1])
    before = files(demo[0])

    async def work() -> None:
        with product.open_place(place) as vault:
            async with Client(server_of(vault), mode="legacy") as client:
                for name in names():
                    told = "\n".join(await _refusals(client, name))
                    assert "internal error" not in told, name
                    assert "root:x:" not in told, name
                    assert "private: true" not in told, name

    anyio.run(work)
    assert files(demo[0]) == before


def test_no_listing_names_a_note_that_is_kept_out(demo: tuple[Path, Path]) -> None:
    place = product.locate(demo[0], index_dir=demo[1])

    async def work() -> None:
        with product.open_place(place) as vault:
            async with Client(server_of(vault), mode="legacy") as client:
                for tool, arguments in (
                    ("smart_search", {"query": "salary talk pay", "top_k": 100, "budget": 50_000}),
                    ("graph_browse", {"notes": ["Hollin Reach"], "depth": 2, "max": 100}),
                    ("vault_overview", {"budget": 50_000}),
                ):
                    result = await client.call_tool(tool, arguments)
                    (block,) = result.content
                    assert "Salary talk.md" not in block.text

    anyio.run(work)
