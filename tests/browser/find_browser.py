"""Finds the browser that the tests of the page drive: the system's Chromium or Chrome."""

import os
import shutil
from pathlib import Path

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


def find_browser() -> str | None:
    """Path of the browser: that of ``$CHROMIUM`` if set, else the first that there is."""
    named = os.environ.get("CHROMIUM")
    if named:
        return shutil.which(named)
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return found or (str(_MAC) if _MAC.exists() else None)


if __name__ == "__main__":
    raise SystemExit(0 if find_browser() else 1)
