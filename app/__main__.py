"""``python -m notehop.app``: the command ``notehop``."""

from __future__ import annotations

from notehop.app.cli import main

main()
