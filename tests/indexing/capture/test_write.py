"""A note is written whole, under a name of its own, and nowhere but in the vault."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest

from tests.support.product import CaptureFailed, VaultError, keep, write, write_new

NOW = datetime(2026, 11, 22, 9, 31)


def name(number: int) -> str:
    return f"Tea {number}.md"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


def everything(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_folder_is_made(vault: Path) -> None:
    assert write_new(vault, "Notes/In box", name, "tea") == "Notes/In box/Tea 1.md"
    assert everything(vault) == {"Notes/In box/Tea 1.md": "tea"}


def test_no_folder_is_the_vault_itself(vault: Path) -> None:
    assert write_new(vault, "", name, "tea") == "Tea 1.md"


@pytest.mark.parametrize("taken", ["Tea 1.md", "TEA 1.MD", "tea 1.md"])
def test_what_is_there_stays(vault: Path, taken: str) -> None:
    (vault / taken).write_text("mine")
    assert write_new(vault, "", name, "tea") == "Tea 2.md"
    assert everything(vault) == {taken: "mine", "Tea 2.md": "tea"}


@pytest.mark.parametrize("made", ["folder", "link"])
def test_a_name_may_be_that_of_anything(vault: Path, made: str) -> None:
    taken = vault / "Tea 1.md"
    if made == "folder":
        taken.mkdir()
    else:
        taken.symlink_to(vault / "nowhere")
    assert write_new(vault, "", name, "tea") == "Tea 2.md"
    assert not (vault / "nowhere").exists()


@pytest.mark.parametrize("links", [True, False], ids=["links", "no-links"])
def test_threads_never_share_a_name(
    vault: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    if not links:
        monkeypatch.setattr(write.os, "link", _refuses)
    with ThreadPoolExecutor(8) as threads:
        paths = list(threads.map(lambda n: write_new(vault, "", name, str(n)), range(40)))
    assert len(set(paths)) == 40
    assert sorted(everything(vault).values(), key=int) == [str(n) for n in range(40)]


def test_processes_never_share_a_name(vault: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from notehop.indexing.capture.write import write_new\n"
        "for n in range(20): write_new(Path(sys.argv[1]), 'In', lambda i: f'{i}.md', sys.argv[2])"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(vault), who]) for who in ("a", "b")
    ]
    assert [process.wait(60) for process in running] == [0, 0]
    found = everything(vault)
    assert sorted(found) == sorted(f"In/{n}.md" for n in range(1, 41))
    assert sorted(found.values()) == ["a"] * 20 + ["b"] * 20


def test_a_disk_without_hard_links(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write.os, "link", _refuses)
    (vault / "Tea 1.md").write_text("mine")
    assert write_new(vault, "", name, "tea") == "Tea 2.md"
    assert everything(vault) == {"Tea 1.md": "mine", "Tea 2.md": "tea"}


def test_a_full_disk_leaves_nothing(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(write.os, "fsync", full)
    with pytest.raises(CaptureFailed, match="No space left"):
        write_new(vault, "In", name, "tea")
    assert everything(vault) == {}


@pytest.mark.parametrize("folder", ["In", "In/deeper", "Sub/In"])
def test_a_folder_that_leads_out_of_the_vault(vault: Path, tmp_path: Path, folder: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (vault / "In").symlink_to(outside, target_is_directory=True)
    (vault / "Sub").mkdir()
    (vault / "Sub" / "In").symlink_to("../../outside", target_is_directory=True)
    with pytest.raises(CaptureFailed, match="leads out of the vault"):
        write_new(vault, folder, name, "tea")
    assert everything(outside) == {}
    assert list(outside.iterdir()) == []


def test_a_folder_that_leads_into_what_the_app_hides(vault: Path) -> None:
    (vault / ".trash").mkdir()
    (vault / "In").symlink_to(".trash", target_is_directory=True)
    with pytest.raises(CaptureFailed, match="no part of the vault"):
        write_new(vault, "In", name, "tea")
    assert everything(vault) == {}


def test_a_link_inside_the_vault_is_followed_and_the_real_path_told(vault: Path) -> None:
    (vault / "Real").mkdir()
    (vault / "In").symlink_to("Real", target_is_directory=True)
    assert write_new(vault, "In", name, "tea") == "Real/Tea 1.md"


def test_a_vault_behind_a_link(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(vault, target_is_directory=True)
    assert write_new(tmp_path / "alias", "In", name, "tea") == "In/Tea 1.md"


@pytest.mark.parametrize("loop", [True, False], ids=["loop", "file"])
def test_no_folder_at_all(vault: Path, loop: bool) -> None:
    if loop:
        (vault / "In").symlink_to("In")
    else:
        (vault / "In").write_text("a file")
    with pytest.raises(CaptureFailed, match=r"capture\.folder"):
        write_new(vault, "In", name, "tea")


def test_no_vault(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="no such folder"):
        write_new(tmp_path / "gone", "In", name, "tea")
    assert not (tmp_path / "gone").exists()


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(vault: Path) -> None:
    (vault / "In").mkdir(mode=0o555)
    with pytest.raises(CaptureFailed, match="ermission"):
        write_new(vault, "In", name, "tea")


def test_a_note_is_kept_whole(vault: Path) -> None:
    kept = keep(vault, "In", "We met [[Bram]].", title='Odd: "title"?', tags=["x"], now=NOW)
    assert kept.path == "In/2026-11-22 0931 Odd title.md"
    assert kept.note.text == (vault / kept.path).read_text()
    assert (kept.note.title, kept.note.tags) == ('Odd: "title"?', ("x",))
    assert [link.target for link in kept.note.links] == ["Bram"]


def test_a_title_that_the_name_says_is_not_said_twice(vault: Path) -> None:
    kept = keep(vault, "", "Text", title=" Sea  wall ", now=NOW)
    assert kept.path == "2026-11-22 0931 Sea wall.md"
    assert "title" not in kept.note.front_matter


def test_a_text_may_name_its_title_itself(vault: Path) -> None:
    kept = keep(vault, "", "---\ntitle: Sea wall\n---\nText", now=NOW)
    assert kept.path == "2026-11-22 0931 Sea wall.md"


def test_a_long_title_is_kept_as_a_property(vault: Path) -> None:
    kept = keep(vault, "", "Text", title="word " * 40, now=NOW)
    assert kept.note.title == " ".join(["word"] * 40)


def _refuses(*_: object, **__: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


@pytest.mark.skipif(os.name != "posix", reason="Windows holds no folders")
def test_a_folder_that_is_swapped_for_a_link_is_not_written_through(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = vault.parent / "outside"
    outside.mkdir()
    (vault / "In").mkdir()
    held = write._held

    def swapped(root: Path, real: Path) -> int:
        (vault / "In").rename(vault / "Old")
        (vault / "In").symlink_to(outside)
        return held(root, real)

    monkeypatch.setattr(write, "_held", swapped)
    with pytest.raises(CaptureFailed):
        write_new(vault, "In", name, "tea")
    assert list(outside.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="Windows holds no folders")
def test_a_folder_that_is_swapped_while_it_is_written_to_stays_the_one_that_was_checked(
    vault: Path,
) -> None:
    outside = vault.parent / "outside"
    outside.mkdir()

    def late(attempt: int) -> str:
        (vault / "In").rename(vault / "Old")
        (vault / "In").symlink_to(outside)
        return name(attempt)

    write_new(vault, "In", late, "tea")
    assert list(outside.iterdir()) == []
    assert [file.read_text() for file in (vault / "Old").iterdir()] == ["tea"]
