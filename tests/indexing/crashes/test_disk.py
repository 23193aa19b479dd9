"""A disk that is full or cannot be written: an error that says so, the old index, nothing lost."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.indexing.crashes.forks import Forks
from tests.indexing.crashes.homes import EDITS, FIRST, Home, check_reader, differing, write
from tests.indexing.crashes.jobs import Told

pytestmark = pytest.mark.slow


class Disk:
    """A file system in memory of its own, which can be full or read-only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        _command("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder))

    def leave(self, free: int) -> None:
        """Fill it, but for some bytes; a page more is taken by the file that fills it."""
        place = shutil.disk_usage(self.folder).free - free
        (self.folder / "filler").write_bytes(bytes(max(place, 0)))

    def empty(self) -> None:
        (self.folder / "filler").unlink(missing_ok=True)

    def mount(self, how: str) -> None:
        _command("mount", "-o", f"remount,{how}", str(self.folder))

    def close(self) -> None:
        _command("umount", "-l", str(self.folder))


def _command(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root mounts a disk")
    try:
        made = Disk(tmp_path / "disk")
    except (OSError, subprocess.CalledProcessError) as exc:
        pytest.skip(f"no disk can be mounted here: {exc}")
    try:
        yield made
    finally:
        made.close()


def edited(forks: Forks, folder: Path) -> tuple[Home, Told, Told, Told]:
    """A home whose index is behind its edits; what readers see before and after, and the end."""
    home = Home(folder)
    write(home.vault, FIRST)
    forks.index(home.path)
    before = forks.read(home.path)
    write(home.vault, EDITS)
    forks.index(home.path, at="anew")
    after, content = forks.read(home.path, "anew"), forks.content(home.path, "anew")
    shutil.rmtree(home.path / "anew")
    return home, before, after, content


def _check_refused(told: Told, where: str) -> bool:
    """Whether a run was refused; then it says so, and what to do."""
    if told["error"] is None:
        return False
    assert told["type"] == "IndexUnwritable", f"{where}: {told}"
    assert "ree space" in told["error"] or "permissions" in told["error"], f"{where}: {told}"
    return True


def _check_end(forks: Forks, home: Home, content: Told, where: str) -> None:
    done = forks.index(home.path).told
    assert done["error"] is None, f"{where}: {done}"
    wrong = differing(forks.content(home.path), content)
    assert not wrong, f"{where}: " + "\n".join(wrong[:5])


def test_files_that_cannot_grow(forks: Forks, folder: Path) -> None:
    home, before, after, content = edited(forks, folder)
    home.keep()
    refused = 0
    for most in (0, 100, 4_000, 20_000, 60_000, 120_000, 140_000, 200_000, 400_000, 700_000):
        for rebuild in (False, True):
            home.restore()
            where = f"files of {most} bytes at most, rebuild {rebuild}"
            done = forks.run("index", home=str(home.path), most_bytes=most, rebuild=rebuild)
            assert done.code == 0, where
            refused += _check_refused(done.told, where)
            check_reader(forks.read(home.path), before, after, where, whole=rebuild)
            _check_end(forks, home, content, where)
    assert refused > 5


def test_a_disk_that_fills_up(forks: Forks, disk: Disk) -> None:
    home, before, after, content = edited(forks, disk.folder)
    home.keep()
    refused = 0
    for free in (0, 8_000, 40_000, 120_000, 300_000, 900_000):
        for rebuild in (False, True):
            where = f"{free} bytes left, rebuild {rebuild}"
            home.restore()
            disk.leave(free)
            refused += _check_refused(forks.index(home.path, rebuild=rebuild).told, where)
            check_reader(forks.read(home.path), before, after, where, whole=rebuild)
            disk.empty()
            _check_end(forks, home, content, where)
    assert refused > 4


def test_a_disk_that_goes_read_only_after_a_crash(forks: Forks, disk: Disk) -> None:
    """What was committed still waits in the journal, which nobody can fold back."""
    home, before, after, content = edited(forks, disk.folder)
    home.keep()
    for name in ("catalog-inside-commit", "catalog-committed", "postings-replaced"):
        disk.mount("rw")
        home.restore()
        assert forks.run("index", home=str(home.path), kill_at=name, batch=1_000).killed
        disk.mount("ro")
        seen = forks.read(home.path)
        if seen["error"] is None:
            check_reader(seen, before, after, name, whole=True)
        else:
            assert "permissions" in seen["error"] or "disk" in seen["error"], seen
        assert _check_refused(forks.index(home.path).told, name)
        disk.mount("rw")
        _check_end(forks, home, content, name)
