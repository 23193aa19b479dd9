"""Runs an app on a port until it is told to stop."""

from __future__ import annotations

import asyncio
import errno
import http.client
import json
import logging
import signal
import socket
import sys
from contextlib import closing, suppress

import uvicorn
from fastapi import FastAPI

from notehop.app.api.workers import Workers
from notehop.config.errors import NotehopError, UsageError

NEXT = 20  # ports after a taken one among which a free one is looked for
PATIENCE = 1.0  # seconds that what listens on a taken port has to say what it is


class PortTaken(NotehopError):
    """Another program listens there."""


def listen(host: str, port: int) -> socket.socket:
    """Take a port before anything slow is loaded, so that a taken one is known at once.

    :param port: 0 takes any free one.
    :raises UsageError: if the address is none of this machine, or the port is not allowed.
    :raises PortTaken: if another program has it, with the next port that is free.
    """
    try:
        return _bound(host, port)
    except (OSError, UnicodeError) as exc:
        if getattr(exc, "errno", None) == errno.EADDRINUSE:
            free = _free_after(host, port)
            way = f"--port {free}" if free is not None else "--port 0, which takes any free one"
            taken = f"port {port} of {host} is taken by {_who(host, port)}; try {way}"
            raise PortTaken(taken) from exc
        why = getattr(exc, "strerror", None) or "it is no name"
        other = "name another address with --host, or a port above 1023 with --port"
        raise UsageError(f"{host}:{port}: cannot be listened on ({why}); {other}") from exc


def url_of(listening: socket.socket, host: str) -> str:
    """The URL of a listening socket, with the port it was given."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}"


def _bound(host: str, port: int) -> socket.socket:
    family, _, _, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    return socket.create_server(address, family=family, backlog=128, dualstack_ipv6=both)


def _free_after(host: str, port: int) -> int | None:
    for number in range(port + 1, min(port + 1 + NEXT, 65_536)):
        with suppress(OSError):
            _bound(host, number).close()
            return number
    return None


def _who(host: str, port: int) -> str:
    """What a program says of itself that listens on a port."""
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    connection = http.client.HTTPConnection(here, port, timeout=PATIENCE)
    with closing(connection), suppress(OSError, http.client.HTTPException, ValueError):
        connection.request("GET", "/health", headers={"Host": f"127.0.0.1:{port}"})
        told = json.loads(connection.getresponse().read(10_000))
        if isinstance(told, dict) and {"live", "ready"} <= told.keys():
            vault = told.get("vault")
            return f"notehop, which serves {str(vault)[:100]!r}" if vault else "another notehop"
    return "another program"


HEAD_BYTES = 32_768  # bytes that the head of a request may have: many times what browsers send
GRACE = 5  # seconds that running requests are given to end

SWITCH = 0.0001
"""Seconds after which a thread that computes lets another one go on. The event loop waits for that many
times a request: with Python's 0.005, /health waited for a second behind 150 questions."""

CONNECTIONS = 1_000  # connections that are held at once; more are refused with 503


def server_of(app: FastAPI) -> uvicorn.Server:
    """The server of an app of :func:`notehop.app.api.app.create_app`, not running yet."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        # The log is set up by who runs this, and requests are logged by the app, without paths.
        log_config=None,
        access_log=False,
        server_header=False,
        # Anybody could say where a request comes from.
        proxy_headers=False,
        h11_max_incomplete_event_size=HEAD_BYTES,
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=GRACE,
    )
    return _Server(config, app.state.workers)


class _Server(uvicorn.Server):
    """A server whose streams end first when it goes, and what takes too long before it is gone."""

    def __init__(self, config: uvicorn.Config, workers: Workers) -> None:
        super().__init__(config)
        self._workers = workers

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._workers.close()
        # Just before uvicorn would break requests off without a word.
        late = asyncio.get_running_loop().call_later(GRACE - 1, self._workers.give_up)
        await super().shutdown(sockets)
        late.cancel()


def run(server: uvicorn.Server, listening: socket.socket) -> None:
    """Serve until ``should_exit`` of the server is set, SIGINT or SIGTERM.

    Requests that run then are answered first; streams end with an ``error`` event that says why.
    """
    # What it says at the level "info" is said by the command already.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    # uvicorn raises the signal again once it has shut down; that is no failure.
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        return
    finally:
        sys.setswitchinterval(interval)
        signal.signal(signal.SIGTERM, before)
