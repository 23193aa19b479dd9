"""A note is meant by its path from the vault or from here, or by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from notehop.app.container.notes import find_note
from notehop.config.errors import UsageError
from notehop.indexing.graph.files import VaultFiles

FILES = VaultFiles(
    ["Home.md", "work/Plan.md", "home/Plan.md", "work/1.5 goals.md", "work/map.png", "ü.md"],
    (),
    {"Home.md": ["Start"]},
)


@pytest.mark.parametrize(
    ("said", "path"),
    [
        pytest.param("Home.md", "Home.md", id="path"),
        pytest.param("Home", "Home.md", id="without-suffix"),
        pytest.param("work/Plan", "work/Plan.md", id="folder"),
        pytest.param("./work/Plan.md", "work/Plan.md", id="dot"),
        pytest.param("work/1.5 goals", "work/1.5 goals.md", id="dot-in-the-name"),
        pytest.param("1.5 goals", "work/1.5 goals.md", id="name"),
        pytest.param("home", "Home.md", id="other-case"),
        pytest.param("Start", "Home.md", id="alias"),
        pytest.param("u\u0308", "ü.md", id="other-unicode-form"),
    ],
)
def test_find(tmp_path: Path, said: str, path: str) -> None:
    assert find_note(FILES, tmp_path, said) == path


def test_find_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    assert find_note(FILES, tmp_path, "../Home") == "Home.md"
    assert find_note(FILES, tmp_path, "Plan.md") == "work/Plan.md"
    assert find_note(FILES, tmp_path, str(tmp_path / "home" / "Plan.md")) == "home/Plan.md"


@pytest.mark.parametrize(
    ("said", "says"),
    [
        pytest.param("Plan", "2 notes: home/Plan.md, work/Plan.md", id="several"),
        pytest.param("work/Plam", "did you mean work/Plan.md", id="close"),
        pytest.param("zzz", "no note of", id="none"),
        pytest.param("", "name of the note is empty", id="empty"),
        pytest.param("map.png", "no note of", id="attachment"),
        pytest.param("/etc/passwd", "no note of", id="outside"),
    ],
)
def test_not_found(tmp_path: Path, said: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        find_note(FILES, tmp_path, said)
