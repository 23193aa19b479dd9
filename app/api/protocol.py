"""HTTP as the server speaks it: heads that come too slowly or are too long are not waited for.

Touches: network.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from notehop.app.api.middleware.headers import HEADERS
from notehop.app.api.problem_response import ProblemResponse
from notehop.app.problems import http_problem

HEAD_SECONDS = 10.0
"""Seconds that a client has for the head of a request, from its first sign on."""

HEAD_BYTES = 32_768
"""Bytes that the head may have: many times what browsers send."""

PIECE = 16_384
"""Bytes that are parsed at once: what came in one piece could hold a head of any length."""


class GuardedProtocol(H11Protocol):
    """Closes connections that say nothing, or their head drop by drop."""

    def __init__(self, *given: Any, head_seconds: float = HEAD_SECONDS, **named: Any) -> None:
        super().__init__(*given, **named)
        self._head_seconds = head_seconds
        self._waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for a request, not for ever."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Read on; a new request that has not come whole is waited for, not for ever."""
        before = self.cycle
        for start in range(0, len(data), PIECE):
            super().data_received(data[start : start + PIECE])
            if self.transport.is_closing():
                return
        if self.cycle is not before:
            self._wait_no_more()
        elif self._waiting is None and (before is None or before.response_complete):
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._wait_no_more()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, as every other refusal is."""
        self._wait_no_more()
        status, detail = HTTPStatus.BAD_REQUEST, f"this is no HTTP request: {msg}"
        if len(self.conn.trailing_data[0]) > HEAD_BYTES:
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            detail = f"the head of the request has more than {HEAD_BYTES:,} bytes"
        told = http_problem(status, detail)
        refusal = ProblemResponse(
            told.model_dump(exclude_none=True),
            told.status,
            {**HEADERS, "Cache-Control": "no-store", "Connection": "close"},
        )
        reason = status.phrase.encode()
        for event in (
            h11.Response(status_code=told.status, headers=refusal.raw_headers, reason=reason),
            h11.Data(data=bytes(refusal.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self._head_seconds, self._too_late)

    def _wait_no_more(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _too_late(self) -> None:
        self._waiting = None
        if not self.transport.is_closing():
            self.transport.close()
