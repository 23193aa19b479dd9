"""A home of its own for every test, a small vault, and its index with the real model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from notehop import open_vault
from tests.support.notes import NOTES, write_notes
from tests.support.product import Place, VaultHandle, locate


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the settings or the indexes of who runs it."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "My vault", NOTES)


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The small vault and the folder of its index; tests only read them."""
    from tests.support.real_index import real_index

    root = tmp_path_factory.mktemp("indexed")
    folder = write_notes(root / "My vault", NOTES)
    real_index(folder, root / "index")
    return folder, root / "index"


@pytest.fixture
def place(indexed: tuple[Path, Path]) -> Place:
    return locate(indexed[0], index_dir=indexed[1])


@pytest.fixture(scope="session")
def opened(indexed: tuple[Path, Path]) -> Iterator[VaultHandle]:
    with open_vault(indexed[0], index_dir=indexed[1]) as handle:
        yield handle
