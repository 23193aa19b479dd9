"""Twenty clients ask while two thousand files change: no error, and nothing that is not there."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

import pytest

from tests.soak.load import under_load

pytestmark = [pytest.mark.model, pytest.mark.bench]


def test_two_thousand_changes_under_load(tmp_path: Path) -> None:
    found = under_load(
        tmp_path / "vault",
        tmp_path / "index",
        notes=2_500,
        changes=2_000,
        clients=20,
        pause=0.03,
        calm=10,
        patience=600,
    )
    during, after = found.during, found.after
    times = statistics.quantiles(during.milliseconds, n=20)
    sys.stdout.write(
        f"\n2,000 changes in {found.seconds:.0f} s, caught up {found.catching_up:.1f} s after the "
        f"last; {during.asked:,} replies meanwhile ({during.shown:,} passages, {during.left_out:,} "
        f"replies left some out), {after.asked:,} after; median {times[9]:.0f} ms, "
        f"95th percentile {times[18]:.0f} ms\n"
    )
    assert during.wrong + after.wrong == []
    assert during.asked > 100
    assert after.asked > 20
