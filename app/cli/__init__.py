"""The command ``notehop``."""

from __future__ import annotations

import gc
import os
import sys

_NEW_OBJECTS = 50_000
"""New objects after which Python looks for cycles; its own number is 700. What is loaded at the
start stays: looking through it took a tenth of the time of loading it."""


def main() -> None:
    """Run the command line; the process ends with 0, 1 (failed), 2 (usage) or 130 (Ctrl-C)."""
    # To look for plugins of pydantic, which nobody has here, reads what every package brings.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
    from notehop.app.cli.program import run

    code = run(sys.argv[1:])
    # At its end the interpreter looks through all that was loaded, a tenth of a second and more.
    gc.freeze()
    sys.exit(code)
