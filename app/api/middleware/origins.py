"""Refuses requests that a page of another origin makes, unless the user named that origin.

Browsers say in ``Origin`` and ``Sec-Fetch-Site`` who has a request made; no page can forge them.
Programs send neither. One thing is let through: a link elsewhere may lead to the page of this
server, whose text the other page cannot read.
"""

from __future__ import annotations

from collections.abc import Collection
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from notehop.app.api.problem_response import respond
from notehop.app.problems import http_problem

OURS = ("same-origin", "none")
"""Values of ``Sec-Fetch-Site``: a page of this server, or the user's own doing."""


class OriginGuard:
    """Lets in what pages of this server ask for, programs, and pages of allowed origins."""

    def __init__(self, app: ASGIApp, *, allowed: Collection[str] = ()) -> None:
        self._app = app
        self._allowed = frozenset(allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] not in ("http", "websocket") or self._welcome(scope):
            await self._app(scope, receive, send)
            return
        detail = (
            "a page of another origin may not ask this server; the setting server.allow_origins "
            "names those that may"
        )
        refusal = respond(http_problem(HTTPStatus.FORBIDDEN, detail, kind="origin"))
        await refusal(scope, receive, send)

    def _welcome(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        origins = headers.getlist("origin")
        if len(origins) > 1:
            return False
        if origins:
            return origins[0] in self._allowed or _same(origins[0], headers.get("host", ""))
        sites = headers.getlist("sec-fetch-site")
        return all(site in OURS for site in sites) or _led_here(scope, headers)


def _same(origin: str, host: str) -> bool:
    """Whether an origin is the one that a request went to, port and all.

    The scheme may differ: what ends TLS in front of the server is of the same origin.
    """
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or origin != f"{parts.scheme}://{parts.netloc}":
        return False
    default = ":443" if parts.scheme == "https" else ":80"
    return parts.netloc.lower().removesuffix(default) == host.lower().removesuffix(default)


def _led_here(scope: Scope, headers: Headers) -> bool:
    """Whether a link led a user to the page, in a tab of its own."""
    return (
        scope["type"] == "http"
        and scope["method"] in ("GET", "HEAD")
        and scope["path"] == "/"
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest") == "document"
    )
