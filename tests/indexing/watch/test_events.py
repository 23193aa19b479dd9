"""What the system reports of a real folder."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from watchfiles._rust_notify import RustNotify

from tests.support.product import EVERYTHING, Reported, Timing, VaultEvents, folders_of, notices

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


def test_a_flood_is_the_whole_vault(vault: Path) -> None:
    found = VaultEvents(vault, settle_ms=20, polling=False, timing=Timing(many=5))
    found.start()
    for number in range(20):
        (vault / f"{number}.md").write_text("Words.")
    assert EVERYTHING in gathered(found, EVERYTHING).paths
    found.close()


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


def test_a_disk_that_tells_nothing_is_looked_at(vault: Path) -> None:
    found = VaultEvents(vault, settle_ms=20, polling=True, timing=Timing(poll_ms=50))
    found.start()
    (vault / "new.md").write_text("New.")
    assert "new.md" in gathered(found, "new.md").paths
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
    found = VaultEvents(vault, settle_ms=20, polling=False)
    found.start()
    # The vault, Notes and .obsidian.
    assert watches() - before == 3
    (far / "1" / "far.md").write_text("Far.")
    (vault / "near.md").write_text("Near.")
    assert gathered(found, "near.md").paths == {"near.md"}
    found.close()


def test_folders_that_come_are_watched_with_all_below(vault: Path, watched: VaultEvents) -> None:
    (vault / "New" / "Deep").mkdir(parents=True)
    gathered(watched, "New")
    settle(watched)
    (vault / "New" / "Deep" / "a.md").write_text("A.")
    assert "New/Deep/a.md" in gathered(watched, "New/Deep/a.md").paths


def test_a_folder_is_watched_where_it_went(vault: Path, watched: VaultEvents) -> None:
    (vault / "Notes").rename(vault / "Papers")
    gathered(watched, "Notes", "Papers")
    settle(watched)
    (vault / "Papers" / "b.md").write_text("B.")
    assert gathered(watched, "Papers/b.md").paths == {"Papers/b.md"}


def test_another_folder_of_the_same_name_is_watched(vault: Path, watched: VaultEvents) -> None:
    (vault / "Notes" / "a.md").unlink()
    (vault / "Notes").rmdir()
    (vault / "Notes").mkdir()
    gathered(watched, "Notes")
    settle(watched)
    (vault / "Notes" / "b.md").write_text("B.")
    assert "Notes/b.md" in gathered(watched, "Notes/b.md").paths


def test_settings_of_the_app_that_come_or_go_concern_every_file(
    vault: Path, watched: VaultEvents
) -> None:
    (vault / ".obsidian").rename(vault / ".away")
    assert EVERYTHING in gathered(watched, EVERYTHING).paths
    settle(watched)
    (vault / ".away").rename(vault / ".obsidian")
    assert EVERYTHING in gathered(watched, EVERYTHING).paths
    settle(watched)
    (vault / ".obsidian" / "app.json").write_text("{}")
    assert EVERYTHING in gathered(watched, EVERYTHING).paths


def test_a_name_that_is_no_utf8_ends_nothing(vault: Path, watched: VaultEvents) -> None:
    for number in range(2):
        Path(os.fsdecode(os.fsencode(vault) + b"/bad\xff.txt")).write_text("x" * number)
        end = time.monotonic() + LONG
        while not watched.take(0.1).lost:
            assert time.monotonic() < end
    assert watched.failure is None
    (vault / "Notes" / "a.md").write_text("B.")
    assert "Notes/a.md" in gathered(watched, "Notes/a.md").paths


def test_two_watches_at_once_may_be_too_many(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of the system holds for the old and the new one together."""
    made: list[OnlyOne] = []

    class OnlyOne:
        def __init__(self, paths: list[str], *rest: Any) -> None:
            if any(not one.closed for one in made):
                raise OSError("OS file watch limit reached.")
            self.closed = False
            self._real = RustNotify(paths, *rest)
            made.append(self)

        def watch(self, *asked: Any) -> Any:
            return self._real.watch(*asked)

        def close(self) -> None:
            self.closed = True
            self._real.close()

    monkeypatch.setattr(notices, "RustNotify", OnlyOne)
    found = VaultEvents(vault, settle_ms=20, polling=False)
    found.start()
    (vault / "New").mkdir()
    end = time.monotonic() + LONG
    while not found.take(0.1).lost:
        assert time.monotonic() < end
    assert found.failure is None
    (vault / "New" / "a.md").write_text("A.")
    assert "New/a.md" in gathered(found, "New/a.md").paths
    found.close()


def test_a_disk_that_does_not_answer_does_not_hold_up_the_start(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()

    def slow(folder: Path) -> frozenset[str]:
        answers.wait(LONG)
        return folders_of(folder)

    monkeypatch.setattr(notices, "folders_of", slow)
    found = VaultEvents(vault, settle_ms=20, polling=False, timing=Timing(start=0.05))
    found.start()
    assert found.failure is None
    assert found.take(0) == Reported(frozenset())
    answers.set()
    # What changed before is not known.
    assert EVERYTHING in gathered(found, EVERYTHING).paths
    (vault / "a.md").write_text("A.")
    assert "a.md" in gathered(found, "a.md").paths
    found.close()


def settle(watched: VaultEvents) -> None:
    """Wait until nothing more is reported."""
    while watched.take(0.3).paths:
        pass
