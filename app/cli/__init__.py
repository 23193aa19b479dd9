"""The command ``notehop``. Touches: terminal."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; the process ends with 0, 1 (failed), 2 (usage) or 130 (Ctrl-C)."""
    from app.cli.program import run

    sys.exit(run(sys.argv[1:]))
