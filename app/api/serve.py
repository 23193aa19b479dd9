"""Runs an app on a socket until it is told to stop.

Touches: network (listens).
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import NoReturn

import uvicorn
from fastapi import FastAPI

from notehop.app.api.desk import Desks
from notehop.app.api.protocol import HEAD_BYTES, HEAD_SECONDS, GuardedProtocol

GRACE = 5
"""Seconds that running requests are given to end."""

LAST_WORDS = 1
"""Seconds of them in which those that have not ended are told so."""

SWITCH = 0.0001
"""Seconds after which a thread that computes lets another one go on. The event loop waits for that many
times a request: with Python's 0.005, /health waited for a second behind 150 questions."""

CONNECTIONS = 1_000
"""Connections that are held at once; more are refused with 503."""


def serve(
    app: FastAPI,
    listening: socket.socket,
    started: Callable[[], None],
    until: threading.Event | None = None,
) -> None:
    """Serve an app of :func:`notehop.app.api.app.create_app` until SIGINT or SIGTERM.

    Requests that run then are answered first; streams end with an ``error`` event that says why.

    :param listening: open still at the end: who connects between two apps waits for the next.
    :param started: called once connections are taken.
    :param until: set, it ends the serving too.
    """
    # What it says at the level "info" is said by the command already.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    server = server_of(app, started)
    if until is not None:
        threading.Thread(target=_ended, args=(server, until), daemon=True).start()
    # uvicorn raises the signal again once it has shut down; that is no failure.
    before, interval = signal.signal(signal.SIGTERM, _stop), sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        server.run(sockets=[listening.dup()])
    except KeyboardInterrupt:
        return
    finally:
        sys.setswitchinterval(interval)
        signal.signal(signal.SIGTERM, before)


def server_of(
    app: FastAPI,
    started: Callable[[], None] = lambda: None,
    *,
    head_seconds: float = HEAD_SECONDS,
) -> uvicorn.Server:
    """The server of an app, not running yet.

    :param head_seconds: that a client has for the head of a request.
    """
    config = uvicorn.Config(
        app,
        http=partial(GuardedProtocol, head_seconds=head_seconds),  # type: ignore[arg-type]
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
    return _Server(config, started, app.state.desks)


class _Server(uvicorn.Server):
    """A server that tells when it takes connections, and when it goes."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None], desks: Desks) -> None:
        super().__init__(config)
        self._started = started
        self._desks = desks

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Streams would go on for as long as their answer takes.
        self._desks.close()
        loop = asyncio.get_running_loop()
        last = loop.call_later(GRACE - LAST_WORDS, self._desks.give_up)
        await super().shutdown(sockets)
        last.cancel()


def _ended(server: uvicorn.Server, until: threading.Event) -> None:
    until.wait()
    server.should_exit = True


def _stop(signum: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    sys.exit(0)
