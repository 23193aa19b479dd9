"""A real server in a thread, and requests to it byte by byte: no client library tidies them up."""

import json
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI

from tests.support.product import server_of

PATIENCE = 60


@dataclass(frozen=True, slots=True)
class Said:
    """What a server replied; ``raw`` is all of it."""

    status: int
    headers: dict[str, str]
    body: bytes
    raw: bytes


@contextmanager
def serving(app: FastAPI) -> Iterator[int]:
    """The port at which an app is served from a thread, as ``notehop serve`` does it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = server_of(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.005)
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def say(port: int, raw: bytes) -> Said:
    """Send bytes and read until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        got = bytearray()
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(raw)  # it may be refused before all is sent
        with suppress(ConnectionResetError):
            while piece := connection.recv(65_536):
                got += piece
    head, _, body = bytes(got).partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    return Said(int(first.split(" ")[1]) if got else 0, headers, body, bytes(got))


def request(
    method: str,
    target: str,
    *,
    host: str | None = "127.0.0.1",
    headers: tuple[str, ...] = (),
    body: bytes | None = None,
    kind: str | None = "application/json",
) -> bytes:
    """The bytes of a request that ends its connection."""
    lines = [f"{method} {target} HTTP/1.1", "Connection: close"]
    lines += [] if host is None else [f"Host: {host}"]
    if body is not None:
        lines += [f"Content-Length: {len(body)}"]
        lines += [] if kind is None else [f"Content-Type: {kind}"]
    head = "\r\n".join([*lines, *headers]).encode("latin-1", "surrogateescape")
    return head + b"\r\n\r\n" + (body or b"")


def events_of(lines: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))
