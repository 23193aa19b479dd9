"""Asks the server that runs for an index, where there is one: it has everything loaded already.

Whatever is in the way, None is returned and the caller does its own work.

Touches: network (this machine), index (``server.json``).
"""

from __future__ import annotations

import hmac
import http.client
import json
import logging
import secrets
from contextlib import closing
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel

from app.container.place import Place
from app.container.running import Running, digest, proof, read_running, version
from app.models import Answer, Query, SearchQuery, SearchResult
from app.problems import error_of
from config.errors import NotehopError

_log = logging.getLogger(__name__)

PATIENCE = 0.3
"""Seconds that a server has to say that it is there: a command without one takes two."""

SEARCHED = 10.0
"""Seconds that it has for a search: without it, one takes three."""

ANSWERED = 60.0
"""Seconds that it has for an answer, which a language model may write."""

ModelT = TypeVar("ModelT", bound=BaseModel)


class _Unusable(Exception):
    """Why the server is not asked."""


def ask_server(place: Place, query: Query) -> Answer | None:
    """Have a running server answer a question; None if there is none for this place and settings.

    :raises NotehopError: what the server says is wrong: here it would be the same.
    """
    return _asked(place, "/query", query, Answer, ANSWERED)


def search_server(place: Place, query: SearchQuery) -> SearchResult | None:
    """Have a running server search, as :func:`ask_server`."""
    return _asked(place, "/search", query, SearchResult, SEARCHED)


def _asked(
    place: Place, route: str, query: Query, model: type[ModelT], patience: float
) -> ModelT | None:
    running = read_running(place.layout)
    if running is None:
        return None
    try:
        with closing(_known(running, place)) as connection:
            connection.sock.settimeout(patience)
            return _read(connection, route, query.model_dump_json().encode(), model)
    except (_Unusable, OSError, http.client.HTTPException, ValueError) as exc:
        reason = (str(exc) or type(exc).__name__).splitlines()[0]
        _log.debug("the server at %s is not asked: %s", running.url, reason)
        return None


def _known(running: Running, place: Place) -> http.client.HTTPConnection:
    """A connection to the server of the file, which answers for this place and its settings.

    :raises _Unusable: if it is not that server, or does not.
    """
    if running.version != version() or running.settings != digest(place):
        raise _Unusable("it is of another version, or has other settings")
    at = urlsplit(running.url)
    if at.scheme != "http" or at.hostname is None:
        raise _Unusable("its URL is none")
    # Not through a proxy, whatever the environment says: the question stays on this machine.
    connection = http.client.HTTPConnection(at.hostname, at.port, timeout=PATIENCE)
    try:
        connection.connect()
        # What proves itself is what is asked: a connection that ends is not made again.
        connection.auto_open = 0
        _challenge(connection, running, place)
    except BaseException:
        connection.close()
        raise
    return connection


def _challenge(connection: http.client.HTTPConnection, running: Running, place: Place) -> None:
    challenge = secrets.token_hex(16)
    status, health = _sent(connection, "GET", f"/health?challenge={challenge}")
    given = health.get("proof") if status == http.client.OK and isinstance(health, dict) else None
    expected = proof(running.token, place, challenge)
    if connection.sock is None or not (
        isinstance(given, str) and hmac.compare_digest(given.encode(), expected.encode())
    ):
        raise _Unusable("it is not the server of this vault, index and settings")


def _read(
    connection: http.client.HTTPConnection, route: str, body: bytes, model: type[ModelT]
) -> ModelT:
    status, told = _sent(connection, "POST", route, body)
    if status == http.client.OK:
        return model.model_validate(told)
    error: NotehopError | None = error_of(told)
    if error is None:
        raise _Unusable(f"it answered {status}")
    raise error


def _sent(
    connection: http.client.HTTPConnection, method: str, route: str, body: bytes | None = None
) -> tuple[int, Any]:
    headers = {} if body is None else {"Content-Type": "application/json"}
    connection.request(method, route, body, headers)
    response = connection.getresponse()
    return response.status, json.loads(response.read())
