"""Fixtures of the tests of the stores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.product import Catalog
from tests.support.sample_index import SampleIndex


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with Catalog.open(tmp_path / "catalog.sqlite", create=True) as opened:
        yield opened


@pytest.fixture
def index(tmp_path: Path) -> SampleIndex:
    return SampleIndex(tmp_path / "index")
