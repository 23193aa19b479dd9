"""Text of notes goes to this machine and to the hosts that the user named, and is written down."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.app.llm.doors import Door, Doors
from tests.support.llm_server import LlmServer, fails, words
from tests.support.product import FORMER, NAME

pytestmark = pytest.mark.model

QUESTION = "When is the launch of Atlas?"
RIGHT = "The launch of Atlas is on 14 June 2027 [1]."
HOST = "llm.example.com"


@pytest.fixture
def far(server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The provider, at a name of another machine."""
    real = socket.getaddrinfo

    def found(host: Any, *more: Any, **named: Any) -> Any:
        # What connects is led back here, since nothing in a test may leave the machine.
        return real("127.0.0.1" if host == HOST else host, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", found)
    return f"http://{HOST}:{server.port}/v1"


@pytest.fixture
def log(doors: Doors) -> Path:
    for name in (NAME, FORMER):
        (doors.index / name).unlink(missing_ok=True)
    return doors.index / NAME


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


@pytest.mark.everywhere
def test_a_host_that_was_not_named_gets_nothing(server: LlmServer, ask: Door, far: str, log: Path) -> None:
    heard = ask(QUESTION, llm__base_url=far, llm__retries=2)
    assert server.connections == 0
    assert lines(log) == []
    assert heard.answer["mode"] == "extractive"
    assert "14 June 2027" in heard.text
    assert HOST in heard.warnings
    assert "nothing was sent" in heard.warnings
    assert f'allow_hosts = ["{HOST}"]' in heard.warnings
    assert "the passages of the sources" in heard.warnings, "what it would have got"


@pytest.mark.everywhere
def test_what_was_sent_is_written_down(server: LlmServer, ask: Door, log: Path) -> None:
    server.plays(fails(503), words(RIGHT))
    heard = ask(QUESTION, llm__retries=1)
    begun = [line for line in lines(log) if "host" in line]
    ended = {line["id"]: line for line in lines(log) if "ended" in line}
    assert [line["attempt"] for line in begun] == [1, 2]
    shown = [*heard.answer["sources"], *heard.answer["connected_notes"]]
    for line, seen in zip(begun, server.asked, strict=True):
        assert line["host"] == "127.0.0.1"
        assert line["purpose"] == "answer"
        assert line["bytes_out"] == int(seen.headers["content-length"])
        assert set(line["notes"]) == {one["path"] for one in shown}
    assert [ended[line["id"]]["status"] for line in begun] == [503, 200]
    assert ended[begun[1]["id"]]["bytes_in"] > len(RIGHT)
    told = log.read_text()
    assert not any(text in told for text in (QUESTION, "14 June", "napkin"))
