"""Keeps the themes beside the index, and trusts nothing of them that is not whole.

Touches: index (``themes.json``).
"""

from __future__ import annotations

import json
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from notehop.indexing import faults
from notehop.indexing.stores.layout import unwritable, write_private
from notehop.indexing.themes.model import Theme, Themes, Written

_FORMAT = 1


def read_themes(path: Path) -> Themes | None:
    """The themes in a file; None if there are none, or if a byte is not what was written.

    They may be of another index, or made with other settings: see :meth:`Themes.are_of`.
    """
    try:
        said = json.loads(path.read_bytes())
        if said["format"] != _FORMAT or said["crc"] != _crc(said["themes"]):
            return None
        return _themes(said["themes"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def write_themes(path: Path, themes: Themes) -> None:
    """Replace the file.

    :raises IndexUnwritable: if the disk refuses; what was there stays.
    """
    plain = _plain(themes)
    new = path.with_suffix(".new")
    try:
        try:
            said = {"format": _FORMAT, "crc": _crc(plain), "themes": plain}
            write_private(new, json.dumps(said, indent=0))
            faults.point("themes-drafted")
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)
    except OSError as exc:
        raise unwritable(path.parent, exc) from exc


def drop_themes(path: Path) -> None:
    """Take the file away: it may hold words of notes that left since.

    :raises IndexUnwritable: if the disk refuses.
    """
    try:
        for file in (path, path.with_suffix(".new")):
            with suppress(FileNotFoundError):
                file.unlink()
    except OSError as exc:
        raise unwritable(path.parent, exc) from exc


def _crc(plain: Any) -> int:
    return zlib.crc32(json.dumps(plain, sort_keys=True).encode())


def _plain(themes: Themes) -> dict[str, Any]:
    return {
        "generation": themes.generation,
        "stamp": themes.stamp,
        "made_with": themes.made_with,
        "quality": themes.quality,
        "drift": themes.drift,
        "small": [list(group) for group in themes.small],
        "unlinked": list(themes.unlinked),
        "themes": [
            {
                "id": one.id,
                "name": one.name,
                "named_after": one.named_after,
                "words": list(one.words),
                "notes": list(one.notes),
                "digest": one.digest,
                "summary": None
                if one.summary is None
                else [one.summary.text, one.summary.model, one.summary.digest],
            }
            for one in themes.themes
        ],
    }


def _themes(plain: Any) -> Themes:
    return Themes(
        generation=int(plain["generation"]),
        stamp=str(plain["stamp"]),
        made_with=str(plain["made_with"]),
        themes=tuple(
            Theme(
                id=str(one["id"]),
                name=str(one["name"]),
                named_after=str(one["named_after"]),
                words=tuple(one["words"]),
                notes=tuple(one["notes"]),
                digest=str(one["digest"]),
                summary=None if one["summary"] is None else Written(*map(str, one["summary"])),
            )
            for one in plain["themes"]
        ),
        small=tuple(tuple(group) for group in plain["small"]),
        unlinked=tuple(plain["unlinked"]),
        quality=float(plain["quality"]),
        drift=int(plain["drift"]),
    )
