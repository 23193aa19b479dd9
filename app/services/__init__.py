"""Wires everything once; the edges call nothing below this package.

The names below are loaded when they are first asked for: opening a vault takes LlamaIndex, listing
its links does not.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from notehop.app.services.capturing import capture_cold
    from notehop.app.services.handle import VaultHandle
    from notehop.app.services.links import list_links
    from notehop.app.services.note_status import note_status
    from notehop.app.services.opening import open_place, open_vault
    from notehop.app.services.place import Place, locate
    from notehop.app.services.status import index_status
    from notehop.app.services.update import update_index

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
    "Place": "notehop.app.services.place",
    "capture_cold": "notehop.app.services.capturing",
    "VaultHandle": "notehop.app.services.handle",
    "index_status": "notehop.app.services.status",
    "list_links": "notehop.app.services.links",
    "locate": "notehop.app.services.place",
    "note_status": "notehop.app.services.note_status",
    "open_place": "notehop.app.services.opening",
    "open_vault": "notehop.app.services.opening",
    "update_index": "notehop.app.services.update",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
