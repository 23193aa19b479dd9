"""Wires everything once; the edges call nothing below this package.

The names below are loaded when they are first asked for: opening a vault takes LlamaIndex, listing
its links does not.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from notehop.app.container.capturing import capture_cold
    from notehop.app.container.handle import VaultHandle
    from notehop.app.container.links import list_links
    from notehop.app.container.note_status import note_status
    from notehop.app.container.opening import open_place, open_vault
    from notehop.app.container.place import Place, locate
    from notehop.app.container.status import index_status
    from notehop.app.container.update import update_index

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
    "Place": "notehop.app.container.place",
    "capture_cold": "notehop.app.container.capturing",
    "VaultHandle": "notehop.app.container.handle",
    "index_status": "notehop.app.container.status",
    "list_links": "notehop.app.container.links",
    "locate": "notehop.app.container.place",
    "note_status": "notehop.app.container.note_status",
    "open_place": "notehop.app.container.opening",
    "open_vault": "notehop.app.container.opening",
    "update_index": "notehop.app.container.update",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
