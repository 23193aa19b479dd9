"""The server that runs for an index: how it says so, how another process knows it again and asks it.

It writes ``server.json`` beside the index, readable by its user only. The random token in it never goes
over the wire: a server proves by a keyed hash that it wrote the file, and answers for the same vault, index
and settings. Where it does not, whoever asks does the work here.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import secrets
import socket
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from http.client import OK, HTTPConnection, HTTPException
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from notehop.app import models
from notehop.app.problems import error_of
from notehop.app.services.open_vault import Place
from notehop.indexing.stores.layout import IndexLayout, lives, replace_file

_log = logging.getLogger(__name__)

_CHANGE_NO_REPLY: Any = {"server": True, "watch": True, "index": True, "vault": {"path"}}
"""Settings that are no part of :func:`identity`; two of them say where things are."""


class Running(BaseModel):
    """A server as its file tells it; ``started`` is in seconds since the epoch, ``token`` the key of
    its proofs."""

    model_config = ConfigDict(extra="forbid", strict=True)

    url: str
    pid: int
    host: str
    started: float
    token: str


class Announcement:
    """What a server says of itself beside the index, from :meth:`tell` to the end of a ``with``.

    :ivar ticket: what programs of the same user may send in place of the server's token.
    """

    def __init__(self, place: Place) -> None:
        self._layout = place.layout
        self._identity = identity(place)
        self._token = secrets.token_hex(32)
        self.ticket = _keyed(self._token, "ticket")

    def tell(self, url: str) -> None:
        """Say at which URL connections are taken; without the file, other commands do their own work."""
        says = Running(
            # One that listens on every address, as this machine reaches it.
            url=url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:"),
            pid=os.getpid(),
            host=socket.gethostname(),
            started=time.time(),
            token=self._token,
        )
        try:
            self._layout.make_folder()
            replace_file(self._layout.server, says.model_dump_json(indent=1))
        except OSError as exc:
            _log.debug("%s: not written: %s", self._layout.server, exc)

    def prove(self, challenge: str) -> str:
        """Answer a challenge as only the server of this file can."""
        return proof(self._token, self._identity, challenge)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Take the file away, unless it is of another server by now."""
        found = read_running(self._layout)
        if found is not None and found.token == self._token:
            with suppress(OSError):
                self._layout.server.unlink()


def read_running(layout: IndexLayout) -> Running | None:
    """The server of an index, as far as its file tells; it may have ended without a word.

    None if there is none, or none of this machine and user: the file decides where questions go.
    """
    try:
        with layout.server.open("rb") as stream:
            stat = os.fstat(stream.fileno())
            # Nobody else can have written the file, or can read the token in it.
            if os.name == "posix" and (stat.st_uid != os.getuid() or stat.st_mode & 0o077):
                return None
            found = Running.model_validate_json(stream.read())
    except (OSError, ValueError):
        return None
    return found if found.host == socket.gethostname() and lives(found.pid) else None


def identity(place: Place) -> str:
    """What a server answers for and with: vault, index, the settings that a reply depends on, version."""
    from importlib import metadata

    settings = place.settings.model_dump(mode="json", exclude=_CHANGE_NO_REPLY)
    told = os.fspath(place.vault), os.fspath(place.layout.root), metadata.version("notehop")
    # JSON, so that no two lists of texts are one text; lone surrogates of odd names are escaped.
    return json.dumps([*told, settings], sort_keys=True)


def proof(token: str, identity: str, challenge: str) -> str:
    """The keyed hash of a challenge, and of what a server answers for and with."""
    return _keyed(token, f"{challenge}\n{identity}")


def _keyed(token: str, text: str) -> str:
    return hmac.new(token.encode(), text.encode(), hashlib.sha256).hexdigest()


PATIENCE = 0.3  # seconds that a server has to say that it is there: a command without one takes two
SEARCHED = 10.0  # seconds that it has for a search: without it, one takes three

LATER = 5.0
"""Seconds that it has for an answer beside those that it gives itself (``server.timeout_s``): it says so
when they are over, and who left earlier would ask twice."""


_ROUTES: Mapping[type[BaseModel], tuple[str, type[BaseModel]]] = {
    models.Query: ("/query", models.Answer),
    models.SearchQuery: ("/search", models.SearchResult),
    models.BrowseQuery: ("/graph/browse", models.BrowseResult),
    models.ThemesQuery: ("/themes", models.ThemesResult),
}


def ask_server(
    place: Place, query: BaseModel, *, patience: float = PATIENCE, seconds: float | None = None
) -> Any:
    """Have a running server answer a request, if it is one of :data:`_ROUTES`.

    :param patience: seconds that it has to say that it is there.
    :param seconds: that it has for the reply; None for those of its kind.
    :returns: the reply; None if there is no server for this place and settings, or it is not to be
        had in time.
    :raises NotehopError: what the server says is wrong: here it would be the same.
    """
    running = read_running(place.layout)
    if running is None or type(query) not in _ROUTES:
        return None
    route, model = _ROUTES[type(query)]
    if seconds is None:
        answers = isinstance(query, models.Query)
        seconds = place.settings.server.timeout_s + LATER if answers else SEARCHED
    try:
        at = urlsplit(running.url)
        # Not through a proxy, whatever the environment says: the question stays here.
        with closing(HTTPConnection(at.netloc, timeout=patience)) as server:
            server.connect()
            # What proves itself is what is asked: a connection that ends is not made again.
            server.auto_open = 0
            challenge = secrets.token_hex(16)
            server.request("GET", f"{at.path}/health?challenge={challenge}")
            health = models.Health.model_validate_json(server.getresponse().read())
            expected = proof(running.token, identity(place), challenge)
            if not hmac.compare_digest((health.proof or "").encode(), expected.encode()):
                raise ValueError("it is not the server of this vault, index, version and settings")
            if server.sock is None:
                raise ValueError("it ended the connection")
            server.sock.settimeout(seconds)
            # Only to a server that has proved that it wrote the file, and so knows the ticket anyway.
            ticket = _keyed(running.token, "ticket")
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {ticket}"}
            body = query.model_dump_json().encode()
            server.request("POST", f"{at.path}{route}", body, headers)
            response = server.getresponse()
            said = response.read()
            if response.status == OK:
                return model.model_validate_json(said)
            raise error_of(json.loads(said)) or ValueError(f"it answered {response.status}")
    except (OSError, HTTPException, ValueError) as exc:
        reason = (str(exc) or type(exc).__name__).splitlines()[0]
        _log.debug("the server is not asked: %s", reason)
        return None
