"""The server as a whole: the API of a vault, the page, the protocol for agents, and who may ask."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from notehop.app.api.app import create_app, waiting_app
from notehop.app.api.errors import Refusal
from notehop.app.api.guard import is_loopback
from notehop.app.api.serve import PortTaken, listen, serve, url_of
from notehop.app.api.workers import Workers
from notehop.app.mcp.http import HttpTransport
from notehop.app.services.open_vault import Place
from notehop.app.services.running_server import Announcement, is_serving, read_running
from notehop.app.web import routes
from notehop.config.errors import IndexFailure, NotehopError, UsageError
from notehop.config.secrets import server_token

if TYPE_CHECKING:
    from notehop.app.services.index_process import FirstIndex
    from notehop.app.services.vault import VaultHandle

T = TypeVar("T")


class AlreadyServed(Exception):
    """A server answers for this place already, at ``url``."""

    def __init__(self, url: str, pid: int) -> None:
        super().__init__(url)
        self.url = url
        self.pid = pid


class PooledVault:
    """The vault for agents, who wait for their turn where all others do."""

    opened = True

    def __init__(self, vault: VaultHandle, workers: Workers) -> None:
        self._workers = workers
        self.open = lambda: vault
        self.capture = vault.capture

    async def run(self, work: Callable[[], T], *, slow: bool = False) -> T:
        """Have a thread do what blocks.

        :param slow: whether it is an answer.
        :raises NotehopError: what the work raises, or that there is no room for it.
        """
        pool = self._workers.answers if slow else self._workers.lookups
        try:
            return await pool.run(work)
        except Refusal as exc:
            raise NotehopError(exc.problem.detail) from exc


class VaultServer:
    """The port and the token of a server, taken before anything slow is loaded.

    :raises UsageError: if others could reach it without a token, or the address is none of ours.
    :raises AlreadyServed: if what has the port is a server of this place, with these settings.
    :raises NotehopError: if the port is taken or not allowed.
    """

    def __init__(self, place: Place) -> None:
        self._settings = place.settings.server
        self._token = server_token(self._settings)
        host, port = self._settings.host, self._settings.port
        if self._token is None and not is_loopback(host):
            raise UsageError(
                f"{host} can be reached from other machines, so clients must show a token: set "
                'NOTEHOP_SERVER__TOKEN="$(openssl rand -hex 32)", or name a file that holds one '
                "and only you can read with server.token_file; or leave --host out, to serve this "
                "machine only"
            )
        try:
            self._listening = listen(host, port)
        except PortTaken:
            running = read_running(place.layout)
            if running is not None and running.url.endswith(f":{port}") and is_serving(place):
                raise AlreadyServed(running.url, running.pid) from None
            raise

    @property
    def url(self) -> str:
        """Where the server will be found."""
        return url_of(self._listening, self._settings.host)

    @property
    def asks_for_token(self) -> bool:
        """Whether clients need one."""
        return self._token is not None

    def open(
        self, vault: VaultHandle, announced: Announcement, started: Callable[[], None]
    ) -> None:
        """Serve a vault until SIGINT or SIGTERM.

        :param announced: says where the server is, and lets the programs of its user in.
        :param started: called once connections are taken.
        """
        tokens = () if self._token is None else (self._token, announced.ticket)
        workers = Workers(self._settings)
        agents = HttpTransport(PooledVault(vault, workers), vault.name, workers.closing)
        app = create_app(
            vault,
            self._settings,
            tokens=tokens,
            prove=announced.prove,
            routers=(routes(vault, workers.lookups.run), agents.router),
            workers=workers,
        )
        try:
            serve(app, self._listening, started)
        finally:
            self._listening.close()

    def wait(self, first: FirstIndex, name: str, started: Callable[[], None]) -> None:
        """Make a first index, and answer meanwhile that it is being made.

        :param name: of the vault.
        :param started: called once connections are taken.
        :raises IndexFailure: if it fails.
        :raises KeyboardInterrupt: at SIGINT; at SIGTERM, SystemExit.
        """
        made = threading.Event()

        def make() -> None:
            first.run()
            made.set()

        tokens = () if self._token is None else (self._token,)
        app = waiting_app(name, self._settings, tokens, lambda: first.said)
        threading.Thread(target=make, name="notehop-first-index", daemon=True).start()
        try:
            serve(app, self._listening, started, made)
        finally:
            first.stop()
        if not made.is_set():
            raise KeyboardInterrupt
        if first.failure is not None:
            raise IndexFailure(first.failure)

    def __enter__(self) -> VaultServer:
        return self

    def __exit__(self, *_: object) -> None:
        """Let the port go."""
        self._listening.close()
