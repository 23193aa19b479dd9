"""Themes as values, and their file beside the index (``themes.json``)."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from notehop.indexing.stores.layout import replace_file, unwritable


@dataclass(frozen=True, slots=True)
class Written:
    """A summary that a language model wrote; ``digest`` names what it was made from."""

    text: str
    model: str
    digest: str


@dataclass(frozen=True, slots=True)
class Theme:
    """A community of notes that is large enough to be told of.

    ``id`` stays when notes join and leave. ``named_after`` is the note whose title is its ``name``.
    ``words`` are those that tell it from the rest of the vault, the most telling first. ``notes``
    are its paths, the most central first. ``digest`` names the content of its notes.
    """

    id: str
    name: str
    named_after: str
    words: tuple[str, ...]
    notes: tuple[str, ...]
    digest: str
    summary: Written | None = None


@dataclass(frozen=True)
class Themes:
    """The themes of one generation of an index, the largest first, then by id.

    ``small`` are the communities with too few notes to be themes, ``unlinked`` the notes that no
    link connects with another one. ``quality`` is the modularity of the partition when all of it
    was looked at last, ``drift`` counts the notes that changed since. ``made_with`` names the
    settings.
    """

    generation: int
    stamp: str
    made_with: str
    themes: tuple[Theme, ...] = ()
    small: tuple[tuple[str, ...], ...] = ()
    unlinked: tuple[str, ...] = ()
    quality: float = 0.0
    drift: int = 0

    @cached_property
    def of_note(self) -> Mapping[str, Theme]:
        """Note -> its theme, for the notes of themes."""
        return {path: theme for theme in self.themes for path in theme.notes}


_FORMAT = 1

_THEMES = TypeAdapter(Themes)


def read_themes(path: Path) -> Themes | None:
    """The themes in a file; None if there are none, or if a byte is not what was written.

    They may be of another index (``stamp``), or made with other settings (``made_with``).
    """
    try:
        file = json.loads(path.read_bytes())
        if file["format"] != _FORMAT or file["crc"] != _checksum(file["themes"]):
            return None
        return _THEMES.validate_python(file["themes"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def write_themes(path: Path, themes: Themes) -> None:
    """Replace the file.

    :raises IndexUnwritable: if the disk refuses; what was there stays.
    """
    plain = _THEMES.dump_python(themes, mode="json")
    file = {"format": _FORMAT, "crc": _checksum(plain), "themes": plain}
    try:
        replace_file(path, json.dumps(file, indent=0))
    except OSError as exc:
        raise unwritable(path.parent, exc) from exc


def drop_themes(path: Path) -> None:
    """Take the file away: it may hold words of notes that left since.

    :raises IndexUnwritable: if the disk refuses.
    """
    try:
        for file in (path, path.with_suffix(".new")):
            file.unlink(missing_ok=True)
    except OSError as exc:
        raise unwritable(path.parent, exc) from exc


def _checksum(plain: Any) -> int:
    return zlib.crc32(json.dumps(plain, sort_keys=True).encode())
