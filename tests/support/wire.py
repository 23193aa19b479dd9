"""A server on loopback that says what a test wrote down, byte for byte, and keeps what it got."""

import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NEVER = b"Content-Length: 9999"


@dataclass
class Wire:
    """One answer a request, the last for all that follow."""

    answers: list[bytes]
    port: int = 0
    headers: list[Mapping[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    left: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def said(self) -> Any:
        return json.loads(self.bodies[-1])

    def header(self, name: str) -> str | None:
        return self.headers[-1].get(name)


def reply(status: int, body: bytes | dict[str, Any] = b"", *, kind: str = "application/json") -> bytes:
    """A whole answer."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"Content-Type: {kind}\r\nContent-Length: {len(content)}\r\nConnection: close"
    return f"HTTP/1.1 {status} Said\r\n{head}\r\n\r\n".encode() + content


def stalling(first: bytes) -> bytes:
    """The beginning of an answer whose rest never comes."""
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n%b\r\n\r\n" % NEVER + first


@contextmanager
def wire(*answers: bytes, tls: ssl.SSLContext | None = None) -> Iterator[Wire]:
    """Listen until the end of the ``with``."""
    script = Wire(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            script.headers.append(self.headers)
            script.bodies.append(self.rfile.read(length))
            answer = script.answers[min(len(script.bodies), len(script.answers)) - 1]
            self.close_connection = True
            self.wfile.write(answer)
            if NEVER in answer:  # wait for the other side to hang up
                self.connection.settimeout(20)
                self.connection.recv(1)
                script.left.set()

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that left is none."""

    with Server(("127.0.0.1", 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        script.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield script
        server.shutdown()
