"""Asks for the token of the server, where it has one.

Open to all are the page itself, which holds nothing of the vault, and whether the server is up.
Whoever shows wrong tokens too often, from this machine as well, is heard again after a while only.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from notehop.app.api.middleware.rate import Buckets, client_of, too_often
from notehop.app.api.problem_response import respond
from notehop.app.problems import http_problem

OPEN = frozenset({"/", "/favicon.ico", "/health", "/health/live", "/health/ready"})
"""Paths that need no token."""

OPEN_BELOW = "/static/"
"""Nor does what is below: the files of the page."""

GUESSES = 30
"""Wrong tokens a minute that a client may show, and at once."""

TRUSTED = "notehop.trusted"
"""Key of the scope: whether the request came with the token, or none is asked for."""


class TokenGuard:
    """Lets in requests with one of the tokens; with no tokens at all, everybody."""

    def __init__(self, app: ASGIApp, *, tokens: Sequence[str] = ()) -> None:
        self._app = app
        self._tokens = [token.encode() for token in tokens]
        self._guesses = Buckets(GUESSES, GUESSES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        shows = bool(self._tokens) and "authorization" in headers
        client = client_of(scope)
        # Before it is compared: an answer other than this would tell a right guess from a wrong.
        if shows and (wait := self._guesses.wait(client, count=False)):
            await too_often("too many wrong tokens", wait)(scope, receive, send)
            return
        scope[TRUSTED] = not self._tokens or self._knows(headers)
        if shows and not scope[TRUSTED]:
            self._guesses.wait(client)
        if scope[TRUSTED] or _open(scope):
            await self._app(scope, receive, send)
            return
        detail = "this server wants its token; send it as Authorization: Bearer …"
        refusal = respond(
            http_problem(HTTPStatus.UNAUTHORIZED, detail, kind="token"),
            {"WWW-Authenticate": 'Bearer realm="notehop"'},
        )
        await refusal(scope, receive, send)

    def _knows(self, headers: Headers) -> bool:
        sent = headers.getlist("authorization")
        scheme, _, given = sent[0].partition(" ") if len(sent) == 1 else ("", "", "")
        said = given.strip().encode("latin-1") if scheme.lower() == "bearer" else b""
        # All are compared, each in the same time whatever it holds.
        return sum(hmac.compare_digest(said, token) for token in self._tokens) > 0


def _open(scope: Scope) -> bool:
    path = scope["path"]
    reads = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
    return reads and (path in OPEN or path.startswith(OPEN_BELOW))
