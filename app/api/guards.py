"""What a request must pass: a host name that is ours, a bounded body, and a body that is JSON.

The host check stops DNS rebinding: a page on the web may point a name of its own at 127.0.0.1 and
have the browser read the answers, but the browser then says that name in ``Host``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from http import HTTPStatus

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problem_response import respond
from app.problems import http_problem

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""The names under which this machine reaches itself."""

JSON = "application/json"
"""The one media type that is read."""

MAX_BODY = 1_000_000
"""Bytes a request may have: the longest allowed query of any script is under a tenth of it."""


def host_name(header: str) -> str:
    """The name in a ``Host`` header without port and brackets, in lower case."""
    header = header.strip().lower()
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.rpartition(":")[0] if header.count(":") == 1 else header


def is_address(name: str) -> bool:
    """Whether ``name`` is an IP address: no name server has a say in those."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def allowed_hosts(bound: str) -> frozenset[str]:
    """The host names of a server that listens on ``bound``."""
    return frozenset((*LOOPBACK, bound.lower()))


def json_body(request: Request) -> None:
    """Refuse a body that does not say it is JSON, as those of forms on other pages do not.

    :raises HTTPException: 415.
    """
    said = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    kind, _, name = said.partition("/")
    if kind != "application" or not (name == "json" or name.endswith("+json")):
        raise HTTPException(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send Content-Type: {JSON}", {"Accept-Post": JSON}
        )


class HostGuard:
    """Refuses requests under a name that is not this server's.

    :param names: host names that are ours.
    :param any_address: whether any IP address will do too, for a server that others may reach.
    """

    def __init__(self, app: ASGIApp, *, names: Collection[str], any_address: bool = False) -> None:
        self._app = app
        self._names = frozenset(names)
        self._any_address = any_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = [value for name, value in scope["headers"] if name == b"host"]
        name = host_name(headers[0].decode("latin-1")) if len(headers) == 1 else ""
        if name in self._names or (self._any_address and is_address(name)):
            await self._app(scope, receive, send)
            return
        detail = f"this server does not answer for the host {name!r}; use {LOOPBACK[1]}"
        refusal = respond(http_problem(HTTPStatus.MISDIRECTED_REQUEST, detail))
        await refusal(scope, receive, send)


class BodyLimit:
    """Refuses requests whose body is longer than ``most`` bytes, before all of it is read."""

    def __init__(self, app: ASGIApp, *, most: int = MAX_BODY) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body up to the limit, then pass the request on with it, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = b""
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._most:
                detail = f"the body has more than {self._most:,} bytes; send less"
                refusal = respond(http_problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail))
                await refusal(scope, receive, send)
                return
        sent = False

        async def replay() -> Message:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, replay, send)
