"""A home of its own for every test, as in the tests of the application; a vault and its index."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from notehop import open_vault
from tests.app.conftest import _home as _home
from tests.support.notes import write_notes
from tests.support.product import VaultHandle
from tests.support.real_index import real_index


@pytest.fixture(scope="module")
def where(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A vault of the ``NOTES`` of a test file, else the demo vault, and the folder of its index."""
    if not hasattr(request.module, "NOTES"):
        found: tuple[Path, Path] = request.getfixturevalue("demo")
        return found
    root = tmp_path_factory.mktemp("noted")
    folder = write_notes(root / "My Vault", request.module.NOTES)
    real_index(folder, root / "index")
    return folder, root / "index"


@pytest.fixture(scope="module")
def vault(where: tuple[Path, Path]) -> Iterator[VaultHandle]:
    """That vault, opened."""
    with open_vault(where[0], index_dir=where[1]) as opened:
        yield opened
