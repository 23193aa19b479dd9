"""Refuses requests under a host name that is not this server's.

That stops DNS rebinding: a page on the web may point a name of its own at 127.0.0.1 and have the
browser read the answers, but the browser then says that name in ``Host``.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from http import HTTPStatus

from starlette.types import ASGIApp, Receive, Scope, Send

from notehop.app.api.problem_response import respond
from notehop.app.problems import http_problem

LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""The names under which this machine reaches itself."""

_HOST = re.compile(r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[a-z0-9_.-]+))(?::\d{0,5})?")


def host_name(header: str) -> str:
    """The name in a ``Host`` header, in lower case without port and brackets; empty for none."""
    found = _HOST.fullmatch(header.strip(" \t").lower())
    return (found["six"] or found["name"]) if found else ""


def is_address(name: str) -> bool:
    """Whether ``name`` is an IP address: no name server has a say in those."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach, or be, ``host``: a name or an address."""
    name = host.lower().strip("[]")
    if not is_address(name):
        return name == LOOPBACK[0]
    address = ipaddress.ip_address(name)
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def from_here(scope: Scope) -> bool:
    """Whether a request comes from this machine, and not through a proxy on it."""
    client = scope.get("client")
    return (client is None or is_loopback(str(client[0]))) and not forwarded(scope)


def forwarded(scope: Scope) -> bool:
    """Whether something between says that it hands on the request of another."""
    return any(
        name in _HANDED_ON or name.startswith(b"x-forwarded") for name, _ in scope["headers"]
    )


_HANDED_ON = frozenset((b"forwarded", b"via", b"x-real-ip", b"cf-connecting-ip"))
"""Headers of proxies, beside ``X-Forwarded-…``."""


def allowed_hosts(bound: str, more: Collection[str] = ()) -> frozenset[str]:
    """The host names of a server that listens on ``bound``."""
    return frozenset((*LOOPBACK, bound.lower(), *more))


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
        detail = (
            f"this server does not answer for the host {name!r}; use {LOOPBACK[1]}, or name the "
            "host in server.allow_hosts"
        )
        refusal = respond(http_problem(HTTPStatus.MISDIRECTED_REQUEST, detail))
        await refusal(scope, receive, send)
