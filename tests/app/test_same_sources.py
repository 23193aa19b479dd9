"""One question, one answer: Python, the command line, HTTP, the page and agents find the same."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from notehop import open_vault
from tests.app.mcp.agent import Agent, agent, over_stdio, server
from tests.support.commands import options, printed
from tests.support.product import answer_text, search_text
from tests.support.serving import events_of

pytestmark = pytest.mark.model

QUESTIONS = [
    pytest.param("What is the timeline of Hollin Reach?", id="a-project"),
    pytest.param("Who is Bram?", id="a-person"),
    pytest.param('path:Daily "high water"', id="filters-alone"),
    pytest.param("how are the geese doing", id="in-passing"),
    pytest.param("zqxj", id="a-word-that-nobody-wrote"),
]


class Edges:
    def __init__(self, where: tuple[Path, Path], url: str, http: Agent, stdio: Agent) -> None:
        self.vault, self.index = where
        self.url = url
        self.agents = {"mcp over http": http, "mcp over stdio": stdio}

    def post(self, path: str, **body: Any) -> str:
        return httpx.post(self.url + path, json=body, timeout=60).text

    def command(self, *arguments: str) -> Any:
        return json.loads(printed(*arguments, *options(self.vault, self.index), "--json"))


@pytest.fixture(scope="module")
def edges(demo: tuple[Path, Path]) -> Iterator[Edges]:
    with server(*demo) as url, agent(f"{url}/mcp") as http, agent(over_stdio(*demo)) as stdio:
        yield Edges(demo, url, http, stdio)


def hits(found: Any) -> list[tuple[str, str, tuple[int, int], str]]:
    return [(one["path"], one["heading"], tuple(one["lines"]), one["text"]) for one in found["hits"]]


def places(found: list[Any]) -> list[tuple[str, str, tuple[int, int]]]:
    """Sources in their order, wherever they stand."""
    named = sorted(found, key=lambda one: int(one["marker"].strip("[]")))
    return [(one["path"], one["heading"], tuple(one["lines"])) for one in named]


def connected(found: Any) -> list[str]:
    return [one["path"] for one in found["connected_notes"]]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_search_is_the_same_wherever_it_is_asked(edges: Edges, question: str) -> None:
    with open_vault(edges.vault, index_dir=edges.index) as vault:
        result = vault.search(question)
    here = result.model_dump()
    for one in edges.agents.values():
        said = one.reply("smart_search", query=question, budget=50_000)
        assert said == search_text(result, 50_000)
    found = {
        "cli": edges.command("search", question),
        "http": json.loads(edges.post("/search", query=question)),
    }
    assert {name: hits(one) for name, one in found.items()} == dict.fromkeys(found, hits(here))
    near = connected(here)
    assert {name: connected(one) for name, one in found.items()} == dict.fromkeys(found, near)


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_has_the_same_sources_wherever_it_is_asked(edges: Edges, question: str) -> None:
    with open_vault(edges.vault, index_dir=edges.index) as vault:
        answer = vault.ask(question)
    here = answer.model_dump()
    for one in edges.agents.values():
        assert one.reply("ask", question=question, budget=50_000) == answer_text(answer, 50_000)
    # The page reads the stream: its sources come before the answer, which may leave some out that
    # are only connected, or make sources of them.
    streamed = dict(events_of(edges.post("/query/stream", query=question).splitlines()))
    found = {
        "cli": edges.command("ask", question),
        "http": json.loads(edges.post("/query", query=question)),
        "page": streamed["done"]["answer"],
    }
    before = places(streamed["sources"]["sources"])
    assert places(found["page"]["sources"])[: len(before)] == before
    claims = json.loads(json.dumps(here["claims"]))
    assert {name: found[name]["claims"] for name in ("cli", "http", "page")} == dict.fromkeys(
        ("cli", "http", "page"), claims
    )
    for told in (
        lambda one: places(one["sources"]),
        lambda one: places(one["citations"]),
        connected,
        lambda one: one["answer"],
    ):
        assert {name: told(one) for name, one in found.items()} == dict.fromkeys(found, told(here))
