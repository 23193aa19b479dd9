"""While a vault is followed, a thread beside the follower writes what is missing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from notehop.indexing.enrich.enricher import SPENT_NOW
from notehop.indexing.watch.enriching import Enriching
from tests.indexing.enrich.conftest import LONG, EnrichBench
from tests.llm_server import LlmServer, fails, llm_server, words

PATIENCE = 30.0


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with llm_server(words("This is what it says.")) as running:
        yield running


@pytest.fixture
def followed(bench: EnrichBench, server: LlmServer) -> EnrichBench:
    given = {"llm.base_url": server.url, "llm.model": "scripted-1", "llm.retries": 0}
    bench.settings = bench.settings.with_overrides(given)
    bench.index()
    return bench


def until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


def stopped(bench: EnrichBench) -> str | None:
    with bench.store() as store:
        said = store.about().get("last")
        return "not yet" if said is None else said["stopped"]


def test_what_is_missing_is_written_and_indexed(followed: EnrichBench, server: LlmServer) -> None:
    told: list[str] = []
    with Enriching(followed.indexer, told.append, quiet=0.01) as enriching:
        until(lambda: stopped(followed) is None)
        assert any("This is what it says." in text for text in followed.model.asked)
        followed.write("Cup.md", f"A cup of clay. {LONG} {LONG}")
        followed.index()
        asked = len(server.asked)
        enriching.wrote()
        until(lambda: "Cup.md" in followed.summaries())
        until(lambda: len(server.asked) > asked)
    assert told == []


def test_an_hour_has_so_many_requests(followed: EnrichBench, server: LlmServer) -> None:
    followed.ask(watch_calls=2)
    told: list[str] = []
    with Enriching(followed.indexer, told.append, quiet=0.01) as enriching:
        until(lambda: stopped(followed) == SPENT_NOW)
        enriching.wrote()
        time.sleep(0.3)
    assert len(server.asked) == 2
    # That is as it should be: no news.
    assert told == []


def test_without_requests_extracts_are_made(followed: EnrichBench, server: LlmServer) -> None:
    followed.ask(summaries="extract", headers="off", watch_calls=0)
    with Enriching(followed.indexer, print, quiet=0.01):
        until(lambda: len(followed.summaries()) == 2)
    assert server.asked == []


def test_what_is_in_the_way_is_told_once(followed: EnrichBench, server: LlmServer) -> None:
    server.plays(fails(401, "no such key"))
    told: list[str] = []
    with Enriching(followed.indexer, told.append, quiet=0.01) as enriching:
        until(lambda: len(told) == 1)
        asked = len(server.asked)
        enriching.wrote()
        until(lambda: len(server.asked) > asked)
        time.sleep(0.1)
    assert len(told) == 1
    assert told[0].startswith("enrichment stopped: ")
