"""Tests that run for as long as they are told to: `make soak MINUTES=20`."""

import pytest

from tests.indexing.crashes.conftest import folder, forks

__all__ = ["folder", "forks"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak-minutes", type=float, default=20.0, help="minutes that each soak test runs")


@pytest.fixture
def soak_minutes(request: pytest.FixtureRequest) -> float:
    return float(request.config.getoption("--soak-minutes"))
