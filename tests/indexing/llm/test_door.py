"""The door: what is sent again, what is not, what it is called, and what is written down."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import anyio
import httpx
import pytest

from notehop.config.errors import ProviderError
from notehop.indexing.llm.door import AsyncDoor, Door
from notehop.indexing.llm.egress import sending
from tests.indexing.llm.conftest import MakeGate, lines, post
from tests.indexing.llm.wire import reply, stalling, wire

OK = reply(200, {"text": "yes"})
BUSY = reply(503, {"error": {"message": "loading model"}})


def said(status: int, message: str, **more: str) -> bytes:
    """An error in the shape of OpenAI."""
    return reply(status, {"error": {"message": message, **more}})


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(said(408, "slow"), id="408"),
        pytest.param(said(409, "conflict"), id="409"),
        pytest.param(said(429, "slow down"), id="429"),
        pytest.param(said(500, "oh"), id="500"),
        pytest.param(BUSY, id="503"),
        pytest.param(said(529, "overloaded"), id="529"),
        pytest.param(None, id="closed-without-a-word"),
    ],
)
def test_what_may_pass_is_asked_again(first: bytes | None, make_gate: MakeGate) -> None:
    with wire(first, OK) as server:
        assert post(make_gate(server.url)).json() == {"text": "yes"}
    assert len(server.bodies) == 2
    assert server.bodies[0] == server.bodies[1] == b"{}"


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        pytest.param(
            said(400, "bad thing"), "other", "refuses this (status 400): bad thing", id="400"
        ),
        pytest.param(said(401, "no"), "key", "NOTEHOP_LLM__API_KEY", id="401"),
        pytest.param(said(403, "not here"), "key", "status 403", id="403"),
        pytest.param(
            said(404, "The model 'm' does not exist"), "model", "has no model 'm'", id="no-model"
        ),
        pytest.param(reply(404, b"<html>nope</html>"), "model", "llm.base_url", id="404-page"),
        pytest.param(
            said(400, "maximum context length is 4096 tokens", code="context_length_exceeded"),
            "overflow",
            "llm.context_window",
            id="overflow",
        ),
        pytest.param(
            said(429, "You exceeded your current quota", code="insufficient_quota"),
            "rate",
            "no credit left",
            id="no-credit",
        ),
        pytest.param(
            reply(429, {"error": "later"}, Retry_After="3600"),
            "rate",
            "no more requests",
            id="an-hour",
        ),
        pytest.param(
            reply(302, b"", Location="http://192.0.2.1/"), "other", "elsewhere", id="redirect"
        ),
        pytest.param(reply(307, b"", Location="/other"), "other", "elsewhere", id="redirect-here"),
    ],
)
def test_what_will_not_pass_is_asked_once(
    answer: bytes, kind: str, words: str, make_gate: MakeGate
) -> None:
    with wire(answer) as server, pytest.raises(ProviderError) as caught:
        post(make_gate(server.url))
    assert caught.value.kind == kind
    assert words in str(caught.value)
    assert f"127.0.0.1:{server.port}" in str(caught.value)
    assert len(server.bodies) == 1


def test_tries_end(make_gate: MakeGate, tmp_path: Path) -> None:
    with wire(BUSY) as server, pytest.raises(ProviderError) as caught:
        post(make_gate(server.url, retries=2))
    assert caught.value.kind == "server"
    assert "loading model" in str(caught.value)
    assert len(server.bodies) == 3
    assert [line["attempt"] for line in lines(tmp_path) if "attempt" in line] == [1, 2, 3]
    assert {line["status"] for line in lines(tmp_path) if "status" in line} == {503}


def test_a_provider_that_says_when_is_waited_for(make_gate: MakeGate) -> None:
    with wire(reply(429, {"error": "later"}, Retry_After="0.4"), OK) as server:
        started = time.monotonic()
        post(make_gate(server.url))
    assert time.monotonic() - started >= 0.4


def test_no_retries_means_none(make_gate: MakeGate) -> None:
    with wire(BUSY, OK) as server, pytest.raises(ProviderError):
        post(make_gate(server.url, retries=0))
    assert len(server.bodies) == 1


def test_an_answer_that_began_is_not_asked_for_again(make_gate: MakeGate, tmp_path: Path) -> None:
    cut = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nhalf of it"
    with wire(cut, OK) as server, pytest.raises(ProviderError) as caught:
        post(make_gate(server.url))
    assert caught.value.kind == "server"
    assert "in the middle of its answer" in str(caught.value)
    assert len(server.bodies) == 1
    assert lines(tmp_path)[-1] | {"bytes_in": 10, "error": "server"} == lines(tmp_path)[-1]


def test_silence_is_given_up_and_not_repeated(make_gate: MakeGate) -> None:
    with wire(stalling(b"")) as server, pytest.raises(ProviderError) as caught:
        post(make_gate(server.url, timeout_s=0.3))
    assert caught.value.kind == "timeout"
    assert "said nothing for 0.3 s" in str(caught.value)
    assert len(server.bodies) == 1


def test_nobody_there(make_gate: MakeGate) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ProviderError, match="is Ollama running") as caught:
        post(make_gate(f"http://127.0.0.1:{port}", provider="ollama"))
    assert caught.value.kind == "refused"


def test_a_stream_that_nobody_waits_for_is_closed(make_gate: MakeGate, tmp_path: Path) -> None:
    given_up = threading.Event()
    with wire(stalling(b"data: 1\n")) as server:
        gate = make_gate(server.url)
        with (
            sending(["a.md"], purpose="answer", cancelled=given_up.is_set),
            httpx.Client(transport=Door(gate), trust_env=False) as client,
            client.stream("POST", f"{server.url}/chat", content=b"{}") as answer,
        ):
            pieces = answer.iter_bytes()
            assert next(pieces) == b"data: 1\n"
            given_up.set()
            with pytest.raises(ProviderError) as caught:
                next(pieces)
        assert caught.value.kind == "cancelled"
        assert server.left.wait(5)
    assert lines(tmp_path)[-1]["error"] == "cancelled"


def test_nobody_waits_before_it_began(make_gate: MakeGate, tmp_path: Path) -> None:
    with (
        wire(OK) as server,
        sending([], purpose="answer", cancelled=lambda: True),
        pytest.raises(ProviderError) as caught,
    ):
        post(make_gate(server.url))
    assert caught.value.kind == "cancelled"
    assert server.bodies == []
    assert lines(tmp_path) == []


def test_only_needed_headers_are_sent_and_the_key_is_ours(make_gate: MakeGate) -> None:
    with wire(OK) as server:
        post(
            make_gate(server.url, key="sk-right"),
            authorization="Bearer sk-of-somebody-else",
            x_stainless_os="Linux",
            **{
                "openai-organization": "org-1",
                "x-custom": "1",
                "user-agent": "ollama-python/0.6 (x86_64 linux) Python/3.11",
            },
        )
        assert server.header("user-agent") == "notehop"
        assert server.header("authorization") == "Bearer sk-right"
        post(make_gate(server.url), authorization="Bearer sk-of-somebody-else")
        assert server.header("authorization") is None
        post(make_gate(server.url, provider="anthropic", key="sk-ant"), authorization="Bearer x")
        assert server.header("authorization") is None
        assert server.header("x-api-key") == "sk-ant"
    assert "org-1" not in server.heads[0]
    assert "stainless" not in server.heads[0].lower()


def test_a_key_that_is_repeated_is_not_shown(make_gate: MakeGate) -> None:
    answer = said(400, "Incorrect API key provided: sk-very-secret")
    with wire(answer) as server, pytest.raises(ProviderError) as caught:
        post(make_gate(server.url, key="sk-very-secret"))
    assert "sk-very-secret" not in str(caught.value)
    assert "(not shown)" in str(caught.value)


def test_the_proxy_of_the_environment_is_not_asked(
    make_gate: MakeGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    with wire(OK) as proxy, wire(OK) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        post(make_gate(server.url))
    assert proxy.bodies == []
    assert len(server.bodies) == 1


def test_without_blocking_it_is_the_same(make_gate: MakeGate, tmp_path: Path) -> None:
    async def ask(url: str) -> httpx.Response:
        gate = make_gate(url)
        async with httpx.AsyncClient(transport=AsyncDoor(gate), trust_env=False) as client:
            return await client.post(f"{url}/chat", content=b"{}")

    with wire(BUSY, OK) as server:
        assert anyio.run(ask, server.url).json() == {"text": "yes"}
        assert len(server.bodies) == 2
    with wire(said(401, "no")) as server, pytest.raises(ProviderError) as caught:
        anyio.run(ask, server.url)
    assert caught.value.kind == "key"
    with wire(reply(302, b"", Location="/x")) as server, pytest.raises(ProviderError):
        anyio.run(ask, server.url)
    assert [line["status"] for line in lines(tmp_path) if "ms" in line] == [503, 200, 401, 302]


def test_a_task_that_is_cancelled_closes_its_connection(make_gate: MakeGate) -> None:
    async def ask(url: str) -> None:
        gate = make_gate(url)
        async with httpx.AsyncClient(transport=AsyncDoor(gate), trust_env=False) as client:
            with anyio.move_on_after(0.3):
                await client.post(f"{url}/chat", content=b"{}")

    with wire(stalling(b"data: 1\n")) as server:
        anyio.run(ask, server.url)
        assert server.left.wait(5)
