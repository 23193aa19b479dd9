"""Finds the note that a person means by a path or a name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from notehop.config.errors import UsageError
from notehop.indexing.graph.files import VaultFiles
from notehop.indexing.graph.model import Status
from notehop.indexing.graph.names import fold, is_note, link_name
from notehop.indexing.graph.resolve import resolve_path
from notehop.indexing.shown import on_one_line


def find_note(files: VaultFiles, vault: Path, said: str) -> str:
    """Return the path of a note in the vault.

    Tried in order: a path from the vault's root, a path from the current folder (or an absolute
    one), each with and without ``.md``; then a name as a link would give it.

    :raises UsageError: if no note is meant, or more than one.
    """
    if not said.strip():
        raise UsageError("the name of the note is empty; name it by its path in the vault")
    for path in paths_meant(vault, said):
        for candidate in (path, f"{path}.md"):
            if candidate in files and is_note(candidate):
                return candidate
    found = resolve_path(files, "", said)
    if found.path is None or not is_note(found.path):
        raise UsageError(f"{said}: no note of {vault}{_close(files, said)}")
    if found.status is Status.AMBIGUOUS:
        raise UsageError(f"{said}: {len(found.candidates)} notes: {_listed(found.candidates)}")
    return found.path


def _listed(paths: Sequence[str]) -> str:
    return on_one_line(", ".join(paths))


def paths_meant(vault: Path, said: str) -> list[str]:
    """``said`` as paths relative to the vault, with ``/``; what lies outside of it is left out."""
    inside = [Path(os.path.normpath(vault / said))]
    here = Path(os.path.expanduser(said))  # noqa: PTH111 - ``~nobody`` is a name like others
    # Not resolved: a note that is a symbolic link is known under its own name.
    inside.append(Path(os.path.normpath(Path.cwd().resolve() / here)))
    return list(
        dict.fromkeys(
            path.relative_to(vault).as_posix() for path in inside if path.is_relative_to(vault)
        )
    )


def from_here(vault: Path, said: str) -> str:
    """A note as a shell completes its path: the path in the vault, if there is a file; else as it
    was said."""
    for path in paths_meant(vault, said):
        for candidate in (path, f"{path}.md"):
            if is_note(candidate) and os.path.isfile(vault / candidate):  # noqa: PTH113
                return candidate
    return said


def _close(files: VaultFiles, said: str) -> str:
    """What may have been meant: names a slip away, else those that hold what was said."""
    from notehop.app.services.near import Name, NearNames

    notes = [path for path in files if is_note(path)]
    names = [Name(path.removesuffix(".md"), path, "path") for path in notes]
    names += [Name(link_name(path), path, "name") for path in notes]
    names += [Name(one, path, "alias") for path in notes for one in files.aliases_of(path)]
    asked = said.removesuffix(".md")
    close = [near.name.path for near in NearNames(names).near([asked])[asked]]
    if not close:
        close = sorted((path for path in notes if fold(asked) in fold(path)), key=len)[:3]
    return f"; did you mean {_listed(close)}?" if close else "; name it by its path in the vault"
