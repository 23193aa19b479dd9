"""The log of a server."""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from contextvars import ContextVar
from typing import Any

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request that is being answered, in its task and in the threads that work for it."""

_PLAIN = re.compile(r"[\w./:{}@%+-]+", re.ASCII)


class KeyValue(logging.Formatter):
    """A record as ``time=… level=… logger=… request=… message="…" key=value``; no text can forge a line."""

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
        texts = {key: str(value) for key, value in fields.items()}
        return " ".join(
            f"{key}={text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)}"
            for key, text in texts.items()
        )


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
