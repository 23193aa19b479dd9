"""A home of its own for every test, a small vault, and its index with the real model."""

from __future__ import annotations

from pathlib import Path

import pytest

NOTES = {
    "Atlas.md": (
        "---\naliases: [Project A]\n---\n"
        "Atlas is the map project. Work on it is planned in [[Plan]]. It began as a drawing on a "
        "napkin, grew into a proposal in winter, and has kept three people busy since then.\n\n"
        "## Timeline\n"
        "The launch of Atlas is on 14 June 2027. Why so late stands in [[people/Priya 1-1]]. "
        "The tiles come first, then the search box, then the printed edition for the walkers.\n"
    ),
    "Plan.md": "# Plan\nThe beta of Atlas starts on 2 May, and testers come from [[Nowhere]].\n",
    "people/Priya 1-1.md": (
        "We talked about the launch. Priya needs four more weeks for the map tiles.\n"
    ),
    "people/Secret.md": "---\nprivate: true\n---\nNobody reads this launch note.\n",
    "Bread.md": "# Sourdough\nFeed the starter every morning, bake on Sunday. See [[Secret]].\n",
}


def write_notes(vault: Path, notes: dict[str, str]) -> Path:
    """Write notes into a folder that the application would take for a vault."""
    (vault / ".obsidian").mkdir(parents=True)
    for path, text in notes.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(text, encoding="utf-8")
    return vault


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the settings or the indexes of who runs it."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """The small vault, not indexed."""
    return write_notes(tmp_path / "My vault", NOTES)


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The small vault and the folder of its index; tests only read them."""
    from tests.support.real_index import real_index

    root = tmp_path_factory.mktemp("indexed")
    folder = write_notes(root / "My vault", NOTES)
    real_index(folder, root / "index")
    return folder, root / "index"
