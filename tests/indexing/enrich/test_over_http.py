"""The model behind a real server: what goes there, what is logged, what its failures come to."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from notehop.indexing.enrich.report import EnrichReport
from notehop.indexing.enrich.step import enrich
from tests.indexing.enrich.conftest import EnrichBench
from tests.llm_server import LlmServer, fails, llm_server, words


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with llm_server(words("This is what it says.")) as running:
        yield running


def run(bench: EnrichBench, url: str) -> EnrichReport:
    given = {"llm.base_url": url, "llm.model": "scripted-1", "llm.retries": 0}
    bench.settings = bench.settings.with_overrides(given)
    bench.index()
    done = enrich(bench.indexer(), bench.agree)
    assert done is not None
    return done


def test_it_goes_through_the_door_and_into_the_log(bench: EnrichBench, server: LlmServer) -> None:
    bench.write("Secret.md", "---\nprivate: true\n---\nNobody reads this.")
    done = run(bench, server.url)
    assert (done.calls, done.stopped, done.failed) == (6, None, 0)
    assert bench.summaries()["Boat.md"].text == "This is what it says."
    assert not any("Nobody reads" in seen.prompt for seen in server.asked)
    assert bench.costs[0].host == "this machine"
    lines = (bench.layout.root / "egress.jsonl").read_text().splitlines()
    logged = [json.loads(line) for line in lines]
    said = json.dumps(logged)
    assert '"summary"' in said
    assert '"header"' in said
    assert "Boat.md" in said
    assert "leaks" not in said


def test_a_server_that_has_enough_ends_the_step(bench: EnrichBench, server: LlmServer) -> None:
    server.plays(words("One."), fails(429, "slow down"))
    done = run(bench, server.url)
    assert done.calls == 2
    assert done.stopped is not None
    assert done.waiting == 5
    server.plays(words("More."))
    assert run(bench, server.url).waiting == 0


def test_nothing_goes_to_a_host_that_is_not_allowed(bench: EnrichBench, server: LlmServer) -> None:
    done = run(bench, "http://192.0.2.1:9/v1")
    assert "allow_hosts" in str(done.stopped)
    assert done.calls == 1
    assert done.failed == 0
    assert server.asked == []


def test_a_server_that_is_not_there_is_asked_once(bench: EnrichBench) -> None:
    done = run(bench, "http://127.0.0.1:9/v1")
    assert (done.calls, done.waiting) == (1, 6)
    assert bench.summaries()["Boat.md"].model is None
