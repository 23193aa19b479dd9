"""Tells tiktoken where the files of its encodings are, for as long as one is loaded.

It knows no other way than a variable; left to itself it would fetch them.

Touches: environment (of this process, for a moment).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VARIABLE = "TIKTOKEN_CACHE_DIR"


@contextmanager
def tokenizer_files(folder: Path) -> Iterator[None]:
    """Have encodings looked for in a folder; what was set before is set again."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = os.fspath(folder)
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before
