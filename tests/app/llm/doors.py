"""The three doors to an answer: the server, the command line, and Python."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import httpx

from tests.support import product
from tests.support.commands import options, printed
from tests.support.llm_server import PATIENCE, LlmServer
from tests.support.serving import events_of, serving

Door = Callable[..., "Heard"]
"""Asks a question under some settings."""


@dataclass(frozen=True, slots=True)
class Heard:
    """An answer as a door gave it; ``said`` is what came piece by piece, in one text."""

    answer: dict[str, Any]
    said: str

    @property
    def text(self) -> str:
        return str(self.answer["answer"])

    @property
    def warnings(self) -> str:
        return "\n".join(self.answer["warnings"])

    @property
    def cited(self) -> list[str]:
        return [citation["marker"] for citation in self.answer["citations"]]


MOST = 4
"""Vaults and servers that stay open, each with a model in memory."""


class Doors:
    """One vault behind all three, with a scripted provider; what was opened last stays open."""

    def __init__(self, vault: Path, index: Path, server: LlmServer) -> None:
        self.vault = vault
        self.index = index
        self.server = server
        self._opened: dict[tuple[str, str], tuple[Any, ExitStack]] = {}

    def close(self, most: int = 0) -> None:
        while len(self._opened) > most:
            _, held = self._opened.pop(next(iter(self._opened)))
            held.close()

    def _open(self, kind: str, given: Mapping[str, Any], opening: Callable[[product.Place], Any]) -> Any:
        key = kind, json.dumps(given, sort_keys=True)
        if key not in self._opened:
            self.close(MOST - 1)
            place = product.locate(self.vault, index_dir=self.index, overrides=self.settings(given))
            with ExitStack() as held:
                opened = held.enter_context(opening(place))
                self._opened[key] = opened, held.pop_all()
        return self._opened[key][0]

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "llm.provider": "openai-compatible",
            "llm.model": "scripted-1",
            "llm.base_url": self.server.url,
            "llm.retries": 0,
            "llm.timeout_s": PATIENCE,
            **{name.replace("__", "."): value for name, value in given.items()},
        }

    def handle(self, **given: Any) -> product.VaultHandle:
        handle: product.VaultHandle = self._open("handle", given, product.open_place)
        return handle

    def port(self, **given: Any) -> int:
        def served(place: product.Place) -> Any:
            opened = product.open_place(place)
            opened.warm()
            # The server closes it.
            return serving(product.create_app(opened, place.settings.server))

        port: int = self._open("port", given, served)
        return port

    def python(self, question: str, **given: Any) -> Heard:
        with closing(self.handle(**given).stream(question)) as coming:  # type: ignore[type-var]
            events = list(coming)
        assert isinstance(events[-1], product.DoneEvent), events[-1]
        said = "".join(event.text for event in events if isinstance(event, product.TokenEvent))
        return Heard(events[-1].answer.model_dump(mode="json"), said)

    def http(self, question: str, **given: Any) -> Heard:
        with self.streamed(question, **given) as events:
            told = list(events)
        assert told[-1][0] == "done", told[-1]
        said = "".join(data["text"] for name, data in told if name == "token")
        return Heard(told[-1][1]["answer"], said)

    @contextmanager
    def streamed(self, question: str, **given: Any) -> Iterator[Iterator[tuple[str, dict[str, Any]]]]:
        """The events of ``/query/stream`` as they come; the connection ends with the block."""
        url = f"http://127.0.0.1:{self.port(**given)}/query/stream"
        with (
            httpx.Client(timeout=PATIENCE, trust_env=False) as client,
            client.stream("POST", url, json={"query": question}) as response,
        ):
            assert response.status_code == httpx.codes.OK, response.read()
            yield events_of(response.iter_lines())

    def environment(self, **given: Any) -> dict[str, str]:
        return {
            f"NOTEHOP_{name.upper().replace('.', '__')}": (
                value if isinstance(value, str) else json.dumps(value)
            )
            for name, value in self.settings(given).items()
        }

    def cli(self, question: str, **given: Any) -> Heard:
        told = self.command("ask", question, "--json", **given)
        answer = json.loads(told)
        return Heard(answer, answer["answer"])

    def command(self, *arguments: str, **given: Any) -> str:
        with mock.patch.dict(os.environ, self.environment(**given)):
            return printed(*arguments, *options(self.vault, self.index))
