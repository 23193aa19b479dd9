"""Processes that are killed at random times: the short form of `make soak`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.indexing.crashes.blind import Blind
from tests.indexing.crashes.forks import Forks

KILLS = 15


@pytest.mark.slow
def test_kills_at_random_times_lose_nothing(forks: Forks, folder: Path) -> None:
    blind = Blind(forks, folder, seed=7)
    while blind.did["killed"] < KILLS:
        blind.round()
        assert blind.did["rounds"] < 20 * KILLS, f"hardly a run was killed: {blind.did}"
