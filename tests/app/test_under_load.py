"""Twenty clients ask a real server while its vault changes; the long form is in ``tests/soak``."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from notehop.indexing.stores.layout import IndexLayout
from tests.soak.load import under_load


@pytest.mark.model
def test_sixty_changes_under_load(tmp_path: Path, indexed: tuple[Path, Path]) -> None:
    vault, layout = tmp_path / "vault", IndexLayout(tmp_path / "index")
    layout.create(vault)
    # The door of the same model, made already: the first run needs no torch.
    shutil.copytree(IndexLayout(indexed[1]).model, layout.model)
    found = under_load(
        vault, layout.root, notes=60, changes=60, clients=20, pause=0.02, calm=1, patience=60
    )
    assert found.during.wrong + found.after.wrong == []
    assert found.during.shown > 0
    assert found.after.shown > 0
