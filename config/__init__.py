"""Settings and errors: the layer that everything else stands on.

The names below are loaded when they are first asked for: errors alone must not cost the settings.

Touches: environment (see :mod:`notehop.config.telemetry`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from notehop.config.telemetry import switch_off

if TYPE_CHECKING:
    from notehop.config.layers import load_settings, user_config_file
    from notehop.config.settings import Settings

__all__ = ["Settings", "load_settings", "user_config_file"]

_HOMES = {
    "Settings": "notehop.config.settings",
    "load_settings": "notehop.config.layers",
    "user_config_file": "notehop.config.layers",
}

# Everything imports this package before it imports a library that would tell.
switch_off()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
