"""A provider that fails leaves nobody without an answer: the notes are quoted, and it says why."""

import socket
from dataclasses import replace

import pytest

from tests.app.llm.doors import Door, Heard
from tests.support.llm_server import (
    LlmServer,
    Play,
    calls_a_tool,
    cuts,
    fails,
    never_begins,
    says,
    stalls,
    words,
)
from tests.support.tables import rows

pytestmark = pytest.mark.model

QUESTION = "When is the launch of Atlas?"
RIGHT = "The launch of Atlas is on 14 June 2027 [1]."
SHORTLY = 0.3
"""Seconds without a word after which a model is given up, where a test wants that."""


def is_quoted(heard: Heard) -> bool:
    """Whether the notes answer in the model's place, with a citation, and a warning says so."""
    return (
        heard.answer["mode"] == "extractive"
        and "14 June 2027" in heard.text
        and "[1]" in heard.cited
        and "quoted instead" in heard.warnings
    )


@pytest.mark.parametrize(
    ("turn", "reason"),
    [
        pytest.param(fails(400, "bad temperature"), "bad temperature", id="400"),
        pytest.param(fails(401, "who?"), "NOTEHOP_LLM__API_KEY", id="401"),
        pytest.param(fails(403, "not for you"), "asks for a key (status 403)", id="403"),
        pytest.param(fails(404, code="model_not_found"), "no model 'scripted-1'", id="404 model"),
        pytest.param(fails(404, "no such path"), "llm.base_url", id="404 path"),
        pytest.param(fails(429, "slow down"), "slow down", id="429"),
        pytest.param(fails(429, code="insufficient_quota"), "no credit", id="429 no credit"),
        pytest.param(
            replace(fails(400), body={"error": {"message": "no", "input": "billing"}}),
            "refuses this",
            id="400 repeats a note",
        ),
        pytest.param(fails(500, "we are sorry"), "we are sorry", id="500"),
        pytest.param(fails(503, "loading model"), "loading model", id="503"),
        pytest.param(fails(302, location="http://192.0.2.9/"), "status 302", id="302"),
        pytest.param(cuts(), "broke", id="hung up before it began"),
        pytest.param(cuts("The launch "), "broke", id="hung up in the middle"),
        pytest.param(says("The ", b"data: {not json\n\n"), "no answer", id="broken event"),
        pytest.param(says(b"<html>a proxy</html>", finish=None), "no", id="no events at all"),
        pytest.param(
            says("The ", b'data: {"error": {"message": "out of memory: billing"}}\n\n'),
            "no answer that can be read: out of memory",
            id="error in the middle",
        ),
        pytest.param(says(""), "said nothing", id="nothing"),
        pytest.param(says(" ", "\n", "\n "), "said nothing", id="blanks"),
        pytest.param(says(finish="content_filter"), "content_filter", id="held back"),
        pytest.param(calls_a_tool(to="eve@example.org"), "said nothing", id="a call of a tool"),
    ],
)
def test_the_notes_answer_instead(server: LlmServer, ask: Door, turn: Play, reason: str) -> None:
    server.plays(turn)
    heard = ask(QUESTION)
    assert is_quoted(heard), heard
    assert reason in heard.warnings
    assert "Error:" not in heard.warnings, "a message, not an exception"
    assert len(server.asked) == 1


@pytest.mark.everywhere
@pytest.mark.parametrize(
    "turn", [never_begins(), stalls(), stalls("The launch ")], ids=["head", "first", "middle"]
)
def test_a_model_that_stalls_is_given_up(server: LlmServer, ask: Door, turn: Play) -> None:
    server.plays(turn)
    heard = ask(QUESTION, llm__timeout_s=SHORTLY, llm__retries=2)
    assert is_quoted(heard), heard
    assert "said nothing for 0.3 s" in heard.warnings
    assert server.request().gone.wait(10), "its connection is closed"
    assert len(server.asked) == 1, "nobody waits that long twice"


def test_a_model_that_is_slow_but_talks_is_waited_for(server: LlmServer, ask: Door) -> None:
    server.plays(words(RIGHT, every=0.25))
    heard = ask(QUESTION, llm__timeout_s=SHORTLY * 5)
    assert (heard.answer["mode"], heard.text) == ("llm", RIGHT)


@pytest.mark.parametrize(
    "turn",
    [*(fails(status, "busy", retry_after="0.01") for status in (408, 429, 500, 502, 503)), cuts()],
    ids=["408", "429", "500", "502", "503", "cut"],
)
def test_what_may_pass_is_asked_again(server: LlmServer, ask: Door, turn: Play) -> None:
    server.plays(turn, words(RIGHT))
    heard = ask(QUESTION, llm__retries=2)
    assert (heard.answer["mode"], heard.text) == ("llm", RIGHT)
    assert len(server.asked) == 2
    assert heard.warnings == ""


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_stays_is_not_asked_again(server: LlmServer, ask: Door, status: int) -> None:
    server.plays(fails(status), words(RIGHT))
    assert is_quoted(ask(QUESTION, llm__retries=2))
    assert len(server.asked) == 1


@pytest.mark.parametrize("asks", [{"retry_after": "0.2"}, {"retry_after_ms": "200"}], ids=["s", "ms"])
def test_a_provider_is_left_alone_for_as_long_as_it_asks(
    server: LlmServer, ask: Door, asks: dict[str, str]
) -> None:
    server.plays(fails(429, **asks), words(RIGHT))
    assert ask(QUESTION, llm__retries=2).answer["mode"] == "llm"
    first, second = server.asked
    assert second.at - first.at >= 0.2


@pytest.mark.everywhere
def test_an_answer_that_began_is_not_asked_for_again(server: LlmServer, ask: Door) -> None:
    server.plays(cuts("The launch is on"), words(RIGHT))
    heard = ask(QUESTION, llm__retries=2)
    assert is_quoted(heard)
    assert len(server.asked) == 1
    # The command line hands on the whole alone; nobody reads quotes as the rest of the sentence.
    assert heard.said in ("The launch is on", heard.text)


@pytest.mark.everywhere
def test_nobody_there(ask: Door) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    heard = ask(QUESTION, llm__base_url=f"http://127.0.0.1:{port}/v1")
    assert is_quoted(heard)
    assert f"127.0.0.1:{port}" in heard.warnings
    assert "is it running" in heard.warnings


@pytest.mark.parametrize(
    ("given", "reason"), rows(__file__, "a_model_that_cannot_be_had_is_told_at_each_answer")
)
def test_a_model_that_cannot_be_had_is_told_at_each_answer(
    server: LlmServer, ask: Door, given: dict[str, str], reason: str
) -> None:
    heard = ask(QUESTION, **given)
    assert is_quoted(heard), heard
    assert reason in heard.warnings
    assert server.connections == 0


@pytest.mark.everywhere
def test_the_key_is_sent_and_never_shown(server: LlmServer, ask: Door) -> None:
    server.key = "sk-right"
    server.plays(words(RIGHT))
    assert ask(QUESTION, llm__api_key="sk-right").answer["mode"] == "llm"
    heard = ask(QUESTION, llm__api_key="sk-wrong-0123456789")
    assert is_quoted(heard)
    assert "NOTEHOP_LLM__API_KEY" in heard.warnings
    assert "sk-wrong" not in str(heard.answer)
