"""What every request passes before the routes: who may ask, which vault is asked, how long a body may be.
Nothing here reads a vault.

The host name stops DNS rebinding: a page on the web may point a name of its own at 127.0.0.1 and have
the browser read the answers, but the browser then says that name in ``Host``. ``Origin`` and
``Sec-Fetch-Site`` say who has a request made; no page can forge them, and programs send neither. Two
things are let through: a link elsewhere may lead to the page of this server, and a frame to its side
pane, which browsers show in the app alone. The other page can read the text of neither. What a proxy on
this machine hands on is of others.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import re
import time
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from notehop.app.api.errors import ProblemResponse, error_response
from notehop.app.problems import elsewhere, problem
from notehop.app.services.vaults import ASKED, NAMED, Vaults, below
from notehop.config.settings import ServerSettings
from notehop.indexing.llm import egress

LOOPBACK = ("localhost", "127.0.0.1", "::1")  # the names under which this machine reaches itself

_HOST = re.compile(r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[a-z0-9_.-]+))(?::\d{0,5})?")

_HANDED_ON = frozenset((b"forwarded", b"via", b"x-real-ip", b"cf-connecting-ip"))
"""Headers of proxies, beside ``X-Forwarded-…``."""

APP = "app://obsidian.md"
"""The origin of the application on a computer; its plugin frames the side pane."""

PANE = "/pane"

OPEN = frozenset({"/", PANE, "/favicon.ico", "/health", "/health/live", "/health/ready"})
"""Paths that need no token; nor does what is below :data:`OPEN_BELOW`, the files of the page."""

OPEN_BELOW = "/static/"

VAULTS = "/vaults"

TRUSTED = "notehop.trusted"
"""Key of the scope: whether its token opens what is asked for, or none is wanted."""

OPENS = "notehop.opens"
"""Key of the scope: the names of the vaults that its token opens; None for all."""


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address that a name is: no name server has a say in those."""
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach, or be, ``host``: a name or an address."""
    return host.lower() == LOOPBACK[0] or egress.is_loopback(host.strip("[]"))


def from_here(scope: Scope) -> bool:
    """Whether a request comes from this machine, and not through a proxy on it."""
    client = scope.get("client")
    handed_on = any(key in _HANDED_ON or key.startswith(b"x-forwarded") for key, _ in scope["headers"])
    return (client is None or is_loopback(str(client[0]))) and not handed_on


class Guard:
    """Says of a request why it is not let in; None lets it in.

    :param tokens: they open everything; none: everybody is let in.
    :param of_vaults: by the name of a vault, what opens its routes, and no others.
    :param default: the vault whose routes are those that name none.
    """

    def __init__(
        self,
        settings: ServerSettings,
        tokens: Sequence[str],
        of_vaults: Mapping[str, str] | None = None,
        default: str = "",
    ) -> None:
        self._hosts = {*LOOPBACK, settings.host.lower(), *settings.allow_hosts}
        # A server that others may reach answers to any IP address, too.
        self._any_address = not is_loopback(settings.host)
        self._tokens: list[tuple[bytes, str | None]] = [(token.encode(), None) for token in tokens]
        self._tokens += [(token.encode(), name) for name, token in (of_vaults or {}).items()]
        self._default = default

    def refusal(self, scope: Scope) -> ProblemResponse | None:
        """Look at host name, origin and token; what a token opens is written into the scope."""
        headers = Headers(scope=scope)
        return self._host(headers) or self._origin(scope, headers) or self._token(scope, headers)

    def _host(self, headers: Headers) -> ProblemResponse | None:
        """Refuse requests under a name that is not this server's."""
        given = headers.getlist("host")
        said = given[0].strip(" \t").lower() if len(given) == 1 else ""
        found = _HOST.fullmatch(said)
        name = (found["six"] or found["name"]) if found else ""
        if name in self._hosts or (self._any_address and _address(name) is not None):
            return None
        detail = (
            f"this server does not answer for the host {name!r}; use {LOOPBACK[1]}, or name the "
            "host in server.allow_hosts"
        )
        return error_response(HTTPStatus.MISDIRECTED_REQUEST, detail)

    def _origin(self, scope: Scope, headers: Headers) -> ProblemResponse | None:
        """Let in what pages of this server ask for, and programs."""
        if origins := headers.getlist("origin"):
            origin = origins[0]
            welcome = len(origins) == 1 and (
                _same(origin, headers.get("host", "")) or (origin == APP and _reads(scope, PANE, "/health"))
            )
        else:
            # A page of this server, or the user's own doing; or a link that led a user to the page,
            # in a tab of its own, or a frame to the side pane.
            sites = headers.getlist("sec-fetch-site")
            led_to = {"document": "/", "iframe": PANE}.get(headers.get("sec-fetch-dest", ""))
            navigates = headers.get("sec-fetch-mode") == "navigate"
            welcome = all(site in ("same-origin", "none") for site in sites) or (
                led_to is not None and navigates and _reads(scope, led_to)
            )
        detail = "a page of another origin may not ask this server"
        return None if welcome else error_response(HTTPStatus.FORBIDDEN, detail, kind="origin")

    def _token(self, scope: Scope, headers: Headers) -> ProblemResponse | None:
        """Let in those that show a token for what they ask."""
        opens: set[str | None] = self._opened(headers) if self._tokens else {None}
        path, name = scope["path"], scope.get(NAMED)
        if None in opens:
            trusted = True
        elif path == "/mcp" and name is None:
            trusted = False  # it is of all vaults of the server
        else:
            trusted = bool(opens) if path == VAULTS else (name or self._default) in opens
        scope[OPENS] = None if None in opens else opens
        scope[TRUSTED] = trusted
        file = path.startswith(OPEN_BELOW) and _reads(scope, path)
        if trusted or file or _reads(scope, *OPEN):
            return None
        detail = (
            "this token is of another vault; send one that opens this"
            if opens
            else "this server wants its token; send it as Authorization: Bearer …"
        )
        challenge = {"WWW-Authenticate": 'Bearer realm="notehop"'}
        return error_response(HTTPStatus.UNAUTHORIZED, detail, challenge, kind="token")

    def _opened(self, headers: Headers) -> set[str | None]:
        """What the token of a request opens: names of vaults, None for everything."""
        sent = headers.getlist("authorization")
        scheme, _, given = sent[0].partition(" ") if len(sent) == 1 else ("", "", "")
        said = given.strip().encode("latin-1") if scheme.lower() == "bearer" else b""
        # All are compared, each in the same time whatever it holds.
        same = [hmac.compare_digest(said, token) for token, _ in self._tokens]
        return {name for fits, (_, name) in zip(same, self._tokens, strict=True) if fits}


def _same(origin: str, host: str) -> bool:
    """Whether an origin is that of a request; its scheme may differ, where TLS ends before us."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or origin != f"{parts.scheme}://{parts.netloc}":
        return False
    default = ":443" if parts.scheme == "https" else ":80"
    return parts.netloc.lower().removesuffix(default) == host.lower().removesuffix(default)


def _reads(scope: Scope, *paths: str) -> bool:
    """Whether one of some paths is read and nothing done."""
    return scope["method"] in ("GET", "HEAD") and scope["path"] in paths


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

IN_THE_APP = {**HEADERS, "Content-Security-Policy": POLICY.replace("ancestors 'none'", f"ancestors {APP}")}
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
    """Refuses bodies of more than :data:`MAX_BODY` bytes, by what they say or by what comes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and count what is read of it."""
        size, is_request = 0, scope["type"] == "http"
        declared = Headers(scope=scope).get("content-length", "") if is_request else ""
        if declared.isdigit() and int(declared[:20]) > MAX_BODY:
            refusal = error_response(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LONG)
            await refusal(scope, receive, send)
            return

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > MAX_BODY:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LONG)
            return message

        await self._app(scope, counted, send)
