"""notehop in Python: index a vault, open it, search it, ask it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from notehop.app import open_vault
    from notehop.config.errors import NotehopError
    from notehop.indexing import index_vault

__all__ = ["NotehopError", "index_vault", "open_vault"]

# In a wheel the packages lie in this folder, in a checkout beside it.
_CHECKOUT = Path(__file__).parent.parent
if not (_CHECKOUT / "notehop" / "app").exists():
    __path__.append(str(_CHECKOUT))

_HOMES = {
    "NotehopError": "notehop.config.errors",
    "index_vault": "notehop.indexing",
    "open_vault": "notehop.app",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for: ``import notehop`` alone costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
