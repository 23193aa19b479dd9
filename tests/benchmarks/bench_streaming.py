"""How long an answer's pieces take from the model to the client, and a cancel back to the model.

The model is the scripted server, in this process with the client: one clock for both ends. Between
them is ``notehop serve``, a process of its own.
"""

from __future__ import annotations

import gc
import http.client
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.benchmarks.pairs import p50, p95, say
from tests.support.llm_server import PATIENCE, LlmServer, llm_server, says, stalls
from tests.support.processes import notehop_serve

pytestmark = pytest.mark.bench

ANSWERS = 60
CANCELS = 25
TOGETHER = 8
"""Answers at once, as a busy server has them."""

EVERY = 0.01
"""Seconds between two pieces: a fast model on a good machine."""

BAR = 50.0
"""Milliseconds in which a piece is to be handed on."""

KINDS = {
    "in a silence": stalls("The "),
    "while it talks": says(*["and "] * 10_000, every=EVERY),
}
"""What a model does when nobody listens any more."""

QUESTION = "Why was the launch of Atlas postponed?"

TEXT = (
    "The launch of Atlas was postponed because the map tiles were late [1].\n\nPriya asked for "
    "four more weeks [2][3], and got them `in May` [1, 2]. Nobody said **more** than that [1]."
)


def pieces(number: int) -> list[str]:
    """What the model says to a request, word by word; the first tells the answers apart."""
    first, *rest = f"{number}: {TEXT}".split(" ")
    return [first, *(f" {word}" for word in rest)]


@dataclass(slots=True)
class Heard:
    """One streamed answer at the client: when each event came, and the text by then."""

    events: list[tuple[float, str]] = field(default_factory=list)
    text: list[tuple[float, str]] = field(default_factory=list)

    def came(self, length: int) -> float:
        return next(at for at, text in self.text if len(text) >= length)

    def first(self, name: str) -> float:
        return next(at for at, kind in self.events if kind == name)


@contextmanager
def served(server: LlmServer, vault: Path, index: Path) -> Iterator[str]:
    settings = {
        "NOTEHOP_LLM__PROVIDER": "openai-compatible",
        "NOTEHOP_LLM__MODEL": "scripted-1",
        "NOTEHOP_LLM__BASE_URL": server.url,
        "NOTEHOP_SERVER__MAX_QUERIES": str(TOGETHER),
    }
    with notehop_serve(vault, index, **settings) as (url, _):
        yield url


@contextmanager
def streaming(url: str) -> Iterator[http.client.HTTPResponse]:
    """``/query/stream``; the connection is closed at the end, whatever was read."""
    at = urlsplit(url)
    connection = http.client.HTTPConnection(str(at.hostname), at.port, timeout=PATIENCE)
    body = json.dumps({"query": QUESTION})
    headers = {"Content-Type": "application/json", "Connection": "close"}
    try:
        connection.request("POST", "/query/stream", body, headers)
        with connection.getresponse() as response:
            assert response.status == http.client.OK, response.read()
            yield response
    finally:
        connection.close()


def heard(url: str) -> Heard:
    told, name, text = Heard(), "", ""
    with streaming(url) as response:
        for line in response:
            now = time.monotonic()
            if line.startswith(b"event: "):
                name = line[7:].strip().decode()
            elif line.startswith(b"data: "):
                told.events.append((now, name))
                if name == "token":
                    text += json.loads(line[6:])["text"]
                    told.text.append((now, text))
    assert told.events[-1][1] == "done", told.events
    return told


def added(server: LlmServer, told: Heard) -> list[float]:
    """Milliseconds from the model's sending of each piece to its arrival at the client."""
    number = int(told.text[-1][1].split(":")[0])
    length, found = 0, []
    for piece, sent in zip(pieces(number), server.asked[number].sent, strict=True):
        length += len(piece)
        found.append((told.came(length) - sent) * 1e3)
    return found


def line(what: str, values: list[float], bar: float | None = None) -> None:
    numbers = f"{p50(values):.1f} / {p95(values):.1f} / {max(values):.1f} ms"
    say(what, numbers, "" if bar is None else f"bar {bar:.0f} ms")


@pytest.fixture
def no_collections() -> Iterator[None]:
    """The model and the clients are in this process: its looks for cycles, over all that indexing
    loaded, would count as the server's."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collections")
def test_streaming(demo: tuple[Path, Path]) -> None:
    with llm_server() as server, served(server, *demo) as url:

        def answers(count: int, *, at_once: bool = False) -> list[Heard]:
            server.requests.clear()
            server.plays(lambda _: says(*pieces(len(server.asked) - 1), every=EVERY))
            if not at_once:
                return [heard(url) for _ in range(count)]
            with ThreadPoolExecutor(count) as pool:
                return list(pool.map(heard, [url] * count))

        answers(3)
        alone = answers(ANSWERS)
        steps = [added(server, told) for told in alone]
        before = [
            (seen.at - told.first("sources")) * 1e3
            for seen, told in zip(server.asked, alone, strict=True)
        ]
        crowd = [
            value
            for _ in range(ANSWERS // TOGETHER + 1)
            for told in answers(TOGETHER, at_once=True)
            for value in added(server, told)
        ]
        gone = {kind: [cancelled(server, url, kind) for _ in range(CANCELS)] for kind in KINDS}
    print()
    say(f"{ANSWERS} answers of {len(pieces(0))} pieces", "p50 / p95 / max")
    early = sum(value > 0 for value in before)
    say("sources at the client before the model is asked", f"{early} of {len(before)}")
    line("  by", before)
    line("first piece, from the model to the client", [found[0] for found in steps], BAR)
    line("each piece", [value for found in steps for value in found], BAR)
    line(f"each piece, {TOGETHER} answers at once", crowd, BAR)
    for kind, values in gone.items():
        line(f"cancel {kind}, until the model's connection is closed", values)


def cancelled(server: LlmServer, url: str, kind: str) -> float:
    """Milliseconds from the end of the client's connection to that of the model's."""
    server.requests.clear()
    server.plays(KINDS[kind])
    with streaming(url) as response:
        while response.readline() != b"event: token\n":
            pass
        left = time.monotonic()
    seen = server.request()
    assert seen.gone.wait(PATIENCE)
    assert seen.left is not None
    return (seen.left - left) * 1e3
