"""What every request passes, and in which order; the top_level comes first in :func:`install`.

Nothing here reads a vault.
"""

from __future__ import annotations

import logging
from http import HTTPStatus

import anyio
from fastapi import FastAPI
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from notehop.app.api.errors import respond
from notehop.app.api.guard import (
    APP,
    LOOPBACK,
    PANE,
    VAULTS,
    Guard,
    Refuse,
    is_loopback,
    unless_host,
    unless_origin,
    unless_rate,
)
from notehop.app.api.logs import RequestLog
from notehop.app.api.metrics import Metrics
from notehop.app.problems import http_problem, problem
from notehop.app.services.vaults import ASKED, NAMED, Vaults, below
from notehop.config.settings import ServerSettings

_log = logging.getLogger(__name__)


class VaultPaths:
    """Gives each request the vault that it is for: that of ``/vaults/{name}/…``, below which is all
    that there is at the root, else the default."""

    def __init__(self, app: ASGIApp, *, vaults: Vaults) -> None:
        self._app = app
        self._vaults = vaults

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; what is below never sees the name of a vault in its path."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        own = {**scope, ASKED: self._vaults[None]}
        if own["path"].startswith(f"{VAULTS}/"):
            name, slash, rest = own["path"][len(VAULTS) + 1 :].partition("/")
            if slash and name in self._vaults and not f"/{rest}".startswith(f"{VAULTS}/"):
                own |= {"path": f"/{rest}", "root_path": below(name)}
                own |= {ASKED: self._vaults[name], NAMED: name}
        await self._app(own, receive, send)


class Unexpected:
    """Replies 500 and logs why; a reply that has begun can only be broken off."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as exc:
            if scope["type"] != "http" or begun:
                raise
            # By its route: the path of a note says what it is about.
            route = getattr(scope.get("route"), "path", "a route")
            _log.error("%s %s failed", scope["method"], route, exc_info=exc)
            await respond(problem(exc))(scope, receive, watched)


MAX_BODY = 4_000_000
"""Bytes a request may have: the longest text that may be captured, of any script."""

TOO_LONG = f"the body has more than {MAX_BODY:,} bytes; send less"


BODY_SECONDS = 20.0
"""For the whole of a body, on a local network or the same machine."""


class BodyLimit:
    """Refuses bodies of more than :data:`MAX_BODY` bytes, by what they say or by what comes, and
    those that do not come within ``seconds``."""

    def __init__(self, app: ASGIApp, *, seconds: float = BODY_SECONDS) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and count what is read of it."""
        declared = Headers(scope=scope).get("content-length", "") if scope["type"] == "http" else ""
        if declared.isdigit() and int(declared[:20]) > MAX_BODY:
            refusal = respond(http_problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LONG))
            await refusal(scope, receive, send)
            return
        size, more = 0, scope["type"] == "http"
        until = anyio.current_time() + self._seconds

        async def counted() -> Message:
            nonlocal size, more
            try:
                # What comes after a body, the end of the connection, is waited for as long as it takes.
                with anyio.fail_after(until - anyio.current_time() if more else None):
                    message = await receive()
            except TimeoutError:
                late = f"the body did not come within {self._seconds:g} s; send it at once"
                raise HTTPException(HTTPStatus.REQUEST_TIMEOUT, late) from None
            more = more and message.get("more_body", False)
            size += len(message.get("body", b""))
            if size > MAX_BODY:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LONG)
            return message

        await self._app(scope, counted, send)


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Scripts and styles only from files of this server, and nothing from elsewhere."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

IN_THE_APP = {
    **HEADERS,
    "Content-Security-Policy": POLICY.replace("ancestors 'none'", f"ancestors {APP}"),
}
"""Those of the side pane, which the app may frame, and nobody else."""
del IN_THE_APP["X-Frame-Options"]

FILES = "/static/"
"""What is below may be kept by a browser; everything else may be of the vault."""


class SecurityHeaders:
    """Sets the headers on whatever the app replies, refusals and errors included."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and set the headers of its reply."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        file = scope["path"].startswith(FILES)
        always = IN_THE_APP if scope["path"] == PANE else HEADERS

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in always.items():
                    headers[name] = value
                # Files are kept, and asked for each time: a new version shows at once.
                kept = file and message["status"] < HTTPStatus.BAD_REQUEST
                headers["Cache-Control"] = "no-cache" if kept else "no-store"
            await send(message)

        await self._app(scope, receive, guarded)


AGENTS = ("Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Last-Event-ID")
"""Headers of the protocol for agents."""


def install(
    app: FastAPI,
    settings: ServerSettings,
    unless_token: Refuse,
    metrics: Metrics | None = None,
    vaults: Vaults | None = None,
) -> None:
    """Put the app behind all of them.

    :param unless_token: refuses who may not ask.
    :param metrics: hears of every request.
    :param vaults: whose routes these are; None while there is none to ask.
    """
    names = {*LOOPBACK, settings.host.lower(), *settings.allow_hosts}
    hosts = unless_host(names, any_address=not is_loopback(settings.host))
    outermost_first = [
        *([(VaultPaths, {"vaults": vaults})] if vaults is not None else []),
        (RequestLog, {"observe": metrics.request if metrics is not None else None}),
        (SecurityHeaders, {}),
        (Unexpected, {}),
        (Guard, {"refuse": hosts}),
        (Guard, {"refuse": unless_origin(settings.allow_origins)}),
        *_cors(settings),
        (Guard, {"refuse": unless_rate(settings.rate_per_minute)}),
        (Guard, {"refuse": unless_token}),
        (BodyLimit, {}),
    ]
    for kind, options in reversed(outermost_first):
        app.add_middleware(kind, **options)  # type: ignore[arg-type]


def _cors(settings: ServerSettings) -> list[tuple[type, dict[str, object]]]:
    if not settings.allow_origins:
        return []
    options: dict[str, object] = {
        "allow_origins": settings.allow_origins,
        "allow_methods": ("GET", "POST", "DELETE"),
        "allow_headers": ("Authorization", "Content-Type", "X-Request-Id", *AGENTS),
        "expose_headers": ("X-Request-Id", "Retry-After", "Mcp-Session-Id"),
        # Browsers ask for it before a page of the web may reach a private address.
        "allow_private_network": True,
    }
    return [(CORSMiddleware, options)]
