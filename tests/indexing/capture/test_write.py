"""A note is written whole, under a name of its own, and nowhere but in the vault."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from tests.support.product import CaptureFailed, keep, write_new

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


def test_processes_never_share_a_name(vault: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.support.product import write_new\n"
        "for n in range(20): write_new(Path(sys.argv[1]), 'In', lambda i: f'{i}.md', sys.argv[2])"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(vault), who]) for who in ("a", "b")
    ]
    assert [process.wait(60) for process in running] == [0, 0]
    found = everything(vault)
    assert sorted(found) == sorted(f"In/{n}.md" for n in range(1, 41))
    assert sorted(found.values()) == ["a"] * 20 + ["b"] * 20


def test_a_full_disk_leaves_nothing(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
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


def test_a_link_inside_the_vault_is_followed_and_the_real_path_told(vault: Path) -> None:
    (vault / "Real").mkdir()
    (vault / "In").symlink_to("Real", target_is_directory=True)
    assert write_new(vault, "In", name, "tea") == "Real/Tea 1.md"


@pytest.mark.parametrize("loop", [True, False], ids=["loop", "file"])
def test_no_folder_at_all(vault: Path, loop: bool) -> None:
    if loop:
        (vault / "In").symlink_to("In")
    else:
        (vault / "In").write_text("a file")
    with pytest.raises(CaptureFailed, match=r"capture\.folder"):
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
