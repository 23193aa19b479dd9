"""A home (a vault and its index), what it is put back to, and vaults to index and edit."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.support.product import IndexLayout

FIRST: Mapping[str, str] = {
    "Tide.md": "---\naliases: [High Water]\n---\n# Tide\n\nSee [[Wall]] for the tide.\n\n"
    "## Neap\n\nNeap water is low, as in [[Log#Later]].",
    "Wall.md": "Bram wrote of the wall. ![[plan.png]] It holds the [[High Water]].",
    "a/Log.md": "# Log\n\nA log of the tide.\n\n# Later\n\nBram came later to [[Tide]].",
    "a/Bram.md": "Bram keeps the log of [[Wall|the wall]] and of [[Nowhere]].",
    "a/b/Ewe Point.md": "At Ewe Point the water is high. See [[Bram]].",
    "Secret.md": "The zanzibarquux of the wall is told to nobody but [[Bram]].",
    "Old.md": "Old words on the tide table, to be moved.\n\n## Part\n\nA part of [[Tide]].",
    "plan.png": "",
}

EDITS: Mapping[str, str | None] = {
    # Edited in one section; new; withdrawn; deleted; moved without a change; an alias that goes.
    "a/Log.md": "# Log\n\nA log of the tide.\n\n# Later\n\nBram came much later to [[Ebbe]].",
    "New.md": "New words on [[Old]] and [[Wall]], with the log of [[Bram]].",
    "Secret.md": "---\nprivate: true\n---\nThe zanzibarquux of the wall is told to nobody.",
    "a/b/Ewe Point.md": None,
    "Old.md": None,
    "c/Old.md": FIRST["Old.md"],
    "Tide.md": FIRST["Tide.md"].replace("High Water", "Ebbe"),
    "plan.png": None,
}


def write(vault: Path, files: Mapping[str, str | None]) -> None:
    for path, text in files.items():
        file = vault / path
        if text is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


class Home:
    """A folder with ``vault`` and ``index``, always in one place: an index knows its vault."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "home"
        self.vault = self.path / "vault"
        self.layout = IndexLayout(self.path / "index")
        self._kept = folder / "kept"
        self.vault.mkdir(parents=True)

    def keep(self) -> None:
        if self._kept.exists():
            shutil.rmtree(self._kept)
        # Times are kept too: to the index, a file of another time is another file.
        shutil.copytree(self.path, self._kept, symlinks=True)

    def restore(self) -> None:
        shutil.rmtree(self.path)
        shutil.copytree(self._kept, self.path, symlinks=True)

    def forget_index(self) -> None:
        shutil.rmtree(self.layout.root)
