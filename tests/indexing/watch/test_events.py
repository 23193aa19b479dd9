"""What the system reports of a real folder."""

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.product import EVERYTHING, Timing, VaultEvents

LONG = 60.0


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / "Notes").mkdir(parents=True)
    (folder / ".obsidian").mkdir()
    (folder / "Notes" / "a.md").write_text("A.")
    return folder.resolve()


@pytest.fixture
def watched(vault: Path) -> Iterator[VaultEvents]:
    found = VaultEvents(vault, Timing(settle_ms=20))
    found.start()
    yield found
    found.close()


def gathered(watched: VaultEvents, *wanted: str) -> set[str]:
    """All that is reported until the wanted paths are among it."""
    paths: set[str] = set()
    end = time.monotonic() + LONG
    while not paths.issuperset(wanted) and time.monotonic() < end:
        paths |= watched.take(0.1)[0]
    return paths


def test_what_is_no_part_of_the_vault_is_not_reported(vault: Path, watched: VaultEvents) -> None:
    (vault / ".obsidian" / "workspace.json").write_text("{}")
    (vault / ".trash").mkdir()
    (vault / ".trash" / "old.md").write_text("Old.")
    (vault / "last.md").write_text("Last.")
    assert gathered(watched, "last.md") == {"last.md"}


def test_a_disk_that_tells_nothing_is_looked_at(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "1")
    found = VaultEvents(vault, Timing(settle_ms=20, poll_ms=50))
    found.start()
    (vault / "new.md").write_text("New.")
    assert "new.md" in gathered(found, "new.md")
    found.close()


def test_very_many_changes_are_everything(vault: Path) -> None:
    found = VaultEvents(vault, Timing(settle_ms=20, many=3))
    found.start()
    for number in range(5):
        (vault / f"{number}.md").write_text("New.")
    assert EVERYTHING in gathered(found, EVERYTHING)
    found.close()


def watches() -> int:
    """How many folders the system watches for this process."""
    count = 0
    for file in Path("/proc/self/fdinfo").iterdir():
        with suppress(OSError):
            count += file.read_text().count("inotify wd")
    return count


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
def test_links_and_hidden_folders_are_not_watched(vault: Path) -> None:
    far = vault.with_name("far")
    for number in range(20):
        (far / str(number)).mkdir(parents=True)
        (vault / ".git" / "objects" / str(number)).mkdir(parents=True)
    (vault / "link").symlink_to(far)
    (vault / "Notes" / "up").symlink_to(vault)
    before = watches()
    found = VaultEvents(vault, Timing(settle_ms=20))
    found.start()
    # The vault, Notes and .obsidian.
    assert watches() - before == 3
    (far / "1" / "far.md").write_text("Far.")
    (vault / "near.md").write_text("Near.")
    assert gathered(found, "near.md") == {"near.md"}
    found.close()


def test_folders_that_come_are_watched_with_all_below(vault: Path, watched: VaultEvents) -> None:
    (vault / "New" / "Deep").mkdir(parents=True)
    gathered(watched, "New")
    settle(watched)
    (vault / "New" / "Deep" / "a.md").write_text("A.")
    assert "New/Deep/a.md" in gathered(watched, "New/Deep/a.md")


def test_settings_of_the_app_that_come_or_go_concern_every_file(vault: Path, watched: VaultEvents) -> None:
    (vault / ".obsidian").rename(vault / ".away")
    assert EVERYTHING in gathered(watched, EVERYTHING)
    settle(watched)
    (vault / ".away").rename(vault / ".obsidian")
    assert EVERYTHING in gathered(watched, EVERYTHING)
    settle(watched)
    (vault / ".obsidian" / "app.json").write_text("{}")
    assert EVERYTHING in gathered(watched, EVERYTHING)


def settle(watched: VaultEvents) -> None:
    while watched.take(0.3)[0]:
        pass
