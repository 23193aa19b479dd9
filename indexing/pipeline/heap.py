"""How often Python looks for cycles while a run makes many objects that stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_OBJECTS = 50_000
"""New objects after which Python looks for cycles; its own number is 700. Rows, links and chunks of
a batch hold no cycles: looking through them took a quarter of a first index without the model."""


@contextmanager
def few_collections() -> Iterator[None]:
    """Look for cycles less often in the block."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _NEW_OBJECTS), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
