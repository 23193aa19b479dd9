"""An answer comes as it is made; who leaves, a server that stops and a late answer end the work."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from fastapi import FastAPI

from tests.app.api.fake_vault import FakeVault
from tests.support import product
from tests.support.serving import events_of, serving

SOON = 60
"""Seconds after which something that should have happened is taken not to."""


class Scripted(FakeVault):
    """Gives the events that ``make`` makes, and remembers how its stream ended."""

    def __init__(self, make: Callable[[Callable[[], bool]], Iterator[product.StreamEvent]]) -> None:
        super().__init__()
        self._make = make
        self.ended = threading.Event()
        self.heard_of_it = False

    def stream(
        self,
        query: product.Query,  # noqa: ARG002 (the script does not depend on it)
        *,
        cancelled: Callable[[], bool] | None = None,
    ) -> Iterator[product.StreamEvent]:
        try:
            yield from self._make(cancelled)
        finally:
            self.heard_of_it = cancelled()
            self.ended.set()


def silent(cancelled: Callable[[], bool]) -> Iterator[product.StreamEvent]:
    """Says that it begins, and then nothing for as long as anybody listens."""
    yield product.SourcesEvent(sources=[])
    while not cancelled():
        time.sleep(0.001)


def app_of(vault: FakeVault, **overrides: Any) -> FastAPI:
    dotted = {f"server.{key}": value for key, value in overrides.items()}
    return product.create_app(vault, product.load_settings(overrides=dotted).server)


def asked(port: int, text: str = "one two") -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SOON)
    body = json.dumps({"query": text})
    # The response then owns the socket, which closes with it.
    headers = {"Content-Type": "application/json", "Connection": "close"}
    connection.request("POST", "/query/stream", body, headers)
    return connection.getresponse()


def events(response: http.client.HTTPResponse) -> list[tuple[str, dict[str, Any]]]:
    return list(events_of(response.read().decode().splitlines()))


def test_the_events_come_in_order_and_end() -> None:
    with serving(app_of(FakeVault())) as port:
        response = asked(port)
        told = events(response)
    assert response.getheader("content-type") == "text/event-stream; charset=utf-8"
    assert [name for name, _ in told] == ["sources", "connected", "token", "token", "done"]
    assert [data["event"] for _, data in told] == [name for name, _ in told]
    assert [data["text"] for name, data in told if name == "token"] == ["one", "two"]
    assert told[-1][1]["answer"]["answer"] == "one two"


def test_what_fails_later_is_an_event() -> None:
    def fails(_: Callable[[], bool]) -> Iterator[product.StreamEvent]:
        yield product.SourcesEvent(sources=[])
        raise RuntimeError("swordfish")

    with serving(app_of(Scripted(fails))) as port:
        told = events(asked(port))
    assert [name for name, _ in told] == ["sources", "error"]
    assert told[1][1]["problem"]["status"] == 500
    assert "swordfish" not in json.dumps(told)


def test_a_server_that_stops_says_so_in_its_streams() -> None:
    vault = Scripted(silent)
    with serving(app_of(vault)) as port:
        response = asked(port)
        assert response.readline() == b"event: sources\n"
    response.readline()
    told = events(response)
    assert told[-1][0] == "error"
    assert told[-1][1]["problem"]["type"] == "urn:notehop:problem:stopping"
    assert vault.ended.wait(SOON)


def test_a_client_that_does_not_read_holds_its_place_for_no_longer_than_a_request() -> None:
    def much(cancelled: Callable[[], bool]) -> Iterator[product.StreamEvent]:
        while not cancelled():
            yield product.TokenEvent(text="x" * 100_000)

    vault = Scripted(much)
    with serving(app_of(vault, timeout_s=0.3)) as port:
        response = asked(port)
        assert vault.ended.wait(SOON)
        response.close()


def test_more_streams_than_may_wait_are_refused() -> None:
    vault = Scripted(silent)
    with serving(app_of(vault, max_queries=1, max_waiting=0)) as port:
        first = asked(port)
        first.readline()
        second = asked(port)
        assert (second.status, second.getheader("retry-after")) == (503, "2")
        second.read()
        # Searches have a pool of their own.
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SOON)
        connection.request("GET", "/status", headers={"Connection": "close"})
        with connection.getresponse() as other:
            assert other.status == 200
        first.close()
        assert vault.ended.wait(SOON)
