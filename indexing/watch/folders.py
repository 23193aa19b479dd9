"""The folders of a vault that are watched: real ones that can hold notes, each by itself.

What the system calls a recursive watch follows symbolic links out of the vault, and goes into
``.git``; some systems allow few thousand watches to all programs of a user together.

Touches: vault-read (names).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from notehop.indexing.vault.walk import is_text

APP_FOLDER = ".obsidian"
"""The folder of the app's settings: the one with a dot that matters."""

APP_SETTINGS = f"{APP_FOLDER}/app.json"
"""The file of the app that says which files are left out."""


def folders_of(vault: Path) -> frozenset[str]:
    """All that are to be watched, relative to the vault; the vault itself is the empty path.

    What cannot be listed is left out: the index says so.

    :raises OSError: if the vault itself cannot be listed.
    """
    os.scandir(vault).close()
    found = {"", *folders_below(vault, "")}
    if (vault / APP_FOLDER).is_dir():
        found.add(APP_FOLDER)
    return frozenset(found)


def folders_below(vault: Path, folder: str) -> Iterator[str]:
    """The folders below one of a vault, at any depth."""
    left = [folder]
    while left:
        here = left.pop()
        try:
            with os.scandir(vault / here) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        for name in names:
            if not name.startswith(".") and is_text(name):
                path = f"{here}/{name}" if here else name
                yield path
                left.append(path)


def is_folder(vault: Path, path: str) -> bool:
    """Whether a folder that is to be watched stands at a path now."""
    if path == APP_FOLDER:
        return (vault / path).is_dir()
    there = vault / path
    return not is_hidden(path) and there.is_dir() and not there.is_symlink()


def without(folders: Iterable[str], gone: Iterable[str]) -> set[str]:
    """Those of the folders that are neither among others nor below them."""
    ends = frozenset(gone)
    return {path for path in folders if not any(above in ends for above in _line(path))}


def is_hidden(path: str) -> bool:
    """Whether a path is no part of a vault, because it or a folder above it begins with a dot."""
    return any(part.startswith(".") for part in path.split("/"))


def _line(path: str) -> Iterator[str]:
    yield path
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path
