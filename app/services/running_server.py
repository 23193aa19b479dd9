"""The server that runs for an index: how it says so, and how another process asks it.

It writes ``server.json`` beside the index, readable by its user only, and holds a lock there for as long as
it lives: that is the operating system's, and ends with its process. Where the lock is free, or the server
answers for another vault, index or settings, whoever asks does the work here.
"""

from __future__ import annotations

import hashlib
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

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict

from notehop.app import models
from notehop.app.problems import error_of
from notehop.app.services.open_vault import Place
from notehop.indexing.stores.layout import IndexLayout, replace_file

_log = logging.getLogger(__name__)

_CHANGE_NO_REPLY: Any = {"server": True, "watch": True, "index": True, "vault": {"path"}}
"""Settings that are no part of :func:`identity`; two of them say where things are."""


class Running(BaseModel):
    """A server as its file tells it; ``started`` is in seconds since the epoch, ``token`` lets its user's
    programs in, ``answers_for`` is the hash of what it answers for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    url: str
    pid: int
    host: str
    started: float
    token: str
    answers_for: str


class Announcement:
    """What a server says of itself beside the index, from :meth:`tell` to the end of a ``with``.

    :ivar ticket: what programs of the same user may send in place of the server's token.
    """

    def __init__(self, place: Place) -> None:
        self._place, self._layout = place, place.layout
        self._lock = _lock(place.layout, 1.0)  # who looks for a server holds it for a moment
        self.ticket = secrets.token_hex(32)

    def tell(self, url: str) -> None:
        """Say at which URL connections are taken, unless another server of this index does so; other
        commands do their own work then."""
        says = Running(
            # One that listens on every address, as this machine reaches it.
            url=url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:"),
            pid=os.getpid(),
            host=socket.gethostname(),
            started=time.time(),
            token=self.ticket,
            answers_for=identity(self._place),
        )
        try:
            self._layout.make_folder()
            self._lock.acquire()
            replace_file(self._layout.server, says.model_dump_json(indent=1))
        except (OSError, NotImplementedError) as exc:
            _log.debug("%s: not written: %s", self._layout.server, exc)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Take the file away, and let go of the lock."""
        if self._lock.is_locked:
            with suppress(OSError):
                self._layout.server.unlink()
            self._lock.release()


def _lock(layout: IndexLayout, patience: float = 0.0) -> FileLock:
    # As the lock of the writer: a soft one would outlive its process.
    return FileLock(layout.server_lock, patience, thread_local=False, fallback_to_soft=False)


def read_running(layout: IndexLayout) -> Running | None:
    """The server of an index; None if there is none, or none of this machine and user: the file decides
    where questions go."""
    try:
        with layout.server.open("rb") as stream:
            stat = os.fstat(stream.fileno())
            # Nobody else can have written the file, or can read the token in it.
            if os.name == "posix" and (stat.st_uid != os.getuid() or stat.st_mode & 0o077):
                return None
            found = Running.model_validate_json(stream.read())
        if found.host != socket.gethostname():
            return None
        with _lock(layout):
            # It ended without a word. Who looks at the same time is to find no file, and not this lock.
            layout.server.unlink(missing_ok=True)
            return None
    except Timeout:
        return found
    except (OSError, ValueError, NotImplementedError):
        return None


def identity(place: Place) -> str:
    """The hash of what a server answers for and with: vault, index, the settings that a reply depends on,
    version."""
    from importlib import metadata

    settings = place.settings.model_dump(mode="json", exclude=_CHANGE_NO_REPLY)
    told = os.fspath(place.vault), os.fspath(place.layout.root), metadata.version("notehop")
    # JSON, so that no two lists of texts are one text; lone surrogates of odd names are escaped.
    said = json.dumps([*told, settings], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


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
    if type(query) not in _ROUTES or running is None or running.answers_for != identity(place):
        return None
    route, model = _ROUTES[type(query)]
    if seconds is None:
        answers = isinstance(query, models.Query)
        seconds = place.settings.server.timeout_s + LATER if answers else SEARCHED
    try:
        at = urlsplit(running.url)
        # Not through a proxy, whatever the environment says: the question stays here.
        with closing(HTTPConnection(at.netloc, timeout=patience)) as server:
            server.request("GET", f"{at.path}/health/live")
            models.Health.model_validate_json(server.getresponse().read())
            if server.sock is None:
                raise ValueError("it ended the connection")
            server.sock.settimeout(seconds)
            headers = {"Content-Type": "application/json"}
            headers["Authorization"] = f"Bearer {running.token}"
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
