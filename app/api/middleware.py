"""What every request passes before the routes; nothing here reads a vault."""

from __future__ import annotations

import logging
import time
from http import HTTPStatus

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from notehop.app.api.errors import ProblemResponse, error_response
from notehop.app.api.guard import APP, OPEN_BELOW, PANE, VAULTS, Guard, from_here
from notehop.app.problems import elsewhere, problem
from notehop.app.services.vaults import ASKED, NAMED, Vaults, below

_log = logging.getLogger(__name__)
_requests = logging.getLogger("notehop.app.api.requests")

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

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


class Outermost:
    """Names the vault of a request, refuses who may not ask, sets the headers of each reply and logs it.

    A vault is that of ``/vaults/{name}/…``, below which is all that there is at the root, else the
    default. An error that nobody foresaw is replied as 500, unless the reply has begun.
    """

    def __init__(self, app: ASGIApp, *, guard: Guard, vaults: Vaults) -> None:
        self._app = app
        self._guard = guard
        self._vaults = vaults

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; what is below never sees the name of a vault in its path."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope = self._for_vault(scope)
        path, started, status = scope["path"], time.perf_counter(), 0
        others = elsewhere.set(not from_here(scope))

        async def reply(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                # Files are kept, and asked for each time: a new version shows at once.
                kept = path.startswith(OPEN_BELOW) and status < HTTPStatus.BAD_REQUEST
                headers = MutableHeaders(scope=message)
                headers["Cache-Control"] = "no-cache" if kept else "no-store"
                headers.update(IN_THE_APP if path == PANE else HEADERS)
            await send(message)

        try:
            await (self._guard.refusal(scope) or self._app)(scope, receive, reply)
        except Exception as exc:
            if status:
                raise
            # By its route: the path of a note says what it is about.
            _log.error("%s %s failed", scope["method"], _route(scope), exc_info=exc)
            await ProblemResponse(problem(exc))(scope, receive, reply)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "OTHER"
            took = (time.perf_counter() - started) * 1e3
            told = "method=%s route=%s status=%d ms=%.1f"
            _requests.info(told, method, _route(scope), status, took)
            elsewhere.reset(others)

    def _for_vault(self, scope: Scope) -> Scope:
        name, slash, rest = scope["path"].removeprefix(f"{VAULTS}/").partition("/")
        named = slash and scope["path"].startswith(f"{VAULTS}/") and name in self._vaults
        if not named or f"/{rest}".startswith(f"{VAULTS}/"):
            return {**scope, ASKED: self._vaults.first}
        inner = {"path": f"/{rest}", "root_path": below(name)}
        return {**scope, **inner, ASKED: self._vaults[name], NAMED: name}


def _route(scope: Scope) -> str:
    return str(getattr(scope.get("route"), "path", "none"))


MAX_BODY = 4_000_000
"""Bytes a request may have: the longest text that may be captured, of any script."""

TOO_LONG = f"the body has more than {MAX_BODY:,} bytes; send less"


class BodyLimit:
    """Refuses bodies of more than :data:`MAX_BODY` bytes, by what they say or by what comes, and
    those that do not come whole within ``seconds``: on a local network or the same machine."""

    def __init__(self, app: ASGIApp, *, seconds: float = 20.0) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and count what is read of it."""
        size, more = 0, scope["type"] == "http"
        declared = Headers(scope=scope).get("content-length", "") if more else ""
        if declared.isdigit() and int(declared[:20]) > MAX_BODY:
            refusal = error_response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LONG)
            await refusal(scope, receive, send)
            return
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
