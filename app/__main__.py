"""``python -m app``: the command ``notehop``."""

from __future__ import annotations

from app.cli import main

main()
