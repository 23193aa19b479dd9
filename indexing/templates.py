"""The templates of a vault, as the app and its plugins are set to, and the lines they hold.

Touches: vault-read (files of ``.obsidian``, notes that are templates).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from indexing.graph.names import NOTE_SUFFIX, fold, is_note

_FOLDERS = (
    ("templates.json", "folder"),
    ("plugins/templater-obsidian/data.json", "templates_folder"),
)
_NOTES = (("daily-notes.json", "template"), ("zk-prefixer.json", "template"))
"""Files below ``.obsidian`` with the key that names a folder of templates, or one template."""

_USUAL = ("Templates", "templates")
"""The folder at the vault's root where nothing is set."""

_MOST_BYTES = 100_000
"""Of a template that are read."""

_MOST = 500
"""Templates that are read: a folder of more is set by mistake, the vault's own perhaps."""

# What a template leaves to be filled in: `{{date}}`, `<% tp.date.now() %>`.
_PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}|<%.*?%>", re.DOTALL)
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Templates:
    """``folders`` and ``notes`` as folded paths, and the ``lines`` that stand in any of them.

    A line goes by its letters alone: marks of lists and headings, dates and what was to be filled
    in are not what it says.
    """

    folders: frozenset[str] = frozenset()
    notes: frozenset[str] = frozenset()
    lines: frozenset[str] = frozenset()

    def holds(self, path: str) -> bool:
        """Whether a note is a template.

        :param path: relative to the vault.
        """
        key = fold(path)
        if key.removesuffix(NOTE_SUFFIX) in self.notes:
            return True
        return any(key.startswith(f"{folder}/") for folder in self.folders)


def read_templates(root: Path) -> Templates:
    """Read where a vault keeps its templates and what they say.

    A file that is missing or damaged says nothing. Templates are read again when they change; a
    vault without any costs six looks at its disk.
    """
    own = root / ".obsidian"
    folders = {said for file, key in _FOLDERS if (said := _said(own / file, key))}
    notes = {
        said.removesuffix(NOTE_SUFFIX) for file, key in _NOTES if (said := _said(own / file, key))
    }
    lines: set[str] = set()
    for count, entry in enumerate(_files(root, folders or set(_USUAL), notes)):
        if count == _MOST:
            # No folder of templates: nothing of it is held back.
            return Templates()
        lines |= _lines_of(*entry)
    return Templates(
        frozenset(map(fold, folders or _USUAL)), frozenset(map(fold, notes)), frozenset(lines)
    )


def line_keys(text: str) -> list[str]:
    """What each line of a text says, by its letters, folded; lines without letters left out."""
    said = (" ".join(_LETTERS.findall(line)) for line in _PLACEHOLDER.sub(" ", text).splitlines())
    return [fold(line) for line in said if line]


def _files(root: Path, folders: set[str], notes: set[str]) -> Iterator[tuple[str, int, int]]:
    """(path, size, time of change) of each template."""
    pending = [str(root / folder) for folder in sorted(folders)]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
                pending += [one.path for one in found if one.is_dir(follow_symlinks=False)]
                for one in found:
                    if is_note(one.name) and one.is_file(follow_symlinks=False):
                        stat = one.stat(follow_symlinks=False)
                        yield one.path, stat.st_size, stat.st_mtime_ns
        except OSError:
            continue
    for note in sorted(notes):
        file = root / f"{note}{NOTE_SUFFIX}"
        try:
            stat = file.stat()
        except OSError:
            continue
        yield str(file), stat.st_size, stat.st_mtime_ns


@lru_cache(maxsize=2 * _MOST)
def _lines_of(path: str, size: int, mtime_ns: int) -> frozenset[str]:  # noqa: ARG001 (the cache's key)
    try:
        with Path(path).open("rb") as stream:
            return frozenset(line_keys(stream.read(_MOST_BYTES).decode("utf-8", "replace")))
    except OSError:
        return frozenset()


def _said(file: Path, key: str) -> str:
    try:
        settings: Any = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return ""
    said = settings.get(key) if isinstance(settings, dict) else None
    if not isinstance(said, str) or ".." in said.split("/"):
        return ""
    return said.strip().strip("/")
