"""What a command does to the log of its process is undone: here all of them share one."""

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _log() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
