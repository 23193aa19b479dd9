"""A vault to write into and an index of it, with a model a person can read."""

from pathlib import Path

import pytest

from tests.support.notes import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)
