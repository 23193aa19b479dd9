"""What the system reports of a real folder."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexing.watch import events
from indexing.watch.events import EVERYTHING, Reported, VaultEvents

LONG = 10.0


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / "Notes").mkdir(parents=True)
    (folder / ".obsidian").mkdir()
    (folder / "Notes" / "a.md").write_text("A.")
    return folder.resolve()


@pytest.fixture
def watched(vault: Path) -> Iterator[VaultEvents]:
    found = VaultEvents(vault, settle_ms=20, polling=False)
    found.start()
    yield found
    found.close()


def gathered(watched: VaultEvents, *wanted: str) -> Reported:
    """All that is reported until the wanted paths are among it."""
    paths: set[str] = set()
    settings = False
    end = time.monotonic() + LONG
    while not paths.issuperset(wanted) and time.monotonic() < end:
        reported = watched.take(0.1)
        paths |= reported.paths
        settings |= reported.settings
    return Reported(frozenset(paths), settings)


def test_a_change_is_reported_by_its_path(vault: Path, watched: VaultEvents) -> None:
    (vault / "Notes" / "a.md").write_text("B.")
    assert "Notes/a.md" in gathered(watched, "Notes/a.md").paths


def test_an_editor_that_writes_beside_and_renames_is_seen(
    vault: Path, watched: VaultEvents
) -> None:
    (vault / "Notes" / "a.md.tmp").write_text("B.")
    (vault / "Notes" / "a.md.tmp").replace(vault / "Notes" / "a.md")
    assert "Notes/a.md" in gathered(watched, "Notes/a.md").paths


def test_a_moved_folder_is_reported_by_its_two_paths(vault: Path, watched: VaultEvents) -> None:
    (vault / "Notes").rename(vault / "Papers")
    assert {"Notes", "Papers"} <= gathered(watched, "Notes", "Papers").paths


def test_what_is_no_part_of_the_vault_is_not_reported(vault: Path, watched: VaultEvents) -> None:
    (vault / ".obsidian" / "workspace.json").write_text("{}")
    (vault / ".trash").mkdir()
    (vault / ".trash" / "old.md").write_text("Old.")
    (vault / "last.md").write_text("Last.")
    assert gathered(watched, "last.md").paths == {"last.md"}


def test_the_settings_of_the_app_concern_every_file(vault: Path, watched: VaultEvents) -> None:
    (vault / ".obsidian" / "app.json").write_text("{}")
    found = gathered(watched, EVERYTHING)
    assert found.paths == {EVERYTHING}
    assert not found.settings


def test_the_vaults_own_settings_are_told_apart(vault: Path, watched: VaultEvents) -> None:
    (vault / "notehop.toml").write_text("")
    found = gathered(watched, EVERYTHING)
    assert EVERYTHING in found.paths
    assert found.settings


def test_a_flood_is_the_whole_vault(
    vault: Path, watched: VaultEvents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MANY", 5)
    for number in range(20):
        (vault / f"{number}.md").write_text("Words.")
    assert EVERYTHING in gathered(watched, EVERYTHING).paths


def test_a_folder_that_goes_or_is_another_is_a_failure(vault: Path, watched: VaultEvents) -> None:
    assert watched.failure is None
    away = vault.with_name("away")
    vault.rename(away)
    assert watched.failure is not None
    vault.mkdir()
    assert watched.failure is not None


def test_a_folder_that_cannot_be_watched_fails_at_once(tmp_path: Path) -> None:
    found = VaultEvents(tmp_path / "nowhere", settle_ms=20, polling=False)
    found.start()
    assert found.failure is not None
    assert found.take(0) == Reported(frozenset())
    found.close()


def test_a_disk_that_tells_nothing_is_looked_at(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_POLL_MS", 50)
    found = VaultEvents(vault, settle_ms=20, polling=True)
    found.start()
    (vault / "new.md").write_text("New.")
    assert "new.md" in gathered(found, "new.md").paths
    found.close()
