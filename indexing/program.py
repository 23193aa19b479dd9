"""How another process of the index is started."""

from __future__ import annotations

import sys

PROGRAM = (sys.executable, "-P", "-m", "notehop.indexing")
"""``python -m notehop.indexing``. -P: the folder that this process runs in, a vault perhaps, is not where
modules come from."""
