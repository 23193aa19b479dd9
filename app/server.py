"""The server as a whole: the API of its vaults, the page, the protocol for agents, who may ask, and the
port that it runs on until it is told to stop.
"""

from __future__ import annotations

import errno
import logging
import signal
import socket
import sys
from collections.abc import Mapping
from types import FrameType

import uvicorn
from fastapi import FastAPI

from notehop.app.api.app import create_app
from notehop.app.api.middleware import is_loopback
from notehop.app.api.workers import Workers
from notehop.app.mcp.http import HttpTransport
from notehop.app.services.open_vault import Place
from notehop.app.services.running_server import Announcement
from notehop.app.services.vaults import Vaults, below
from notehop.app.web.routes import routes
from notehop.config.errors import NotehopError, UsageError
from notehop.config.secrets import server_token, token_variable, vault_tokens

HEAD_BYTES = 32_768  # bytes that the head of a request may have: many times what browsers send
GRACE = 5  # seconds that running requests are given to end
CONNECTIONS = 1_000  # connections that are held at once; more are refused with 503

SWITCH = 0.0001
"""Seconds after which a thread that computes lets another one go on. The event loop waits for that many
times a request: with Python's 0.005, /health waited for a second behind 150 questions."""


class VaultServer:
    """The port and the tokens of a server, taken before anything slow is loaded.

    :param places: of the vaults, by name, the default first.
    :ivar url: where the server will be found.
    :ivar asks_for_token: whether clients need one.
    :raises UsageError: if others could reach it without a token, a vault has one and the server has
        none, or the address is none of ours.
    :raises NotehopError: if the port is taken or not allowed.
    """

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._names = [*places]
        self._settings = places[self._names[0]].settings.server
        self._token = server_token(self._settings)
        self._of_vaults = vault_tokens(self._names)
        self.asks_for_token = self._token is not None
        host, port = self._settings.host, self._settings.port
        if self._token is None and self._of_vaults:
            raise UsageError(
                f"{token_variable(next(iter(self._of_vaults)))} is the token of one vault, and the "
                "server has none, so that all else would be open to everybody: set "
                'NOTEHOP_SERVER__TOKEN="$(openssl rand -hex 32)" too, which opens everything'
            )
        if self._token is None and not is_loopback(host):
            raise UsageError(
                f"{host} can be reached from other machines, so clients must show a token: set "
                'NOTEHOP_SERVER__TOKEN="$(openssl rand -hex 32)"; or leave --host out, to serve this '
                "machine only"
            )
        self._listening = listen(host, port)
        name = f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self._listening.getsockname()[1]}"

    def url_of(self, name: str) -> str:
        """Where a vault will be found: the default at the root."""
        return self.url if name == self._names[0] else self.url + below(name)

    def open(self, vaults: Vaults, announced: Mapping[str, Announcement]) -> None:
        """Serve vaults until SIGINT or SIGTERM; who connects before waits.

        Requests that run then are answered first; streams end with an ``error`` event that says why.

        :param announced: by name, says where the vault is, and lets the programs of its user in.
        """
        tokens = [] if self._token is None else [self._token]
        if tokens:
            tokens += [one.ticket for one in announced.values()]
            # Of one vault, every route is its own.
            tokens += self._of_vaults.values() if len(vaults) == 1 else ()
        workers = Workers(self._settings)
        agents = HttpTransport(vaults, workers.run, workers.closing)
        app = create_app(
            vaults,
            self._settings,
            workers,
            tokens=tokens,
            vault_tokens=self._of_vaults,
            routers=(routes(workers.run), agents.router),
        )
        self._run(server_of(app))

    def _run(self, server: uvicorn.Server) -> None:
        # What it says at the level "info" is said by the command already.
        logging.getLogger("uvicorn").setLevel(logging.WARNING)
        # uvicorn raises the signal again once it has shut down; that is no failure.
        before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH)
        try:
            server.run(sockets=[self._listening])
        except KeyboardInterrupt:
            return
        finally:
            sys.setswitchinterval(interval)
            signal.signal(signal.SIGTERM, before)

    def __enter__(self) -> VaultServer:
        return self

    def __exit__(self, *_: object) -> None:
        """Let the port go."""
        self._listening.close()


def listen(host: str, port: int) -> socket.socket:
    """Take a port before anything slow is loaded, so that a taken one is known at once.

    :param port: 0 takes any free one.
    :raises UsageError: if the address is none of this machine, or the port is not allowed.
    :raises NotehopError: if another program has it.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(address, family=family, backlog=128, dualstack_ipv6=both)
    except (OSError, UnicodeError) as exc:
        if getattr(exc, "errno", None) != errno.EADDRINUSE:
            why = getattr(exc, "strerror", None) or "it is no name"
            other = "name another address with --host, or a port above 1023 with --port"
            raise UsageError(f"{host}:{port}: cannot be listened on ({why}); {other}") from exc
        raise NotehopError(
            f"port {port} of {host} is taken by another program, or notehop serves there already "
            "(notehop status says where); name another with --port, or --port 0, which takes any free one"
        ) from exc


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
    """A server whose streams end first when it goes."""

    def __init__(self, config: uvicorn.Config, workers: Workers) -> None:
        super().__init__(config)
        self._workers = workers

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self.force_exit:
            # A second Ctrl-C: whatever is under way is cut off, and would be told with a traceback each.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._workers.close()
        await super().shutdown(sockets)
