"""Takes the port of a server, or says who has it and what to do.

Touches: network (listens; asks what listens there).
"""

from __future__ import annotations

import errno
import http.client
import json
import os
import socket
from contextlib import closing, suppress
from typing import Any

from notehop.config.errors import NotehopError, UsageError

NEXT = 20
"""Ports after a taken one among which a free one is looked for."""

PATIENCE = 1.0
"""Seconds that what listens on a taken port has to say what it is."""


class PortTaken(NotehopError):
    """Another program listens there."""


def listen(host: str, port: int) -> socket.socket:
    """Take a port before anything slow is loaded, so that a taken one is known at once.

    :param port: 0 takes any free one.
    :raises UsageError: if the address is none of this machine.
    :raises PortTaken: if another program has it, with the next port that is free.
    :raises NotehopError: if the port is not allowed.
    """
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError) as exc:
        why = getattr(exc, "strerror", None) or "it is no name"
        raise UsageError(
            f"{host}: no address of this machine ({why}); name one with --host"
        ) from exc
    try:
        return _bound(family, kind, address)
    except OSError as exc:
        raise _unbound(host, port, exc) from exc


def url_of(listening: socket.socket, host: str) -> str:
    """The URL of a listening socket, with the port it was given."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}"


def _bound(family: int, kind: int, address: Any) -> socket.socket:
    listening = socket.socket(family, kind)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError:
        listening.close()
        raise
    return listening


def _unbound(host: str, port: int, exc: OSError) -> NotehopError:
    if exc.errno == errno.EADDRINUSE:
        free = _free_after(host, port)
        way = f"--port {free}" if free is not None else "--port 0, which takes any free one"
        return PortTaken(f"port {port} of {host} is taken by {_who(host, port)}; try {way}")
    if exc.errno == errno.EACCES:
        return NotehopError(f"port {port} is not allowed to you; name one above 1023 with --port")
    if exc.errno == errno.EADDRNOTAVAIL:
        return UsageError(f"{host}: no address of this machine; name one with --host")
    return NotehopError(f"{host}:{port}: cannot be listened on: {exc.strerror}")


def _free_after(host: str, port: int) -> int | None:
    for number in range(port + 1, min(port + 1 + NEXT, 65_536)):
        with suppress(OSError):
            family, kind, _, _, address = socket.getaddrinfo(
                host, number, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            _bound(family, kind, address).close()
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
