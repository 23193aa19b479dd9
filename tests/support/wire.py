"""A server on loopback that says what a test wrote down, byte for byte, and keeps what it got."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Wire:
    """One answer a request, the last for all that follow; ``None`` closes without a word."""

    answers: list[bytes | None]
    port: int = 0
    heads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    left: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def said(self) -> Any:
        return json.loads(self.bodies[-1])

    def header(self, name: str) -> str | None:
        for line in self.heads[-1].split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name:
                return value.strip()
        return None


def reply(
    status: int,
    body: bytes | dict[str, Any] = b"",
    *,
    kind: str = "application/json",
    **headers: str,
) -> bytes:
    """A whole answer; underscores in names of headers are hyphens."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [
        f"HTTP/1.1 {status} Said",
        f"Content-Type: {kind}",
        f"Content-Length: {len(content)}",
        "Connection: close",
        *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def stalling(first: bytes) -> bytes:
    """The beginning of an answer whose rest never comes."""
    return (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n"
        + first
    )


@contextmanager
def wire(*answers: bytes | None, tls: ssl.SSLContext | None = None) -> Iterator[Wire]:
    """Listen until the end of the ``with``."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Wire(list(answers), listening.getsockname()[1])
        threading.Thread(target=_serve, args=(listening, server, tls), daemon=True).start()
        yield server
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)


def _serve(listening: socket.socket, server: Wire, tls: ssl.SSLContext | None) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        threading.Thread(target=_answer, args=(connection, server, tls), daemon=True).start()


def _secured(plain: socket.socket, tls: ssl.SSLContext | None) -> socket.socket:
    return plain if tls is None else tls.wrap_socket(plain, server_side=True)


def _answer(plain: socket.socket, server: Wire, tls: ssl.SSLContext | None) -> None:
    with plain, suppress(OSError), _secured(plain, tls) as connection:
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65_536)
            if not piece:
                return
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(
            (
                int(line.split(b":")[1])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length")
            ),
            0,
        )
        while len(body) < length:
            body += connection.recv(65_536)
        server.heads.append(head.decode())
        server.bodies.append(body)
        answer = server.answers[min(len(server.bodies), len(server.answers)) - 1]
        if answer is None:
            return
        connection.sendall(answer)
        if b"Content-Length: 9999" in answer:
            # Wait for the other side to hang up.
            connection.settimeout(20)
            connection.recv(1)
            server.left.set()
