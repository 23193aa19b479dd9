"""Wires everything once; the edges call nothing below this package.

The names below are loaded when they are first asked for: opening a vault takes LlamaIndex, listing
its links does not.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.container.capturing import capture_cold
    from app.container.handle import VaultHandle
    from app.container.links import list_links
    from app.container.note_status import note_status
    from app.container.opening import open_place, open_vault
    from app.container.place import Place, locate
    from app.container.status import index_status
    from app.container.update import update_index

__all__ = [
    "Place",
    "VaultHandle",
    "capture_cold",
    "index_status",
    "list_links",
    "locate",
    "note_status",
    "open_place",
    "open_vault",
    "update_index",
]

_HOMES = {
    "Place": "app.container.place",
    "capture_cold": "app.container.capturing",
    "VaultHandle": "app.container.handle",
    "index_status": "app.container.status",
    "list_links": "app.container.links",
    "locate": "app.container.place",
    "note_status": "app.container.note_status",
    "open_place": "app.container.opening",
    "open_vault": "app.container.opening",
    "update_index": "app.container.update",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
