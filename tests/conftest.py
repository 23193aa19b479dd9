"""The demo vault, indexed once for every test that asks it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A copy of the demo vault and the folder of its index; who changes it puts it back."""
    from notehop.app.container import locate, update_index
    from notehop.app.demo import demo_vault

    root = tmp_path_factory.mktemp("demo")
    folder = shutil.copytree(demo_vault(), root / "Demo")
    update_index(locate(folder, index_dir=root / "index"))
    return folder, root / "index"
