"""A server under 32 clients for a minute: each is told what one alone is told, and how soon."""

from __future__ import annotations

import http.client
import json
import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from tests.benchmarks.conftest import Large
from tests.benchmarks.pairs import p50, p95, say
from tests.support.processes import notehop_serve, until

pytestmark = pytest.mark.bench

CLIENTS = 32
SECONDS = float(os.environ.get("BENCH_SERVER_SECONDS", "60"))
ROUTES = ("/search", "/query")

LAG = 50
"""Milliseconds within which /health answers: the event loop alone answers it."""


@dataclass(slots=True)
class Tally:
    milliseconds: dict[str, list[float]] = field(default_factory=lambda: {route: [] for route in ROUTES})
    replies: dict[tuple[str, str], Any] = field(default_factory=dict)
    """What was told first, which all others have to be told too: by route and query."""
    wrong: list[str] = field(default_factory=list)


class Client:
    """One connection that is kept, as a browser or a plugin keeps it."""

    def __init__(self, url: str) -> None:
        at = urlsplit(url)
        self._connection = http.client.HTTPConnection(str(at.hostname), at.port, timeout=120)

    def ask(self, route: str, query: str, tally: Tally) -> None:
        body = json.dumps({"query": query})
        started = time.perf_counter()
        self._connection.request("POST", route, body, {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        told = response.read()
        tally.milliseconds[route].append((time.perf_counter() - started) * 1e3)
        reply = json.loads(told)
        for passing in ("timings_ms", "pending"):
            reply.pop(passing, None)
        known = tally.replies.setdefault((route, query), reply)
        if response.status != http.client.OK or reply != known:
            tally.wrong.append(f"{route}: {response.status} {told[:200]!r}")

    def get(self, route: str) -> str:
        self._connection.request("GET", route)
        return self._connection.getresponse().read().decode()

    def close(self) -> None:
        self._connection.close()


@contextmanager
def served(large: Large) -> Iterator[tuple[str, psutil.Process]]:
    with notehop_serve(large.vault, large.layout.root) as (url, server):
        client = Client(url)
        until(lambda: json.loads(client.get("/health/ready"))["ready"])
        client.close()
        yield url, psutil.Process(server.pid)


@contextmanager
def health_looks(url: str) -> Iterator[list[float]]:
    """Milliseconds until /health answers, asked for all the time."""
    found: list[float] = []
    over = threading.Event()

    def look() -> None:
        client = Client(url)
        while not over.wait(0.02):
            started = time.perf_counter()
            client.get("/health")
            found.append((time.perf_counter() - started) * 1e3)
        client.close()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


def asked_by_many(url: str, queries: list[str], seconds: float, alone: Tally) -> Tally:
    tally, end = Tally(replies=alone.replies), time.monotonic() + seconds

    def run(chance: random.Random) -> None:
        client = Client(url)
        try:
            while time.monotonic() < end:
                client.ask(chance.choice(ROUTES), chance.choice(queries), tally)
        except Exception as exc:  # noqa: BLE001 (any failure of a client is a finding)
            tally.wrong.append(f"{type(exc).__name__}: {exc}")
        finally:
            client.close()

    threads = [threading.Thread(target=run, args=(random.Random(n),)) for n in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally


def test_under_load(large: Large) -> None:
    with served(large) as (url, server):
        alone, client = Tally(), Client(url)
        for query, route in [*product(large.queries, ROUTES)] * 2:
            client.ask(route, query, alone)
        client.close()
        # What is remembered of notes and words is full after a while.
        asked_by_many(url, large.queries, SECONDS / 6, alone)
        memory = server.memory_info().rss
        with health_looks(url) as looks:
            many = asked_by_many(url, large.queries, SECONDS, alone)
        after = server.memory_info().rss
    cores = os.cpu_count() or 1
    print()
    count = sum(len(values) for values in many.milliseconds.values())
    say("requests", f"{count}", f"{count / SECONDS:.0f} a second, {len(many.wrong)} wrong")
    for route, values in many.milliseconds.items():
        single = p50(alone.milliseconds[route])
        bar = 4 * single * CLIENTS / cores
        say(f"{route}, one client", f"p50 {single:.1f} ms")
        say(f"{route}, {CLIENTS}", f"p95 {p95(values):.0f} ms", f"budget {bar:.0f} ms")
    beyond = sum(took > LAG for took in looks)
    say(f"/health later than {LAG} ms", f"{beyond} of {len(looks)} times", "budget 0")
    say("memory", f"{after / 1e9:.2f} GB", f"{(after - memory) / 1e6:+.0f} MB in the minute")
    assert alone.wrong + many.wrong == []
