"""What others bring to a server: the page and the protocol for agents, which the API knows not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from starlette.routing import BaseRoute


@dataclass(frozen=True, slots=True)
class Part:
    """Routes, and what has to run while they are served."""

    routes: Sequence[BaseRoute]
    lifespan: Callable[[], AbstractAsyncContextManager[None]] | None = None
