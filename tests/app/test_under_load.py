"""Twenty clients ask a real server while its vault changes; the long form is in ``tests/soak``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.load import under_load
from tests.support.real_index import lend_query_model


@pytest.mark.slow
@pytest.mark.model
def test_sixty_changes_under_load(tmp_path: Path) -> None:
    vault, index = tmp_path / "vault", tmp_path / "index"
    lend_query_model(vault, index)
    found = under_load(
        vault, index, notes=60, changes=60, clients=20, pause=0.02, calm=1, patience=60
    )
    assert found.during.wrong + found.after.wrong == []
    assert found.during.shown > 0
    assert found.after.shown > 0
