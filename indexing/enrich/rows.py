"""What the store keeps, as values, and the rows of its tables. Pure."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["summary", "extract", "header"]


@dataclass(frozen=True, slots=True)
class Text:
    """What was written. ``model`` names who wrote it; of an extract, the rules. ``tokens`` is what
    it cost, sent and received together."""

    key: str
    kind: Kind
    text: str
    model: str
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Use:
    """A text that a note of a content has, or should have."""

    path: str
    key: str
    kind: Kind
    note_hash: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A text that the model did not write. ``last`` is in seconds since the epoch."""

    key: str
    path: str
    kind: Kind
    reason: str
    tries: int
    last: float


def use_row(use: Use, now: float) -> dict[str, Any]:
    return {
        "path": use.path,
        "key": use.key,
        "kind": use.kind,
        "note_hash": use.note_hash,
        "current": True,
        "since": now,
    }


def text_row(text: Text, now: float) -> dict[str, Any]:
    return {
        "key": text.key,
        "kind": text.kind,
        "text": text.text,
        "model": text.model,
        "tokens": text.tokens,
        "made": now,
        "checksum": checksum(text.key, text.text),
    }


def checksum(key: str, text: str) -> int:
    return zlib.crc32(f"{key}\n{text}".encode())
