"""Switches off what libraries beneath would tell their makers, before any of them is loaded.

onnxruntime 1.29 and later tell Microsoft of each process and session, by default, from native code;
its switch counts only where it stands in the environment when the library begins. The hub's client
tells the versions of what is installed with each request.

Touches: environment (of this process and its children).
"""

from __future__ import annotations

import os

SWITCHES = {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
"""Variables and the values that mean no."""


def switch_off() -> None:
    """Say no to all of it, whatever the environment said."""
    os.environ.update(SWITCHES)
