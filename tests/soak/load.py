"""Clients of a server whose vault an editor changes: every reply is judged.

A reply may show a text of a note only if the note held that text at some moment between question
and reply. Where the editor has been still for a second, that is what the files hold now.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from tests.soak.changing import WORDS, Notes, plain


@dataclass(slots=True)
class Tally:
    asked: int = 0
    shown: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list)


class Clients:
    """Clients of a server, each with a connection; every reply that they get is judged."""

    def __init__(
        self, url: str, notes: Notes, count: int, *, patient: bool = False, pause: float = 0.0
    ) -> None:
        """:param patient: a server that is away, or says that it cannot answer, is asked again.
        :param pause: seconds between two questions of a client.
        """
        self.tally = Tally()
        self._at = urlsplit(url)
        self._notes = notes
        self._patient = patient
        self._pause = pause
        self._stop = threading.Event()
        self._turn = threading.Lock()
        self._threads = [
            threading.Thread(target=self._run, args=(random.Random(number),)) for number in range(count)
        ]

    def __enter__(self) -> Clients:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def judge(self, told: dict[str, Any], since: float, until: float) -> Iterator[str]:
        """What a reply shows that no file held while it was made."""
        shown = [*told.get("hits", ()), *told.get("sources", ()), *told["connected_notes"]]
        for one in shown:
            if not any(one["text"] in plain(text) for text in self._held(one, since, until)):
                yield f"{one['path']}: {one['text']!r} stood there in none of its versions then"
            linked = one.get("linked_from")
            if linked is not None and not any(
                linked["sentence"] in plain(line)
                for text in self._held(linked, since, until)
                for line in text.split("\n")[linked["line"] - 1 : linked["line"]]
            ):
                yield f"{linked['path']}:{linked['line']}: no such link: {linked['sentence']!r}"
        with self._turn:
            self.tally.shown += len(shown)

    def _held(self, one: dict[str, Any], since: float, until: float) -> list[str]:
        return self._notes.held(one["path"], since, until)

    def _run(self, chance: random.Random) -> None:
        connection = http.client.HTTPConnection(str(self._at.hostname), self._at.port, timeout=120)
        try:
            while not self._stop.wait(self._pause):
                try:
                    wrong = list(self._ask(connection, chance))
                except (OSError, http.client.HTTPException):
                    if not self._patient:
                        raise
                    connection.close()
                    self.tally.refused += 1
                    self._stop.wait(0.1)
                    continue
                with self._turn:
                    self.tally.asked += 1
                    self.tally.wrong += wrong
        except Exception as exc:  # noqa: BLE001 (any failure of a client is a finding)
            with self._turn:
                self.tally.wrong.append(f"{type(exc).__name__}: {exc}")
        finally:
            connection.close()

    def _ask(self, connection: http.client.HTTPConnection, chance: random.Random) -> Iterator[str]:
        route, extra = chance.choice(
            (
                ("/query", {}),
                ("/search", {"connected": {"direction": "both"}}),
                ("/search", {"results": "notes", "top_k": 10}),
            )
        )
        number = chance.randrange(len(self._notes.versions))
        text = f"note {number} about the {chance.choice(WORDS)}"
        since = time.monotonic()
        body = json.dumps({"query": text, **extra})
        connection.request("POST", route, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        told = json.loads(response.read())
        until = time.monotonic()
        if self._patient and response.status == http.client.SERVICE_UNAVAILABLE:
            self.tally.refused += 1
            return
        if response.status != http.client.OK:
            yield f"{route}: {response.status}: {told}"
            return
        yield from self.judge(told, since, until)


def get(url: str, route: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = Request(url + route, data, {"Content-Type": "application/json"})
    with urlopen(request, timeout=120) as response:
        told: dict[str, Any] = json.load(response)
    return told
