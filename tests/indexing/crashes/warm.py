"""Imports what jobs do, by doing it once: imported where jobs are forked, so that none imports it again."""

import tempfile
from pathlib import Path

from tests.indexing.crashes import jobs
from tests.indexing.crashes.homes import FIRST, write

with tempfile.TemporaryDirectory() as _home:
    write(Path(_home) / "vault", FIRST)
    _ended = jobs.mended(_home)
    assert _ended["error"] is None, _ended["error"]
