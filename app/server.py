"""The server as a whole: the API of its vaults, the page, the protocol for agents, and who may ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from notehop.app.api.app import create_app
from notehop.app.api.guard import is_loopback
from notehop.app.api.serve import PortTaken, listen, run, server_of, url_of
from notehop.app.api.workers import Workers
from notehop.app.mcp.http import HttpTransport
from notehop.app.services.open_vault import Place
from notehop.app.services.running_server import Announcement, is_serving, read_running
from notehop.app.services.vaults import Vaults, below
from notehop.app.web.routes import routes
from notehop.config.errors import IndexFailure, UsageError
from notehop.config.secrets import server_token, token_variable, vault_tokens

if TYPE_CHECKING:
    import uvicorn


class AlreadyServed(Exception):
    """A server answers for this place already, at ``url``."""

    def __init__(self, url: str, pid: int) -> None:
        super().__init__(url)
        self.url = url
        self.pid = pid


class VaultServer:
    """The port and the tokens of a server, taken before anything slow is loaded.

    :param places: of the vaults, by name, the default first.
    :raises UsageError: if others could reach it without a token, a vault has one and the server has
        none, or the address is none of ours.
    :raises AlreadyServed: if what has the port is a server of these places, with these settings.
    :raises NotehopError: if the port is taken or not allowed.
    """

    def __init__(self, places: Mapping[str, Place]) -> None:
        self._names = [*places]
        self._server: uvicorn.Server | None = None
        self._failure: str | None = None
        self._settings = places[self._names[0]].settings.server
        self._token = server_token(self._settings)
        self._of_vaults = vault_tokens(self._names)
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
                'NOTEHOP_SERVER__TOKEN="$(openssl rand -hex 32)", or name a file that holds one '
                "and only you can read with server.token_file; or leave --host out, to serve this "
                "machine only"
            )
        try:
            self._listening = listen(host, port)
        except PortTaken:
            running = [read_running(place.layout) for place in places.values()]
            ours = [one for one in running if one is not None and urlsplit(one.url).port == port]
            if len(ours) == len(places) and all(map(is_serving, places.values())):
                raise AlreadyServed(ours[0].url, ours[0].pid) from None
            raise

    @property
    def url(self) -> str:
        """Where the server will be found."""
        return url_of(self._listening, self._settings.host)

    def url_of(self, name: str) -> str:
        """Where a vault will be found: the default at the root."""
        return self.url if name == self._names[0] else self.url + below(name)

    @property
    def asks_for_token(self) -> bool:
        """Whether clients need one."""
        return self._token is not None

    def open(self, vaults: Vaults, announced: Mapping[str, Announcement]) -> None:
        """Serve vaults until SIGINT or SIGTERM; who connects before waits.

        :param announced: by name, says where the vault is, and lets the programs of its user in.
        :raises IndexFailure: what :meth:`fail` was told.
        """
        own: dict[str, tuple[str, ...]] = {}
        if self._token is not None:
            for name in vaults:
                tickets = (announced[name].ticket,) if name in announced else ()
                own[name] = (*tickets, *self._of_vaults.get(name, ()))
        # Of one vault, every route is its own.
        alone = own.pop(next(iter(vaults)), ()) if len(vaults) == 1 else ()
        workers = Workers(self._settings)
        agents = HttpTransport(vaults, workers.for_agents, workers.closing)
        app = create_app(
            vaults,
            self._settings,
            tokens=() if self._token is None else (self._token, *alone),
            vault_tokens=own,
            prove={name: one.prove for name, one in announced.items()},
            routers=(routes(workers.lookups.run), agents.router),
            workers=workers,
        )
        self._server = server_of(app)
        if self._failure is None:
            run(self._server, self._listening)
        if self._failure is not None:
            raise IndexFailure(self._failure)

    def fail(self, why: str) -> None:
        """End the serving, and have :meth:`open` raise why."""
        self._failure = why
        if self._server is not None:
            self._server.should_exit = True

    def __enter__(self) -> VaultServer:
        return self

    def __exit__(self, *_: object) -> None:
        """Let the port go."""
        self._listening.close()
