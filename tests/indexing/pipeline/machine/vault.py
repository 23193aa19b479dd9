"""A vault on disk under edits that can be written down and done again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.support.product import APP_SETTINGS, EVERYTHING

_TICK_NS = 1_500_000_007
"""Between two edits: no whole number of seconds, so that no rounding hides a difference."""


class EditedVault:
    """Files below one folder. Edits are dated by a clock of their own: equal scripts, equal files.

    ``touched`` gathers the paths that a file watcher would name: of a folder that moved or went,
    the folder alone; of the app's settings, everything; of other hidden files nothing.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True)
        self.touched: set[str] = set()
        self._now = 1_700_000_000_123_456_789

    def files(self) -> list[str]:
        """All files, dot-files too, sorted; links that lead to no file are none."""
        return [path for path in self._below(file=True) if (self.root / path).is_file()]

    def folders(self) -> list[str]:
        return [path for path in self._below(file=False) if not path.startswith(".")]

    def notes(self) -> list[str]:
        return [path for path in self.files() if path.lower().endswith(".md")]

    def has_links(self) -> bool:
        return any((self.root / path).is_symlink() for path in self._below(file=True))

    def data(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def is_free(self, path: str) -> bool:
        """Whether a file or folder could be put at a path: nothing there, no file on the way."""
        place = self.root / path
        over = [parent for parent in place.parents if self.root in parent.parents]
        return not os.path.lexists(place) and not any(parent.is_file() for parent in over)

    def write(self, path: str, content: str | bytes) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        self._date(file)
        self._tell_of_content(path)

    def link(self, path: str, target: str) -> None:
        """Put a symbolic link to a file of the vault where nothing is."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(os.path.relpath(self.root / target, place.parent))
        self._tell(path)

    def slip(self, path: str, content: bytes) -> None:
        """Write other bytes of the same number under the same time, as no program should."""
        file = self.root / path
        stat = file.stat()
        assert len(content) == stat.st_size
        file.write_bytes(content)
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        self._tell_of_content(path)

    def touch(self, path: str) -> None:
        self._date(self.root / path)
        self._tell_of_content(path)

    def rename(self, old: str, new: str) -> None:
        """Move or rename a file, over another if one is there, or a folder; its date stays."""
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(self.root / new)
        self._tell(old)
        self._tell(new)

    def remove(self, path: str) -> None:
        place = self.root / path
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink()
        self._tell(path)

    def _tell(self, path: str) -> None:
        if path == APP_SETTINGS:
            self.touched.add(EVERYTHING)
        elif not path.startswith("."):
            self.touched.add(path)

    def _tell_of_content(self, path: str) -> None:
        """What is written through a symbolic link changes the file that it leads to."""
        self._tell((self.root / path).resolve().relative_to(self.root.resolve()).as_posix())

    def _date(self, file: Path) -> None:
        self._now += _TICK_NS
        os.utime(file, ns=(self._now, self._now))

    def _below(self, *, file: bool) -> list[str]:
        found: list[str] = []
        for folder, folders, files in os.walk(self.root):
            here = Path(folder).relative_to(self.root).as_posix()
            prefix = "" if here == "." else f"{here}/"
            found += [prefix + name for name in (files if file else folders)]
        return sorted(found)
