"""Settings and errors: the layer that everything else stands on.

The names below are loaded when they are first asked for: errors alone must not cost the settings.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from notehop.config.layers import load_settings, user_config_file
    from notehop.config.settings import Settings

__all__ = ["Settings", "load_settings", "user_config_file"]

_HOMES = {
    "Settings": "notehop.config.settings",
    "load_settings": "notehop.config.layers",
    "user_config_file": "notehop.config.layers",
}

SWITCHES = {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
"""Variables by which libraries tell their makers nothing, whatever the environment said. onnxruntime
1.29 and later tell Microsoft of each process and session, by default, from native code, and look at
theirs when they begin; the hub's client tells the versions of what is installed with each request."""

# Everything imports this package before it imports a library that would tell.
os.environ.update(SWITCHES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
