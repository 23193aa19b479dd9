"""Processes that may be killed."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.indexing.crashes.forks import Forks


@pytest.fixture(scope="session")
def forks() -> Forks:
    if not hasattr(os, "fork"):
        pytest.skip("the system does not fork")
    return Forks()


def _in_memory() -> Iterator[Path]:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as made:
        yield Path(made)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory where there is one: what a process wrote outlives its end there too."""
    yield from _in_memory()


@pytest.fixture(scope="module")
def shared_folder() -> Iterator[Path]:
    yield from _in_memory()
