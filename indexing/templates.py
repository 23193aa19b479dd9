"""The templates of a vault, as the app and its plugins are set to, and the lines they hold."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path

from notehop.config.small_files import open_plain_file, read_json_file
from notehop.indexing.graph.files import NOTE_SUFFIX, fold, is_note

_FOLDERS = {"templates.json": "folder", "plugins/templater-obsidian/data.json": "templates_folder"}
_NOTES = {"daily-notes.json": "template", "zk-prefixer.json": "template"}
"""Files below ``.obsidian`` with the key that names a folder of templates, or one template."""

_USUAL = frozenset({"Templates", "templates"})
"""The folder at the vault's root where nothing is set."""

_File = tuple[str, int, int, int]
"""A file with its size and the times at which its content and its rights changed."""

_MOST_BYTES = 100_000  # of a template that are read
_MOST = 500  # templates that are read: a folder of more is set by mistake, the vault's own perhaps

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
    """Read where a vault keeps its templates and what they say; a file that is missing or damaged says
    nothing. They are read again when their size or time changes."""
    folders = _named(tuple(_now(f"{root}/.obsidian/{file}" for file in _FOLDERS))) or _USUAL
    named = _named(tuple(_now(f"{root}/.obsidian/{file}" for file in _NOTES)))
    notes = frozenset(note.removesuffix(NOTE_SUFFIX) for note in named)
    files = tuple(islice(_files(root, folders, notes), _MOST + 1))
    # More are no folder of templates: nothing of it is held back.
    return Templates() if len(files) > _MOST else _templates(folders, notes, files)


def line_keys(text: str) -> list[str]:
    """What each line of a text says, by its letters, folded; lines without letters left out."""
    said = (" ".join(_LETTERS.findall(line)) for line in _PLACEHOLDER.sub(" ", text).splitlines())
    return [fold(line) for line in said if line]


@lru_cache(maxsize=8)
def _templates(
    folders: frozenset[str], notes: frozenset[str], files: tuple[_File, ...]
) -> Templates:
    lines: set[str] = set()
    for path, *_ in files:
        with suppress(OSError), open_plain_file(path) as stream:
            lines.update(line_keys(stream.read(_MOST_BYTES).decode("utf-8", "replace")))
    return Templates(frozenset(map(fold, folders)), frozenset(map(fold, notes)), frozenset(lines))


def _files(vault: Path, folders: Iterable[str], notes: Iterable[str]) -> Iterator[_File]:
    paths = (f"{vault}/{note}{NOTE_SUFFIX}" for note in sorted(notes))
    found = (one for folder in sorted(folders) for one in os.walk(f"{vault}/{folder}"))
    below = (f"{where}/{name}" for where, _, names in found for name in sorted(names))
    return _now(chain(paths, (one for one in below if is_note(one) and not Path(one).is_symlink())))


def _now(paths: Iterable[str]) -> Iterator[_File]:
    """The files that are there, as they are now."""
    for path in paths:
        with suppress(OSError):
            stat = os.stat(path)  # noqa: PTH116 (each query looks: this is hot)
            yield path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


@lru_cache(maxsize=16)
def _named(files: tuple[_File, ...]) -> frozenset[str]:
    """What files of settings name under their keys; nothing where one is damaged."""
    found: set[str] = set()
    for path, *_ in files:
        key = (_FOLDERS | _NOTES)[path.rpartition("/.obsidian/")[2]]
        with suppress(OSError, ValueError):
            settings = read_json_file(path)
            name = settings.get(key) if isinstance(settings, dict) else None
            if isinstance(name, str) and "\0" not in name and ".." not in name.split("/"):
                name.encode()  # half a surrogate pair is no name
                found.add(name.strip().strip("/"))
    return frozenset(found - {""})
