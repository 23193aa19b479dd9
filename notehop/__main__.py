"""``python -m notehop``: the command ``notehop``."""

from __future__ import annotations

from notehop.app.cli import main

main()
