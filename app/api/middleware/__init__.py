"""What every request passes, one idea a file, and in which order.

Nothing here reads a vault. The outermost comes first in :func:`install`.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from notehop.app.api.metrics import Metrics
from notehop.app.api.middleware.body import BodyLimit
from notehop.app.api.middleware.headers import SecurityHeaders
from notehop.app.api.middleware.hosts import HostGuard, allowed_hosts, is_loopback
from notehop.app.api.middleware.origins import OriginGuard
from notehop.app.api.middleware.rate import RateLimit
from notehop.app.api.middleware.request_log import RequestLog
from notehop.app.api.middleware.tokens import TokenGuard
from notehop.app.api.middleware.unexpected import Unexpected
from notehop.app.api.middleware.whence import Whence
from notehop.config.settings import ServerSettings

AGENTS = ("Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Last-Event-ID")
"""Headers of the protocol for agents."""


def install(
    app: FastAPI, settings: ServerSettings, tokens: Sequence[str], metrics: Metrics | None
) -> None:
    """Put the app behind all of them.

    :param tokens: any of them lets a request in; none: nothing is asked for.
    :param metrics: hears of every request.
    """
    names = allowed_hosts(settings.host, settings.allow_hosts)
    outermost_first = [
        (RequestLog, {"observe": metrics.request if metrics is not None else None}),
        (SecurityHeaders, {}),
        (Whence, {}),
        (Unexpected, {}),
        (HostGuard, {"names": names, "any_address": not is_loopback(settings.host)}),
        (OriginGuard, {"allowed": settings.allow_origins}),
        *_cors(settings),
        (RateLimit, {"per_minute": settings.rate_per_minute}),
        (TokenGuard, {"tokens": tokens}),
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
