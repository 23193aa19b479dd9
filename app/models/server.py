"""What a server says of itself, and how it says no."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from notehop.app.models.base import Strict


class Health(Strict):
    """Whether a server is up: ``live`` answers at all, ``ready`` without loading anything first.

    ``proof`` answers a challenge, for programs of the same user that have to know which vault and
    index the server is for (see :mod:`notehop.app.services.running_server`); None without one. ``vault``,
    ``generation`` and ``version`` are told to those only who may ask the server everything else.
    """

    live: bool
    ready: bool
    vault: str | None = None
    generation: int | None = None
    version: str | None = None
    proof: str | None = None


class Problem(BaseModel):
    """An RFC 9457 problem detail."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] | None = None
