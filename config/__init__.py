"""Settings and errors: the layer that everything else stands on."""

from __future__ import annotations

from config.layers import load_settings, user_config_file
from config.settings import Settings

__all__ = ["Settings", "load_settings", "user_config_file"]
