"""``notehop plugin``: three files below .obsidian/plugins/notehop, and away again."""

import json
import os
from importlib.metadata import version
from pathlib import Path
from shlex import quote

import pytest
from typer.testing import Result

from tests.support import commands

NAMES = ["main.js", "manifest.json", "styles.css"]


def call(action: str, vault: Path, *more: str) -> Result:
    return commands.call("plugin", action, vault, *more)


@pytest.fixture
def opened(tmp_path: Path) -> Path:
    """A vault that the app has opened."""
    (tmp_path / "Notes" / ".obsidian").mkdir(parents=True)
    (tmp_path / "Notes" / "Tide.md").write_text("High water.\n")
    return tmp_path / "Notes"


def folder(vault: Path) -> Path:
    return vault / ".obsidian" / "plugins" / "notehop"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def files(vault: Path) -> list[str]:
    return sorted(path.relative_to(vault).as_posix() for path in vault.rglob("*") if path.is_file())


def test_install_and_remove(opened: Path) -> None:
    before = files(opened)
    result = call("install", opened, "--yes")
    assert result.exit_code == 0, result.output
    assert "installed version 0.1.0" in result.stdout
    assert f"notehop serve --vault {quote(str(opened))}\n" in result.stdout
    assert names(folder(opened)) == NAMES
    manifest = json.loads((folder(opened) / "manifest.json").read_text())
    assert (manifest["id"], manifest["isDesktopOnly"]) == ("notehop", True)
    assert manifest["version"] == version("notehop")
    (folder(opened) / "data.json").write_text("{}")  # the app keeps the settings there
    (folder(opened) / "main.js").write_text("older")
    again = call("install", opened, "--yes", "--json")
    assert json.loads(again.stdout)["version"] == "0.1.0"
    assert (folder(opened) / "main.js").read_text() != "older"
    assert (folder(opened) / "data.json").read_text() == "{}"
    assert "removed from" in call("remove", opened, "--yes").stdout
    assert files(opened) == before
    assert not folder(opened).exists()
    assert "no plugin of notehop" in call("remove", opened).stdout


def test_it_asks_before(opened: Path) -> None:
    for action in ("install", "remove"):
        result = call(action, opened)
        if action == "remove":
            assert names(folder(opened)) == NAMES
        else:
            assert not folder(opened).exists()
            assert "manifest.json" in result.stderr
            call("install", opened, "--yes")
        assert result.exit_code == 2
        assert "--yes" in result.stderr


def test_what_is_of_others_stays(opened: Path) -> None:
    call("install", opened, "--yes")
    (folder(opened) / "notes.txt").write_text("mine")
    result = call("remove", opened, "--yes")
    assert result.exit_code == 0
    assert names(folder(opened)) == ["notes.txt"]
    (folder(opened) / "manifest.json").write_text('{"id": "another"}')
    result = call("install", opened, "--yes")
    assert result.exit_code == 1
    assert "another plugin" in result.stderr


@pytest.mark.parametrize("held", [b"[" * 100_000, b'"' + b"x" * 2_000_000 + b'"', None])
def test_a_manifest_that_is_a_trap_is_named(opened: Path, held: bytes | None) -> None:
    folder(opened).mkdir(parents=True)
    manifest = folder(opened) / "manifest.json"
    if held is None:
        os.mkfifo(manifest)
    else:
        manifest.write_bytes(held)
    for action in ("install", "remove"):
        result = call(action, opened, "--yes")
        assert result.exit_code == 1
        assert "cannot be read as a plugin" in result.stderr


def test_what_another_wrote_reaches_no_terminal(opened: Path) -> None:
    folder(opened).mkdir(parents=True)
    (folder(opened) / "manifest.json").write_text('{"id": "notehop", "version": "1\\u001b[2J"}')
    for action in ("install", "remove"):
        assert "\x1b[2J" not in call(action, opened).output


def test_a_folder_that_is_no_vault_is_told_so(tmp_path: Path) -> None:
    result = call("install", tmp_path, "--yes")
    assert result.exit_code == 2
    assert "has no folder .obsidian" in result.stderr
    assert names(tmp_path) == []


@pytest.mark.parametrize("at", [".obsidian", ".obsidian/plugins", ".obsidian/plugins/notehop"])
def test_a_link_that_leads_out_is_refused(opened: Path, tmp_path: Path, at: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (opened / at).parent.mkdir(parents=True, exist_ok=True)
    if (opened / at).is_dir():
        (opened / at).rmdir()
    (opened / at).symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    for action in ("install", "remove"):
        result = call(action, opened, "--yes")
        assert result.exit_code == 1
        assert "leads out of the vault" in result.stderr
    assert names(tmp_path / "elsewhere") == []


def test_a_linked_file_is_replaced_and_not_written_through(opened: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.js").write_text("mine")
    folder(opened).mkdir(parents=True)
    (folder(opened) / "main.js").symlink_to(tmp_path / "mine.js")
    assert call("install", opened, "--yes").exit_code == 0
    assert (tmp_path / "mine.js").read_text() == "mine"
    assert not (folder(opened) / "main.js").is_symlink()


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("at", range(3))
def test_no_half_plugin_is_ever_there(
    opened: Path, monkeypatch: pytest.MonkeyPatch, at: int, older: bool
) -> None:
    """A run that ends anywhere leaves a folder in which the app sees no plugin, and the next mends it."""
    if older:
        call("install", opened, "--yes")
    made: list[str] = []
    real = Path.write_bytes

    def breaking(self: Path, data: bytes) -> int:
        if len(made) == at:
            raise KeyboardInterrupt
        made.append(self.name)
        return real(self, data)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", breaking)
        assert call("install", opened, "--yes").exit_code != 0
    assert "manifest.json" not in names(folder(opened))
    assert call("install", opened, "--yes").exit_code == 0
    assert names(folder(opened)) == NAMES
