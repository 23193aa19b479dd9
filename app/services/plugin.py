"""Puts the plugin for the app into a vault's ``.obsidian/plugins/notehop/``, and takes it out again.

The manifest is what makes the app see a plugin: it is written last and taken away first, so that no run
that broke off leaves half of one.
"""

from __future__ import annotations

import os
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from notehop.config.errors import NotehopError, VaultError
from notehop.config.small_files import read_json_file
from notehop.indexing.display import printable

ID = "notehop"

MANIFEST = "manifest.json"

FILES = ("main.js", "styles.css", MANIFEST)  # in the order in which they are written

_FOLDER = (".obsidian", "plugins", ID)


class PluginFailed(NotehopError):
    """The plugin's files cannot be written or taken away."""

    problem_type = "plugin"


class PluginState(NamedTuple):
    """The plugin in a vault: ``version`` is None where it is not installed; ``files`` are those of its
    files that are there, with the settings that the app keeps of it."""

    folder: Path
    version: str | None
    files: tuple[str, ...]


def shipped() -> dict[str, bytes]:
    """The files of the plugin that comes with this notehop, in the order in which they are written."""
    folder = files("notehop.app") / "obsidian"
    return {name: (folder / name).read_bytes() for name in FILES}


def plugin_state(vault: Path) -> PluginState:
    """Look at a vault, and change nothing.

    :param vault: a folder, as :func:`locate` finds it.
    :raises VaultError: if the app has never opened it as a vault.
    :raises PluginFailed: if its folder of plugins leads out of it, or another plugin is there.
    """
    if not (vault / _FOLDER[0]).is_dir():
        raise VaultError(
            f"{printable(str(vault))}: has no folder .obsidian, which the app makes; open it in Obsidian "
            "as a vault once, or name the folder that you open there"
        )
    folder = vault.joinpath(*_FOLDER)
    if not folder.resolve().is_relative_to(vault.resolve()):
        out = "leads out of the vault, and nothing is written there; name the vault that has it"
        raise _failed(folder, f"{out}, or replace the link by a folder")
    if not folder.exists():
        return PluginState(folder, None, ())
    try:
        there = {entry.name for entry in os.scandir(folder)}
        said = read_json_file(folder / MANIFEST) if MANIFEST in there else {"id": ID}
    except (OSError, ValueError) as exc:
        says = f"cannot be read as a plugin: {exc}; move the folder away, and try again"
        raise _failed(folder, says) from exc
    if not isinstance(said, dict) or said.get("id") != ID:
        raise _failed(folder, "holds another plugin; move it away, and try again")
    ours = tuple(name for name in (MANIFEST, *FILES[:-1], "data.json") if name in there)
    return PluginState(folder, str(said.get("version", "?")) if MANIFEST in there else None, ours)


def install_plugin(vault: Path) -> None:
    """Write the plugin's files in place of an older one's; if the disk refuses, the app sees no plugin."""
    folder = plugin_state(vault).folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MANIFEST).unlink(missing_ok=True)
        for name, data in shipped().items():
            # Made anew: a link of this name is replaced and never followed.
            (folder / name).unlink(missing_ok=True)
            (folder / name).write_bytes(data)
    except OSError as exc:
        raise _unchanged(folder, exc) from exc


def remove_plugin(vault: Path) -> None:
    """Take the plugin's files and its settings away, and its folder where nothing else is in it."""
    state = plugin_state(vault)
    try:
        for name in state.files:
            (state.folder / name).unlink(missing_ok=True)
    except OSError as exc:
        raise _unchanged(state.folder, exc) from exc
    with suppress(OSError):
        state.folder.rmdir()


def _unchanged(path: Path, exc: OSError) -> PluginFailed:
    says = f"cannot be changed: {exc.strerror or exc}; see that you may write there, and run it again"
    return _failed(path, says)


def _failed(folder: Path, says: str) -> PluginFailed:
    return PluginFailed(f"{printable(str(folder))}: {says}")
