"""The files of the page. What a browser may do with them, the server says on every reply.

Touches: the files of this package (reads).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page."""

    content: bytes
    media_type: str
    etag: str


@cache
def assets() -> Mapping[str, Asset]:
    """The files by name. A name that is not among them leads nowhere, whatever it holds."""
    found = {}
    for file in files("notehop.app.web").joinpath("static").iterdir():
        kind = _TYPES.get(file.name.rpartition(".")[2])
        if kind:
            content = file.read_bytes()
            found[file.name] = Asset(content, kind, f'"{hashlib.sha256(content).hexdigest()[:16]}"')
    return found
