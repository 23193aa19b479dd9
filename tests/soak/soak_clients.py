"""Thirty-two clients at once: each is told what one alone is told, and never that something broke."""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from http.client import HTTPConnection
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
import yaml

from tests.support.processes import notehop_serve
from tests.support.product import demo_questions

CLIENTS = 32

QUESTIONS = 24
"""Questions of the demo vault that are asked, each in several ways."""

LONGEST = 60.0
"""Seconds: longer shows nothing more."""

ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/query", {}),
    ("/search", {"results": "notes", "top_k": 10}),
    ("/search", {"explain": True, "connected": {"direction": "both"}}),
)


class Request(NamedTuple):
    route: str
    body: str


def told(connection: HTTPConnection, request: Request) -> tuple[int, dict[str, Any]]:
    """The status and the reply, without what its moment says: times, and a count that may be late."""
    connection.request("POST", *request, {"Content-Type": "application/json"})
    response = connection.getresponse()
    reply: dict[str, Any] = json.loads(response.read())
    for passing in ("timings_ms", "pending"):
        reply.pop(passing, None)
    return response.status, reply


@pytest.mark.model
def test_many_clients_are_told_what_one_is(demo: tuple[Path, Path], soak_minutes: float) -> None:
    questions = yaml.safe_load(demo_questions().read_text(encoding="utf-8"))
    texts = [one["question"] for one in questions[:QUESTIONS]]
    requests = [
        Request(route, json.dumps({"query": text, **options}))
        for text, (route, options) in product(texts, ASKED)
    ]
    seconds = min(LONGEST, 60 * soak_minutes)

    def client(number: int) -> tuple[Counter[int], list[str]]:
        chance, counts, wrong = random.Random(number), Counter[int](), list[str]()
        connection = HTTPConnection(at, timeout=120)
        while time.monotonic() < end:
            request = chance.choice(requests)
            status, reply = told(connection, request)
            counts[status] += 1
            # A server that has no room says so; whatever else it says is the same for all.
            if status != HTTPStatus.SERVICE_UNAVAILABLE and (status, reply) != alone[request]:
                wrong.append(f"{request}: {status}: {reply}")
        connection.close()
        return counts, wrong

    with notehop_serve(*demo) as (url, process):
        at = urlsplit(url).netloc
        one = HTTPConnection(at, timeout=120)
        alone = {request: told(one, request) for request in requests}
        one.close()
        assert {status for status, _ in alone.values()} == {HTTPStatus.OK}
        end = time.monotonic() + seconds
        with ThreadPoolExecutor(CLIENTS) as pool:
            found = list(pool.map(client, range(CLIENTS)))
        assert process.poll() is None
    counts = sum((each for each, _ in found), Counter[int]())
    sys.stdout.write(f"\n{CLIENTS} clients, {seconds:.0f} s: {dict(counts)}\n")
    assert [line for _, wrong in found for line in wrong] == []
    assert counts[HTTPStatus.OK] > CLIENTS
    assert set(counts) <= {HTTPStatus.OK, HTTPStatus.SERVICE_UNAVAILABLE}
