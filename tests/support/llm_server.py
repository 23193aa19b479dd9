"""A real HTTP server on loopback that speaks OpenAI's chat-completions protocol, by a script.

Each request gets the next :class:`Turn`, the last of them again and again. What came is in
``requests``: bodies, headers, when each piece went out, and when the client left. Times are of
``time.monotonic``, which is one clock for all processes of a machine.

Touches: network (loopback).
"""

from __future__ import annotations

import json
import math
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
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

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float
    sent: list[float] = field(default_factory=list)
    """When each text of the turn was on its way."""
    left: float | None = None
    """When the client closed the connection before it had all."""
    gone: threading.Event = field(default_factory=threading.Event)
    """Set when the client has left before it had all."""
    over: threading.Event = field(default_factory=threading.Event)
    """Set when the turn has ended, however."""

    @property
    def prompt(self) -> str:
        return "\n".join(_text(message.get("content")) for message in self.body["messages"])

    @property
    def streamed(self) -> bool:
        return bool(self.body.get("stream"))


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


class LlmServer:
    def __init__(self) -> None:
        self.requests: list[Seen] = []
        self.connections = 0
        """How many were opened, whether anything was asked in them or not."""
        self.models = ["scripted-1"]
        self.key: str | None = None
        """What clients must send as their key; None: anything goes."""
        self.faults: list[BaseException] = []
        self.ended = threading.Event()
        self._plays: list[Play] = [says("Nothing was written down.")]
        self._told = threading.Condition()
        self.http = _Server(self)

    @property
    def port(self) -> int:
        return int(self.http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def plays(self, *plays: Play) -> None:
        """Answer so from now on, a turn for each request, and the last to all that follow."""
        with self._told:
            self._plays = list(plays)

    @property
    def asked(self) -> list[Seen]:
        return [seen for seen in self.requests if seen.path.endswith("/chat/completions")]

    def request(self, number: int = 1) -> Seen:
        """The so-many-th request for a completion, waiting until it is there."""
        with self._told:
            if not self._told.wait_for(lambda: len(self.asked) >= number, PATIENCE):
                raise AssertionError(f"{len(self.asked)} requests came, not {number}")
            return self.asked[number - 1]

    def note(self, seen: Seen) -> None:
        with self._told:
            self.requests.append(seen)
            self._told.notify_all()

    def turn(self, seen: Seen) -> Turn:
        with self._told:
            play = self._plays.pop(0) if len(self._plays) > 1 else self._plays[0]
        return play if isinstance(play, Turn) else play(seen)


@contextmanager
def llm_server(*plays: Play) -> Iterator[LlmServer]:
    """Serve a script, until the end of the block; a fault of the server itself is raised there."""
    server = LlmServer()
    if plays:
        server.plays(*plays)
    thread = threading.Thread(target=server.http.serve_forever, args=(0.02,), name="llm-server")
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.http.shutdown()
        thread.join()
        server.http.hang_up()
        server.http.server_close()
    if server.faults:
        raise server.faults[0]


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 64

    def __init__(self, script: LlmServer) -> None:
        self.script = script
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self.script.connections += 1
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        fault = sys.exception()
        if fault is not None and not isinstance(fault, ConnectionError):
            self.script.faults.append(fault)


class _Left(Exception):
    """The client closed the connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        seen = self._seen({})
        listed = [{"id": name, "object": "model"} for name in self.server.script.models]
        if self._allowed():
            if self.path == "/v1/models":
                self._whole(200, {"object": "list", "data": listed})
            else:
                self._whole(404, {"error": {"message": f"no such path: {self.path}"}})
        seen.over.set()

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        seen = self._seen(json.loads(raw))
        try:
            if not self._allowed():
                return
            if self.path != "/v1/chat/completions":
                self._whole(404, {"error": {"message": f"no such path: {self.path}"}})
                return
            self._play(self.server.script.turn(seen), seen)
        except (_Left, ConnectionError):
            self.close_connection = True
            seen.left = time.monotonic()
            seen.gone.set()
        finally:
            seen.over.set()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _seen(self, body: dict[str, Any]) -> Seen:
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(self.command, self.path, headers, body, time.monotonic())
        self.server.script.note(seen)
        return seen

    def _allowed(self) -> bool:
        key = self.server.script.key
        if key is None or self.headers.get("Authorization") == f"Bearer {key}":
            return True
        error = {"message": "Incorrect API key provided.", "code": "invalid_api_key"}
        self._whole(401, {"error": error})
        return False

    def _play(self, turn: Turn, seen: Seen) -> None:
        if turn.before is CUT:
            self._cut()
            return
        self._pause(turn.before)
        if turn.status != 200 or turn.body is not None:
            self._whole(turn.status, turn.body, turn.headers)
        elif seen.streamed:
            self._stream(turn, seen)
        else:
            self._at_once(turn, seen)

    def _stream(self, turn: Turn, seen: Seen) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._send(_event(seen, {"role": "assistant", "content": ""}), turn.split)
        for step in turn.steps:
            if step is CUT:
                self._cut()
                return
            if isinstance(step, str):
                seen.sent.append(time.monotonic())
                self._send(_event(seen, {"content": step}), turn.split)
            elif isinstance(step, dict):
                self._send(_event(seen, step), turn.split)
            elif isinstance(step, bytes):
                self._send(step, turn.split)
            else:
                self._pause(step)
        if turn.finish is not None:
            self._send(_event(seen, {}, turn.finish), turn.split)
            if (seen.body.get("stream_options") or {}).get("include_usage"):
                self._send(_data({**_head(seen), "choices": [], "usage": _usage(turn, seen)}), 0)
            self._send(b"data: [DONE]\n\n", turn.split)
        self.wfile.write(b"0\r\n\r\n")

    def _at_once(self, turn: Turn, seen: Seen) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": _said(turn)}
        for step in turn.steps:
            if step is CUT:
                self._cut()
                return
            if isinstance(step, dict):
                message |= step
            elif isinstance(step, bytes):
                # What would be an event of a stream is the whole of a reply; a comment is nothing.
                if step.strip() and not step.startswith(b":"):
                    self._whole(200, step.removeprefix(b"data: ").strip())
                    return
            elif not isinstance(step, str):
                self._pause(step)
        seen.sent.append(time.monotonic())
        choice = {"index": 0, "message": message, "finish_reason": turn.finish}
        head = _head(seen) | {"object": "chat.completion"}
        self._whole(200, {**head, "choices": [choice], "usage": _usage(turn, seen)})

    def _whole(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
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
        while not self.server.script.ended.is_set():
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


def _head(seen: Seen) -> dict[str, Any]:
    name = seen.body.get("model", "")
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": name}


def _event(seen: Seen, delta: Mapping[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _data({**_head(seen), "choices": [choice]})


def _data(value: Any) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def _usage(turn: Turn, seen: Seen) -> dict[str, int]:
    """Tokens, as if each word were one."""
    asked, said = len(seen.prompt.split()), len(_said(turn).split())
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _said(turn: Turn) -> str:
    return "".join(step for step in turn.steps if isinstance(step, str))


def _text(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(str(part.get("text", "")) for part in content)
