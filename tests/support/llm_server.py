"""A real HTTP server on loopback that speaks OpenAI's chat-completions protocol, by a script.

Each request gets the next :class:`Turn`, the last of them again and again. What came is in
``asked``. Times are of ``time.monotonic``, which is one clock for all processes of a machine.

Touches: network (loopback).
"""

import json
import math
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

FOREVER: Final = math.inf
"""A pause that ends when the client leaves, or the server."""

CUT: Final = object()
"""Ends the connection at once, as a machine that loses its power does."""

PATIENCE = 20.0
"""Seconds in which what should happen has happened, or never will."""


@dataclass(frozen=True, slots=True)
class Turn:
    """How one request is answered.

    :param steps: in order: a text is said; bytes go out as they are, between the events of a
        stream; a number is a pause in seconds; an event is waited for; :data:`CUT`.
    :param before: what comes before the head of the response: a pause in seconds, an event that is
        waited for, or :data:`CUT`.
    :param finish: the reason of the last event; None: the stream has neither it nor ``[DONE]``.
    :param body: the whole response, for one that is not 200.
    :param split: bytes that are written at once at most; 0: each event in one write.
    """

    steps: tuple[Any, ...] = ()
    before: Any = 0.0
    finish: str | None = "stop"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    split: int = 0


@dataclass(slots=True)
class Seen:
    """A request as it came, and what became of it."""

    headers: dict[str, str]
    body: dict[str, Any]
    at: float
    sent: int = 0
    """Texts of the turn that were on their way."""
    gone: threading.Event = field(default_factory=threading.Event)
    """Set when the client has left before it had all."""

    @property
    def prompt(self) -> str:
        return "\n".join(str(message["content"]) for message in self.body["messages"])


Play = Turn | Callable[[Seen], Turn]


def says(*steps: Any, finish: str | None = "stop", every: float = 0.0, split: int = 0) -> Turn:
    """A model that says these texts, with so many seconds before each."""
    spaced = [part for step in steps for part in ((every, step) if every else (step,))]
    return Turn(tuple(spaced), finish=finish, split=split)


def words(text: str, *, every: float = 0.0) -> Turn:
    """A model that says a text word by word, as models do."""
    first, *rest = text.split(" ")
    return says(first, *(f" {word}" for word in rest), every=every)


def stalls(*steps: Any) -> Turn:
    """A model that says this and then nothing more, its connection open."""
    return Turn((*steps, FOREVER))


def never_begins() -> Turn:
    """A server that takes the request and says nothing."""
    return Turn(before=FOREVER)


def cuts(*steps: Any) -> Turn:
    """A server that says this and is gone; with nothing to say it is gone before its head."""
    return Turn((*steps, CUT)) if steps else Turn(before=CUT)


def fails(status: int, message: str = "no", *, code: str | None = None, **headers: str) -> Turn:
    """A server that refuses; ``retry_after="1"`` is the header ``Retry-After: 1``."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    dressed = {name.replace("_", "-").title(): value for name, value in headers.items()}
    return Turn(status=status, headers=dressed, body={"error": error})


def overflows(window: int, then: Turn) -> Callable[[Seen], Turn]:
    """A model with a window of so many words, which refuses what is longer as OpenAI does."""

    def play(seen: Seen) -> Turn:
        count = len(seen.prompt.split())
        if count <= window:
            return then
        return fails(
            400,
            f"This model's maximum context length is {window} tokens. However, your messages "
            f"resulted in {count} tokens. Please reduce the length of the messages.",
            code="context_length_exceeded",
        )

    return play


def calls_a_tool(name: str = "send_mail", **arguments: str) -> Turn:
    """A model that answers with a call of a tool that nobody offered it."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    return Turn(({"tool_calls": [call]},), finish="tool_calls")


class LlmServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[Seen] = []
        self.connections = 0
        """How many were opened, whether anything was asked in them or not."""
        self.key: str | None = None
        """What clients must send as their key; None: anything goes."""
        self.ended = threading.Event()
        self._plays: list[Play] = []
        self._told = threading.Condition()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def plays(self, *plays: Play) -> None:
        """Answer so from now on, a turn for each request, and the last to all that follow."""
        with self._told:
            self._plays = list(plays)

    def forget(self) -> None:
        """Begin as a server that nobody has asked anything yet."""
        self.asked.clear()
        self.connections, self.key = 0, None
        self.plays(says("Nothing was written down."))

    def request(self, number: int = 1) -> Seen:
        """The so-many-th request for a completion, waiting until it is there."""
        with self._told:
            if not self._told.wait_for(lambda: len(self.asked) >= number, PATIENCE):
                raise AssertionError(f"{len(self.asked)} requests came, not {number}")
            return self.asked[number - 1]

    def turn(self, seen: Seen) -> Turn:
        with self._told:
            play = self._plays.pop(0) if len(self._plays) > 1 else self._plays[0]
        return play if isinstance(play, Turn) else play(seen)

    def note(self, seen: Seen) -> None:
        with self._told:
            self.asked.append(seen)
            self._told.notify_all()

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def llm_server() -> Iterator[LlmServer]:
    """Serve, until the end of the block."""
    with LlmServer() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.ended.set()
        server.shutdown()


class _Left(Exception):
    """The client closed the connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: LlmServer

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(headers, json.loads(raw), time.monotonic())
        assert self.path == "/v1/chat/completions"
        assert seen.body["stream"]
        self.server.note(seen)
        try:
            if self.server.key not in (None, headers.get("authorization", "")[len("Bearer ") :]):
                message = {"message": "Incorrect API key provided.", "code": "invalid_api_key"}
                self._whole(401, {"error": message}, {})
            else:
                self._play(self.server.turn(seen), seen)
        except (_Left, ConnectionError):
            self.close_connection = True
            seen.gone.set()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _play(self, turn: Turn, seen: Seen) -> None:
        if turn.before is CUT:
            self._cut()
            return
        self._pause(turn.before)
        if turn.status != 200:
            self._whole(turn.status, turn.body, turn.headers)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._send(_event({"role": "assistant", "content": ""}), turn.split)
        for step in turn.steps:
            if step is CUT:
                self._cut()
                return
            if isinstance(step, str):
                seen.sent += 1
                self._send(_event({"content": step}), turn.split)
            elif isinstance(step, dict):
                self._send(_event(step), turn.split)
            elif isinstance(step, bytes):
                self._send(step, turn.split)
            else:
                self._pause(step)
        if turn.finish is not None:
            self._send(_event({}, turn.finish) + b"data: [DONE]\n\n", turn.split)
        self.wfile.write(b"0\r\n\r\n")

    def _whole(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        told = {**headers, "Content-Type": "application/json", "Content-Length": str(len(raw))}
        for name, value in told.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def _send(self, raw: bytes, split: int) -> None:
        for start in range(0, len(raw), split or len(raw)):
            part = raw[start : start + (split or len(raw))]
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))

    def _pause(self, step: float | threading.Event) -> None:
        """Wait, as long as the client is there.

        :raises _Left: if it is not.
        """
        until = time.monotonic() + step if isinstance(step, int | float) else FOREVER
        while not self.server.ended.is_set():
            left = until - time.monotonic()
            if left <= 0 or (isinstance(step, threading.Event) and step.is_set()):
                return
            readable, _, _ = select.select([self.connection], [], [], min(left, 0.005))
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                raise _Left
        if until == FOREVER:
            raise _Left

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


def _event(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    said = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "scripted-1"}
    return b"data: " + json.dumps({**said, "choices": [choice]}, ensure_ascii=False).encode() + b"\n\n"
