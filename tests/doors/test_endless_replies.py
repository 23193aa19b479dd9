"""A provider's reply has a limit in bytes and in time, however it comes, and is never unpacked."""

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from llama_index.core.llms import LLM

from tests.support.product import ProviderError, ProviderLLM, load_settings

pytestmark = pytest.mark.timeout(100)

PATIENCE = 0.4
"""Seconds that the model may say nothing; a reply may take five times as long."""

Send = Callable[[bytes], None]

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"


def event(text: str) -> bytes:
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}}
    said = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps(said | {"choices": [choice]}).encode() + b"\n\n"


@contextmanager
def serving(say: Callable[[Send], None]) -> Iterator[str]:
    """A server that says something after each request until its client leaves."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                with client, suppress(OSError):
                    client.settimeout(30)
                    client.recv(65_536)
                    say(client.sendall)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        listening.close()


def model(url: str, tmp_path: Path, **settings: object) -> LLM:
    values = {
        "llm.provider": "openai-compatible",
        "llm.model": "m",
        "llm.base_url": url,
        "llm.timeout_s": 20,
        "llm.retries": 0,
    }
    chosen = load_settings(overrides=values | {f"llm.{name}": value for name, value in settings.items()})
    return ProviderLLM(chosen, tmp_path)


def ask(url: str, tmp_path: Path, *, stream: bool, **settings: object) -> str:
    llm = model(url, tmp_path, **settings)
    if not stream:
        return str(llm.complete("Say."))
    return "".join(piece.delta or "" for piece in llm.stream_complete("Say."))


def over_and_over(piece: bytes) -> Callable[[Send], None]:
    def say(send: Send) -> None:
        send(STREAM)
        while True:
            send(piece)

    return say


def endless_json(send: Send) -> None:
    send(JSON + b'{"choices": [{"message": {"content": "')
    while True:
        send(b"a" * 65_536)


@pytest.mark.parametrize(
    ("say", "stream"),
    [
        pytest.param(over_and_over(b"a" * 65_536), True, id="one line"),
        pytest.param(over_and_over(event("word " * 100)), True, id="tokens"),
        pytest.param(over_and_over(event("") * 100), True, id="empty events"),
        pytest.param(over_and_over(b": busy\n\n" * 1_000), True, id="comments"),
        pytest.param(endless_json, False, id="JSON"),
    ],
)
def test_a_reply_without_end_is_given_up(tmp_path: Path, say: Callable[[Send], None], stream: bool) -> None:
    begun = time.monotonic()
    with serving(say) as url, pytest.raises(ProviderError, match="given up after 1,200,000 bytes"):
        ask(url, tmp_path, stream=stream, max_tokens=100)
    assert time.monotonic() - begun < 60


def dripping(start: bytes, drop: bytes) -> Callable[[Send], None]:
    def say(send: Send) -> None:
        send(start)
        while True:
            send(drop)
            time.sleep(PATIENCE / 8)

    return say


@pytest.mark.parametrize(
    ("say", "stream", "reason"),
    [
        pytest.param(dripping(STREAM, b"a"), True, "given up after 2 s", id="letters"),
        pytest.param(dripping(STREAM, b": busy\n\n"), True, "given up after 2 s", id="comments"),
        pytest.param(dripping(STREAM, event("")), True, "given up after 2 s", id="empty tokens"),
        pytest.param(dripping(JSON + b'{"a": "', b"a"), False, "given up after 2 s", id="JSON"),
        pytest.param(dripping(b"HTTP/1.1 200 OK\r\nX: ", b"a"), False, "after 2 s", id="head"),
        pytest.param(dripping(b"HTTP/1.1 500 No\r\n\r\n", b"a"), False, "status 500", id="error"),
    ],
)
def test_a_reply_that_drips_is_given_up(
    tmp_path: Path, say: Callable[[Send], None], stream: bool, reason: str
) -> None:
    with serving(say) as url, pytest.raises(ProviderError, match=reason):
        ask(url, tmp_path, stream=stream, timeout_s=PATIENCE)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("status", [b"200 OK", b"500 No"])
def test_a_compressed_reply_is_not_unpacked(tmp_path: Path, stream: bool, status: bytes) -> None:
    packed = gzip.compress(b"data: " + b"a" * 50_000_000)

    def say(send: Send) -> None:
        head = b"HTTP/1.1 %s\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n"
        send(head % status + b"Content-Length: %d\r\n\r\n" % len(packed) + packed)

    reason = "sends its reply compressed" if status.startswith(b"2") else "status 500"
    with serving(say) as url, pytest.raises(ProviderError, match=reason):
        ask(url, tmp_path, stream=stream)
