"""The log of a server: its form, and a line a request."""

from __future__ import annotations

import json
import logging
import re
import secrets
import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from notehop.app.api.guard import from_here
from notehop.app.problems import elsewhere
from notehop.app.services.vaults import NAMED

LEVELS = ("debug", "info", "warning", "error")

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request that is being answered, in its task and in the threads that work for it."""

_PLAIN = re.compile(r"[\w./:{}@%+-]+", re.ASCII)


class KeyValue(logging.Formatter):
    """A record as ``time=… level=… logger=… request=… message="…" key=value``.

    A value with anything but plain signs in it is quoted as JSON does, line ends included: no text
    can forge a line.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Write a record as one line."""
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        fields: dict[str, Any] = {
            "time": f"{at}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        if (name := request_id.get()) is not None:
            fields["request"] = name
        fields["message"] = record.getMessage()
        fields |= getattr(record, "fields", {})
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return " ".join(f"{key}={_value(value)}" for key, value in fields.items())


def configure(level: str) -> None:
    """Have this process log to standard error, from ``level`` on; other handlers go."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(KeyValue())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    if level == "debug":
        # These tell what they send and receive, texts of notes among it.
        for chatty in ("httpcore", "httpx", "openai", "llama_index", "asyncio", "urllib3"):
            logging.getLogger(chatty).setLevel(logging.INFO)


def _value(value: Any) -> str:
    text = str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


_log = logging.getLogger("notehop.app.api.requests")

NAME = "X-Request-Id"

_GIVEN = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""An id that a client may give: nothing that could forge a line of the log."""

Observe = Callable[[str | None, str, str, int, float], None]
"""Hears of the name of a vault if one is named, a route, a method, a status and the seconds it took."""


class RequestLog:
    """Gives each request an id, which is on its reply and on all that is logged for it, and says in
    its context whether it comes from another machine."""

    def __init__(self, app: ASGIApp, *, observe: Observe | None = None) -> None:
        self._app = app
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and log what became of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(NAME, "")
        name = given if _GIVEN.fullmatch(given) else secrets.token_hex(8)
        mark, from_elsewhere = request_id.set(name), elsewhere.set(not from_here(scope))
        started = time.perf_counter()
        status = 0

        async def named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[NAME] = name
            await send(message)

        try:
            await self._app(scope, receive, named)
        finally:
            self._tell(scope, status, time.perf_counter() - started)
            request_id.reset(mark)
            elsewhere.reset(from_elsewhere)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        route = str(getattr(scope.get("route"), "path", "none"))
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        if self._observe is not None:
            self._observe(scope.get(NAMED), route, method, status, seconds)
        fields = {"method": method, "route": route, "status": status, "ms": round(seconds * 1e3, 1)}
        _log.info("request", extra={"fields": fields})


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
