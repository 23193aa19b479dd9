"""The server that runs for an index: how it says so, and how another process knows it again.

It writes ``server.json`` beside the index, readable by its user only. The random token in it never
goes over the wire: a server proves that it is the one that wrote the file, and that it answers for
the same vault, index and settings, by a keyed hash of what it is challenged with.

Touches: index (``server.json``).
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
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

from notehop.app.services.place import Place
from notehop.indexing.stores.layout import IndexLayout

_log = logging.getLogger(__name__)

_CHANGE_NO_REPLY: dict[str, Any] = {
    "server": True,
    "watch": True,
    "index": True,
    "vault": {"path"},
}
"""Settings that are no part of :func:`digest`; two of them say where things are."""


@dataclass(frozen=True, slots=True)
class Running:
    """A server as its file tells it; ``started`` is in seconds since the epoch.

    ``settings`` is the :func:`digest` of those it answers with, ``token`` the key of its proofs.
    """

    url: str
    pid: int
    host: str
    started: float
    settings: str
    version: str
    token: str


class Announcement:
    """What a server says of itself beside the index, from :meth:`tell` to the end of a ``with``."""

    def __init__(self, place: Place) -> None:
        """Say nothing yet."""
        self._place = place
        self._file = place.layout.server
        self._token = secrets.token_hex(32)
        self._former: Running | None = None

    def tell(self, url: str) -> None:
        """Say at which URL connections are taken; a disk that refuses is passed over.

        Without the file, other commands do their own work: it is information only.
        """
        says = Running(
            url=_reachable(url),
            pid=os.getpid(),
            host=socket.gethostname(),
            started=time.time(),
            settings=digest(self._place),
            version=version(),
            token=self._token,
        )
        self._former = read_running(self._place.layout)
        self._write(says)

    def _write(self, says: Running) -> None:
        new = self._file.with_suffix(".new")
        try:
            new.unlink(missing_ok=True)
            with os.fdopen(_private(new), "w", encoding="utf-8") as stream:
                json.dump(asdict(says), stream, indent=1)
            new.replace(self._file)
        except OSError as exc:
            _log.debug("%s: not written: %s", self._file, exc)
            with suppress(OSError):
                new.unlink(missing_ok=True)

    def prove(self, challenge: str) -> str:
        """Answer a challenge as only the server of this file can."""
        return proof(self._token, self._place, challenge)

    @property
    def ticket(self) -> str:
        """What programs of the same user may send in place of the server's token."""
        return ticket(self._token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Take the file away, unless it is of another server by now.

        Of a server that was there before and runs still, it says again what it said.
        """
        found = read_running(self._place.layout)
        if found is None or found.token != self._token:
            return
        if self._former is not None and _alive(self._former.pid):
            self._write(self._former)
            return
        with suppress(OSError):
            self._file.unlink()


def read_running(layout: IndexLayout) -> Running | None:
    """The server of an index, as far as its file tells; it may have ended without a word.

    None if there is none, or none of this machine and user: the file decides where questions go.
    """
    try:
        with layout.server.open("rb") as stream:
            if not _ours(os.fstat(stream.fileno())):
                return None
            says: Any = json.load(stream)
        found = Running(**says)
        typed = all(isinstance(getattr(found, name), kind) for name, kind in _KINDS)
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    if not typed or found.host != socket.gethostname() or not _alive(found.pid):
        return None
    return found


def proof(token: str, place: Place, challenge: str) -> str:
    """The keyed hash of a challenge, and of what a server answers for and with."""
    told = (challenge, os.fspath(place.vault), os.fspath(place.layout.root), digest(place))
    # JSON, so that no two lists of texts are one text; lone surrogates of odd names are escaped.
    message = json.dumps([*told, version()]).encode()
    return hmac.new(token.encode(), message, hashlib.sha256).hexdigest()


def ticket(token: str) -> str:
    """What lets in who can read the file, and tells nobody the token in it."""
    return hmac.new(token.encode(), b"ticket", hashlib.sha256).hexdigest()


def digest(place: Place) -> str:
    """Name the settings that a reply depends on: equal settings, equal name."""
    settings = place.settings.model_dump(mode="json", exclude=_CHANGE_NO_REPLY)
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:32]


@cache
def version() -> str:
    """The version that is installed: another one may answer otherwise."""
    from importlib.metadata import version as installed

    return installed("notehop")


_KINDS = (
    ("url", str),
    ("pid", int),
    ("host", str),
    ("started", (int, float)),
    ("settings", str),
    ("version", str),
    ("token", str),
)


def _private(path: Path) -> int:
    """Open a new file that only its user can read, from its first byte on."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


def _ours(found: os.stat_result) -> bool:
    """Whether nobody else can have written a file, or can read the token in it."""
    if os.name != "posix":
        return True
    return found.st_uid == os.getuid() and not found.st_mode & 0o077


def _alive(pid: int) -> bool:
    if os.name != "posix":
        # Signal 0 would end the process there; the challenge tells as much, a moment later.
        return True
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _reachable(url: str) -> str:
    """The URL of a server that listens on every address, as this machine reaches it."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
