"""An answer on its way in: its bytes are counted, and how it ended is written down.

Touches: network, index (the egress log).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any

import httpx

from notehop.config.errors import ProviderError
from notehop.indexing.llm.asked import Asked
from notehop.indexing.llm.egress_log import Attempt
from notehop.indexing.llm.errors import of_cut, timed_out, too_long

_ENDS = (b"[DONE]", b"message_stop")
"""What a stream says last: its client does not read on to the end of the connection."""

_TAIL = 64

OPENED: ContextVar[list[Any] | None] = ContextVar("notehop_opened", default=None)
"""Takes the answers that come in, for who must close them: libraries keep generators alive."""


@contextmanager
def opening(into: list[Any]) -> Iterator[None]:
    """Have the answers that begin in the body put into a list."""
    before = OPENED.get()
    OPENED.set(into)
    try:
        yield
    finally:
        OPENED.set(before)


class _Limits:
    """What a reply may have: bytes, seconds, and of a stream, seconds until the next whole line."""

    def __init__(self, asked: Asked, in_lines: bool) -> None:
        self.bytes = 0
        self._asked = asked
        self._in_lines = in_lines
        self._begun = self._line_ended = monotonic()

    def take(self, piece: bytes) -> None:
        """Count a piece that came in.

        :raises ProviderError: if the reply has or takes more than it may.
        """
        now = monotonic()
        self.bytes += len(piece)
        if self.bytes > self._asked.reply_bytes:
            raise too_long(self._asked, f"{self._asked.reply_bytes:,} bytes")
        if now - self._begun > self._asked.reply_s:
            raise too_long(self._asked, f"{self._asked.reply_s:g} s")
        if b"\n" in piece:
            self._line_ended = now
        elif self._in_lines and now - self._line_ended > self._asked.timeout_s:
            raise timed_out(self._asked)


class Counted(httpx.SyncByteStream):
    """An answer as it comes in; what breaks it off is told in our words."""

    def __init__(
        self, inner: httpx.SyncByteStream, attempt: Attempt, asked: Asked, in_lines: bool = False
    ) -> None:
        """:param in_lines: whether it is a stream of events, each of which ends with its line."""
        self._inner = inner
        self._attempt = attempt
        self._asked = asked
        self._limits = _Limits(asked, in_lines)
        self._last = b""
        _keep(self)

    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._inner:
                self._limits.take(piece)
                self._last = (self._last + piece)[-_TAIL:]
                yield piece
        except httpx.TransportError as exc:
            error = of_cut(exc, self._asked)
            self._end(error.kind)
            raise error from exc
        except ProviderError as exc:
            self._end(exc.kind)
            raise
        self._end(None)

    def close(self) -> None:
        self._inner.close()
        self._end(_unread(self._last))

    def _end(self, error: str | None) -> None:
        self._attempt.end(status=200, bytes_in=self._limits.bytes, error=error)


def _keep(stream: Counted) -> None:
    if (into := OPENED.get()) is not None:
        into.append(stream)


def _unread(last: bytes) -> str | None:
    """What became of an answer that was not read on: it was whole, or not wanted any more."""
    return None if any(end in last for end in _ENDS) else "cancelled"
