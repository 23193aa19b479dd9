"""The scripted server speaks the protocol as its own maker's client understands it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest

from tests.llm_server import (
    PATIENCE,
    LlmServer,
    Play,
    calls_a_tool,
    cuts,
    fails,
    llm_server,
    never_begins,
    overflows,
    says,
    stalls,
    words,
)

ASKED: list[Any] = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": "What is Atlas?"},
]


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with llm_server() as held:
        yield held


@pytest.fixture
def client(server: LlmServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        base_url=server.url, api_key="sesame", max_retries=0, timeout=PATIENCE
    ) as held:
        yield held


def streamed(client: openai.OpenAI, **more: Any) -> Iterator[Any]:
    return iter(
        client.chat.completions.create(model="scripted-1", messages=ASKED, stream=True, **more)
    )


def text_of(chunks: Iterator[Any]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


def test_an_answer_comes_whole(server: LlmServer, client: openai.OpenAI) -> None:
    server.plays(says("A map ", "project [1]."))
    reply = client.chat.completions.create(model="scripted-1", messages=ASKED)
    assert reply.choices[0].message.content == "A map project [1]."
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage is not None
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (5, 4)
    (seen,) = server.asked
    assert seen.prompt == "Be short.\nWhat is Atlas?"
    assert seen.headers["authorization"] == "Bearer sesame"
    assert not seen.streamed


@pytest.mark.parametrize("split", [0, 1, 7])
def test_an_answer_comes_in_pieces(server: LlmServer, client: openai.OpenAI, split: int) -> None:
    server.plays(says("Zwölf ", "– 十二 ", "[1].", finish="length", split=split))
    chunks = list(streamed(client, stream_options={"include_usage": True}))
    assert text_of(iter(chunks)) == "Zwölf – 十二 [1]."
    assert [c.choices[0].delta.content for c in chunks if c.choices][1:4] == [
        "Zwölf ",
        "– 十二 ",
        "[1].",
    ]
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "length"
    assert chunks[-1].usage.completion_tokens == 4
    assert len(server.asked[0].sent) == 3


def test_a_piece_waits_for_what_the_test_says(server: LlmServer, client: openai.OpenAI) -> None:
    gate = threading.Event()
    server.plays(says("one ", gate, "two"))
    chunks = streamed(client)
    assert [next(chunks).choices[0].delta.content for _ in range(2)] == ["", "one "]
    assert len(server.request().sent) == 1
    gate.set()
    assert text_of(chunks) == "two"


def test_turns_are_taken_in_order_and_the_last_stays(
    server: LlmServer, client: openai.OpenAI
) -> None:
    server.plays(says("one"), lambda seen: words(f"{len(seen.prompt)} letters"))
    told = [
        client.chat.completions.create(model="m", messages=ASKED).choices[0].message.content
        for _ in range(3)
    ]
    assert told == ["one", "24 letters", "24 letters"]


@pytest.mark.parametrize(
    ("play", "error"),
    [
        pytest.param(fails(400), openai.BadRequestError, id="400"),
        pytest.param(fails(401), openai.AuthenticationError, id="401"),
        pytest.param(fails(404, code="model_not_found"), openai.NotFoundError, id="404"),
        pytest.param(fails(429, retry_after="7"), openai.RateLimitError, id="429"),
        pytest.param(fails(500), openai.InternalServerError, id="500"),
        pytest.param(fails(503), openai.InternalServerError, id="503"),
        pytest.param(overflows(3, says("")), openai.BadRequestError, id="overflow"),
        pytest.param(cuts(), openai.APIConnectionError, id="cut"),
    ],
)
def test_it_fails_as_the_real_one(
    server: LlmServer, client: openai.OpenAI, play: Play, error: type[openai.OpenAIError]
) -> None:
    server.plays(play)
    with pytest.raises(error) as caught:
        client.chat.completions.create(model="m", messages=ASKED)
    if isinstance(caught.value, openai.RateLimitError):
        assert caught.value.response.headers["retry-after"] == "7"
    if isinstance(caught.value, openai.BadRequestError) and caught.value.code is not None:
        assert caught.value.code == "context_length_exceeded"


def test_a_window_takes_what_fits(server: LlmServer, client: openai.OpenAI) -> None:
    server.plays(overflows(5, says("fits")))
    reply = client.chat.completions.create(model="m", messages=ASKED)
    assert reply.choices[0].message.content == "fits"


def test_a_connection_is_cut_in_the_middle(server: LlmServer, client: openai.OpenAI) -> None:
    server.plays(cuts("one "))
    with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):
        list(streamed(client))


def test_a_broken_event_is_sent_as_it_is(server: LlmServer, client: openai.OpenAI) -> None:
    server.plays(says("one ", b"data: {not json\n\n", "two"))
    with pytest.raises(ValueError, match="Expecting property name"):
        list(streamed(client))


@pytest.mark.parametrize("play", [never_begins(), stalls("one ")], ids=["at once", "later"])
def test_a_stall_lasts_until_the_client_goes(server: LlmServer, play: Play) -> None:
    server.plays(play)
    began = time.monotonic()
    with (
        openai.OpenAI(base_url=server.url, api_key="-", max_retries=0, timeout=0.1) as impatient,
        pytest.raises((openai.APITimeoutError, httpx.ReadTimeout)),
    ):
        list(streamed(impatient))
    seen = server.request()
    assert seen.gone.wait(PATIENCE)
    assert seen.left is not None
    assert seen.left >= began + 0.1


def test_a_client_that_closes_in_the_middle_is_noticed(
    server: LlmServer, client: openai.OpenAI
) -> None:
    server.plays(stalls("one "))
    stream = client.chat.completions.create(model="m", messages=ASKED, stream=True)
    assert next(iter(stream)) is not None
    stream.close()
    assert server.request().gone.wait(PATIENCE)


def test_who_has_all_has_not_left(server: LlmServer, client: openai.OpenAI) -> None:
    server.plays(says("one"))
    assert text_of(streamed(client)) == "one"
    assert server.request().over.wait(PATIENCE)
    assert not server.request().gone.is_set()


def test_a_call_of_a_tool(server: LlmServer, client: openai.OpenAI) -> None:
    server.plays(calls_a_tool("send_mail", to="eve@example.org"))
    chunks = list(streamed(client))
    called = [c.choices[0].delta.tool_calls for c in chunks if c.choices[0].delta.tool_calls]
    assert called[0][0].function.name == "send_mail"
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


def test_models_are_listed_and_keys_are_checked(server: LlmServer, client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["scripted-1"]
    server.key = "other"
    with pytest.raises(openai.AuthenticationError):
        client.models.list()
    server.key = "sesame"
    assert client.chat.completions.create(model="m", messages=ASKED).choices


def test_a_connection_is_counted_before_anything_is_asked(server: LlmServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(b"GET /v1/models HTTP/1.0\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 200"
    assert server.connections == 1
    assert server.asked == []
