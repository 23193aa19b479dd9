"""Runs the API on a port until it is told to stop.

Touches: network (listens), terminal (standard error).
"""

from __future__ import annotations

import errno
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

import uvicorn

from app.api.app import Prove, Vault, create_app
from config.errors import NotehopError, UsageError

GRACE = 5
"""Seconds that running requests are given to end."""


def serve(
    vault: Vault,
    host: str,
    port: int,
    started: Callable[[str], None],
    prove: Prove | None = None,
) -> None:
    """Serve the vault until SIGINT or SIGTERM; requests that run then are answered first.

    :param port: 0 takes any free one.
    :param started: called with the URL once connections are taken.
    :param prove: answers the challenges of other programs; None answers none.
    :raises UsageError: if the address is not one of this machine.
    :raises NotehopError: if the port is taken or not allowed.
    """
    listening = listen(host, port)
    app = create_app(vault, host=host, prove=prove)
    config = uvicorn.Config(
        app,
        log_level=logging.WARNING,
        # Questions are private: they stand in no log.
        access_log=False,
        timeout_graceful_shutdown=GRACE,
    )
    server = _Server(config, lambda: started(url_of(listening, host)))
    # uvicorn raises the signal again once it has shut down; that is no failure.
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGTERM, before)
        listening.close()


def listen(host: str, port: int) -> socket.socket:
    """Take the port before anything slow is loaded, so that a taken one is known at once."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as exc:
        raise UsageError(
            f"{host}: no address of this machine ({exc.strerror}); name one with --host"
        ) from exc
    listening = socket.socket(family, kind)
    if os.name == "posix":
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen(128)
    except OSError as exc:
        listening.close()
        raise _unbound(host, port, exc) from exc
    return listening


def url_of(listening: socket.socket, host: str) -> str:
    """The URL of a listening socket, with the port it was given."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}"


class _Server(uvicorn.Server):
    """A server that tells when it takes connections."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._started()


def _unbound(host: str, port: int, exc: OSError) -> NotehopError:
    if exc.errno == errno.EADDRINUSE:
        return NotehopError(
            f"port {port} of {host} is taken, perhaps by another notehop serve; "
            "stop that one or name another port with --port"
        )
    if exc.errno == errno.EACCES:
        return NotehopError(f"port {port} is not allowed to you; name one above 1023 with --port")
    if exc.errno == errno.EADDRNOTAVAIL:
        return UsageError(f"{host}: no address of this machine; name one with --host")
    return NotehopError(f"{host}:{port}: cannot be listened on: {exc.strerror}")


def _stop(signum: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    sys.exit(0)
