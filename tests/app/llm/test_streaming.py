"""An answer is handed on while it is written, and a model that nobody waits for is let go."""

import signal
import subprocess
import sys
import threading
from contextlib import closing
from typing import Any

import pytest

from tests.app.llm.doors import Doors
from tests.support.llm_server import PATIENCE, LlmServer, Play, never_begins, says, stalls, words
from tests.support.processes import environment, interruptible
from tests.support.product import ConnectedEvent, SourcesEvent, TokenEvent

pytestmark = pytest.mark.model

QUESTION = "When is the launch of Atlas?"
RIGHT = "The launch of Atlas is on 14 June 2027 [1]."

UNHEARD: list[Any] = [
    pytest.param(never_begins(), 0, id="before it began"),
    pytest.param(stalls("The launch "), 1, id="in a silence"),
    pytest.param(says(*["and "] * 20_000, every=0.005), 3, id="while it talks"),
]
"""How a model talks, and after how many pieces nobody listens any more."""


def test_the_sources_are_there_before_the_model_is_asked(server: LlmServer, doors: Doors) -> None:
    server.plays(words(RIGHT))
    with closing(doors.handle().stream(QUESTION)) as events:  # type: ignore[type-var]
        assert isinstance(next(events), SourcesEvent)
        assert isinstance(next(events), ConnectedEvent)
        assert server.connections == 0
        assert isinstance(next(events), TokenEvent)
        assert len(server.asked) == 1


def test_each_piece_is_handed_on_before_the_next_is_said(server: LlmServer, doors: Doors) -> None:
    pieces = ["The", " launch", " is", " on", " 14 June 2027", " [1]."]
    gates = [threading.Event() for _ in pieces]
    steps: list[Any] = [step for pair in zip(pieces, gates, strict=True) for step in pair]
    server.plays(says(*steps))
    with doors.streamed(QUESTION) as events:
        assert [next(events)[0] for _ in range(2)] == ["sources", "connected"]
        for number, (piece, gate) in enumerate(zip(pieces, gates, strict=True), start=1):
            name, data = next(events)
            assert (name, data["text"]) == ("token", piece)
            assert server.request().sent == number
            gate.set()
        assert [name for name, _ in events] == ["done"]


@pytest.mark.parametrize(("turn", "after"), UNHEARD)
def test_a_client_that_leaves_ends_the_call(server: LlmServer, doors: Doors, turn: Play, after: int) -> None:
    server.plays(turn)
    with doors.streamed(QUESTION) as events:
        for _ in range(2 + after):
            next(events)
        seen = server.request()
        assert not seen.gone.is_set()
    assert seen.gone.wait(PATIENCE)


@pytest.mark.parametrize("how", ["closed", "cancelled"])
@pytest.mark.parametrize(("turn", "after"), UNHEARD)
def test_a_reader_in_python_that_has_enough_ends_the_call(
    server: LlmServer, doors: Doors, turn: Play, after: int, how: str
) -> None:
    server.plays(turn)
    enough = threading.Event()
    events = doors.handle().stream(QUESTION, cancelled=enough.is_set)
    for _ in range(2 + after):
        next(events)
    if how == "closed":
        events.close()  # type: ignore[attr-defined]
        if not after:
            assert server.connections == 0
            return
    else:
        threading.Thread(target=lambda: (server.request(), enough.set())).start()
        assert "done" not in [event.event for event in events]
    assert server.request().gone.wait(PATIENCE)


def test_an_answer_that_takes_too_long_ends_the_call(server: LlmServer, doors: Doors) -> None:
    server.plays(stalls("The launch"))
    with doors.streamed(QUESTION, server__timeout_s=4) as events:
        told = list(events)
    assert told[-1][0] == "error"
    assert "server.timeout_s" in told[-1][1]["problem"]["detail"]
    assert server.request().gone.wait(PATIENCE)


def test_control_c_on_the_command_line_ends_the_call(server: LlmServer, doors: Doors) -> None:
    server.plays(stalls("The launch "))
    where = ["--vault", str(doors.vault), "--index-dir", str(doors.index)]
    with interruptible():
        asking = subprocess.Popen(
            [sys.executable, "-m", "notehop", "ask", QUESTION, *where],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(**doors.environment()),
        )
    with asking as process:
        try:
            seen = server.request()
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=3 * PATIENCE)
        finally:
            process.kill()
    assert seen.gone.wait(PATIENCE)
    assert process.returncode == 130, error
    assert b"Traceback" not in error
