"""A home (a vault and its index), what it is put back to, and what must hold of it after a kill."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from tests.indexing.crashes.jobs import Told, layout_of
from tests.support.postgres import PostgresServer

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

    def __init__(self, folder: Path, server: PostgresServer | None = None) -> None:
        """Make an empty vault.

        :param server: holds the catalog, in a database of its own.
        """
        self.path = folder / "home"
        self.vault = self.path / "vault"
        self._kept = folder / "kept"
        self.vault.mkdir(parents=True)
        self._server = server
        if server is not None:
            url = server.new_database()
            self._database = urlsplit(url).path.strip("/")
            (self.path / "database").write_text(url)
        self.layout = layout_of(str(self.path), "index")

    def keep(self) -> None:
        if self._server is not None:
            self._server.copy_database(self._database, f"{self._database}_kept")
        if self._kept.exists():
            shutil.rmtree(self._kept)
        # Times are kept too: to the index, a file of another time is another file.
        shutil.copytree(self.path, self._kept, symlinks=True)

    def restore(self) -> None:
        if self._server is not None:
            self._server.copy_database(f"{self._database}_kept", self._database)
        shutil.rmtree(self.path)
        shutil.copytree(self._kept, self.path, symlinks=True)

    def forget_index(self) -> None:
        shutil.rmtree(self.layout.root)
        if self._server is not None:
            self._server.copy_database("template0", self._database)


def check_reader(found: Told, before: Told, after: Told, where: str, *, whole: bool) -> None:
    """A reader sees what was there before a run or what is there after it, and nothing else.

    :param found: what it sees now, ``before`` and ``after`` the run (:func:`jobs.read`).
    :param whole: all of one or all of the other; else that holds of each note by itself, as runs
        in several batches write a generation for each.
    """
    if found["error"] is not None:
        # Where nothing was indexed yet, nothing need be there.
        assert before["error"] is not None, f"{where}: {found}"
        assert found["type"] == "IndexMissing", f"{where}: {found}"
        assert "run: notehop index" in found["error"], f"{where}: {found}"
        return
    # A reader of an index that was harmed already is told what is missing.
    assert found["warnings"] == [] or before.get("warnings"), where
    assert found["unknown"] == [], where
    if whole:
        seen = [found["chunks"], found["links"]]
        ends = [[told["chunks"], told["links"]] for told in (before, after)]
        assert seen in ends, f"{where}: neither the old nor the new generation"
        return
    for path in found["chunks"].keys() | after["chunks"].keys():
        seen = found["chunks"].get(path)
        ends = [told.get("chunks", {}).get(path) for told in (before, after)]
        assert seen in ends, f"{where}: {path} holds {seen}"


def differing(found: Told, expected: Told) -> list[str]:
    return [
        f"{name}\n  is:        {found.get(name)}\n  should be: {expected.get(name)}"
        for name in sorted(found.keys() | expected.keys())
        if found.get(name) != expected.get(name)
    ]
