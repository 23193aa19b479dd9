"""What a reply calls a place, and what people call an argument, is taken when it comes back."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from notehop import open_vault
from tests.app.mcp.agent import Agent, agent, text
from tests.app.mcp.test_hostile import server_of
from tests.support.product import VaultHandle, create_app
from tests.support.serving import request, say, serving
from tests.support.tables import rows

pytestmark = pytest.mark.model

NOTE = "Projects/Hollin Reach/Hollin Reach.md"


@pytest.fixture(scope="module")
def port(demo: tuple[Path, Path]) -> Iterator[int]:
    with serving(create_app(open_vault(demo[0], index_dir=demo[1]))) as port:
        yield port


@pytest.fixture(scope="module")
def section(vault: VaultHandle) -> Any:
    return vault.note(NOTE, section="Timeline")


@pytest.fixture(scope="module")
def client(vault: VaultHandle) -> Iterator[Agent]:
    with agent(server_of(vault)) as client:
        yield client


def call(client: Agent, tool: str, **arguments: Any) -> tuple[bool, str]:
    result = client.call(tool, **arguments)
    return bool(result.is_error), text(result)


def addresses(section: Any) -> list[str]:
    first, last = section.lines
    return [
        f"{NOTE}:{first}-{last} > Timeline",
        f"{NOTE}:{first}-{last}",
        f"Hollin Reach:{first}-{last}",
        "Hollin Reach#Timeline",
        f"{NOTE}#Timeline",
        "[[Hollin Reach#Timeline]]",
        "[[Hollin Reach#Timeline|when]]",
        "[[Hollin Reach]]#Timeline",
        f"[[Hollin Reach]]:{first}-{last}",
        f"[[Hollin Reach|when]]:{first}-{last} > Timeline",
        "note://Hollin%20Reach#Timeline",
        f"note://{quote(NOTE, safe='')}#Timeline",
        section.uri,
    ]


def test_an_agent_hands_back_the_address_it_was_given(
    vault: VaultHandle, client: Agent, section: Any
) -> None:
    for address in addresses(section):
        failed, said = call(client, "read_note", note=address)
        assert not failed, (address, said)
        first, last = section.lines
        assert said.startswith(f"{NOTE}:{first}-{last}\n"), address
        failed, said = call(client, "graph_browse", notes=[address])
        assert not failed, (address, said)
    uri = vault.search("timeline of Hollin Reach").hits[0].uri
    assert not call(client, "read_note", note=uri)[0]


def test_a_program_hands_back_the_address_it_was_given(port: int, section: Any) -> None:
    for address in addresses(section):
        read = say(port, request("GET", f"/notes/{quote(address, safe='')}"))
        assert read.status == 200, (address, read.body)
        assert json.loads(read.body)["text"] == section.text, address


@pytest.mark.parametrize(("address", "hint"), rows(__file__, "an_address_that_leads_nowhere_says_why"))
def test_an_address_that_leads_nowhere_says_why(client: Agent, address: str, hint: str) -> None:
    failed, said = call(client, "read_note", note=address)
    assert failed
    assert hint in said


@pytest.mark.parametrize(
    "section", ["Timeline\0", "Timeline%00", "%00"], ids=["nul", "encoded", "nothing-else"]
)
def test_what_no_heading_can_hold_is_in_no_address(client: Agent, section: str) -> None:
    address = f"note://Hollin%20Reach#{section}"
    for tool, given in (("read_note", {"note": address}), ("graph_browse", {"notes": [address]})):
        failed, said = call(client, tool, **given)
        assert failed, tool
        assert "no note of this vault" in said


@pytest.mark.parametrize(("tool", "given"), rows(__file__, "an_agent_guesses_a_name"))
def test_an_agent_guesses_a_name(client: Agent, tool: str, given: dict[str, Any]) -> None:
    failed, said = call(client, tool, **given)
    assert not failed, said
    if "filters" in given:
        assert "\nFilters: tag:fish" in said
    if tool == "smart_search" and "limit" in given:
        assert "\n[2] " in said
        assert "\n[3] " not in said


def test_a_filter_beside_the_filters_is_told_where_it_goes(client: Agent) -> None:
    failed, said = call(client, "smart_search", query="eels", tags="fish")
    assert failed
    assert 'write "filters": {"tag": …}' in said


@pytest.mark.parametrize(("path", "body"), rows(__file__, "a_program_guesses_a_name"))
def test_a_program_guesses_a_name(port: int, path: str, body: Any) -> None:
    asked = say(port, request("POST", path, body=json.dumps(body).encode()))
    assert asked.status == 200, asked.body
    # A guess beside the name itself is one name too many.
    twice = {**body, "query": "x", "seeds": ["Hollin Reach"]}
    asked = say(port, request("POST", path, body=json.dumps(twice).encode()))
    assert asked.status == 422
