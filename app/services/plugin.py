"""Puts the plugin for the app into a vault's ``.obsidian/plugins/notehop/``, and takes it out again.

The manifest is what makes the app see a plugin: it is written last and taken away first, so that no run
that broke off leaves half of one.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from notehop.config.errors import NotehopError, VaultError
from notehop.config.small_files import read_json_file
from notehop.indexing.shown import printable
from notehop.indexing.vault.opening import HeldFolder, held_folder

ID = "notehop"

MANIFEST = "manifest.json"

FILES = ("main.js", "styles.css", MANIFEST)  # in the order in which they are written
SETTINGS = "data.json"  # what the app keeps of the plugin's settings; it goes with the plugin

_FOLDER = (".obsidian", "plugins", ID)

_LEFT_OVER = re.compile(rf"\.{ID}-.*\.tmp", re.DOTALL)  # of a run that broke off


class PluginFailed(NotehopError):
    """The plugin's files cannot be written or taken away."""

    problem_type = "plugin"


class PluginState(NamedTuple):
    """The plugin in a vault: ``version`` is None where it is not installed.

    ``removable`` are its files that are there; ``others`` are none of it, and are left alone.
    """

    folder: Path
    version: str | None
    removable: tuple[str, ...]
    others: tuple[str, ...]


def shipped() -> dict[str, bytes]:
    """The files of the plugin that comes with this notehop, in the order in which they are written."""
    folder = files("notehop.app") / "obsidian"
    return {name: (folder / name).read_bytes() for name in FILES}


def shipped_version() -> str:
    return str(json.loads(shipped()[MANIFEST])["version"])


def plugin_state(vault: Path) -> PluginState:
    """Look at a vault, and change nothing.

    :raises VaultError: if it is no folder, or the app has never opened it as a vault.
    :raises PluginFailed: if its folder of plugins leads out of it, or another plugin is there.
    """
    if not vault.is_dir():
        raise VaultError(f"{printable(str(vault))}: there is no such folder; name your vault's")
    if not (vault / _FOLDER[0]).is_dir():
        raise VaultError(
            f"{printable(str(vault))}: has no folder .obsidian, which the app makes; open it in Obsidian "
            "as a vault once, or name the folder that you open there"
        )
    folder = vault.joinpath(*_FOLDER)
    real = folder.resolve()
    if not real.is_relative_to(vault.resolve()):
        raise _failed(
            folder,
            f"leads out of the vault, to {printable(str(real))}, and nothing is written there; name "
            "the vault that has it, or replace the link by a folder",
        )
    if not folder.exists():
        return PluginState(folder, None, (), ())
    try:
        there = sorted(entry.name for entry in os.scandir(folder))
        said = read_json_file(folder / MANIFEST) if MANIFEST in there else {"id": ID}
    except (OSError, ValueError) as exc:
        again = "move the folder away, and try again"
        raise _failed(folder, f"cannot be read as a plugin: {exc}; {again}") from exc
    if not isinstance(said, dict) or said.get("id") != ID:
        raise _failed(folder, "holds another plugin; move it away, and try again")
    ours = tuple(name for name in there if name in (*FILES, SETTINGS) or _LEFT_OVER.fullmatch(name))
    version = str(said.get("version", "?")) if MANIFEST in there else None
    return PluginState(folder, version, ours, tuple(name for name in there if name not in ours))


def install_plugin(vault: Path) -> None:
    """Write the plugin's files, over an older one's; if the disk refuses, the app sees no plugin."""
    state = plugin_state(vault)
    with _held(vault, state.folder) as folder:
        for name in state.removable:
            if name == MANIFEST or _LEFT_OVER.fullmatch(name):
                folder.remove(name)
                folder.sync()
        for name, data in shipped().items():
            # Whole: a link of this name is replaced and never followed.
            temporary = f".{ID}-{secrets.token_hex(8)}.tmp"
            folder.create(temporary, data)
            try:
                source, target = folder.at(temporary), folder.at(name)
                os.replace(source, target, src_dir_fd=folder.fd, dst_dir_fd=folder.fd)
            except BaseException:
                with suppress(OSError):
                    folder.remove(temporary)
                raise
            folder.sync()


def remove_plugin(vault: Path) -> None:
    """Take the plugin's files and its settings away, and its folder where nothing else is in it."""
    state = plugin_state(vault)
    if not state.folder.exists():
        return
    with _held(vault, state.folder) as folder:
        for name in sorted(state.removable, key=lambda name: name != MANIFEST):
            folder.remove(name)
            folder.sync()
    if not state.others:
        with suppress(OSError):
            state.folder.rmdir()


@contextmanager
def _held(vault: Path, path: Path) -> Iterator[HeldFolder]:
    """The plugin's folder, made if it was not there, through no link that leads out of the vault."""
    try:
        with held_folder(vault.resolve(), path.resolve()) as folder:
            yield folder
    except OSError as exc:
        says = f"cannot be changed: {exc.strerror or exc}; see that you may write there, and run it again"
        raise _failed(path, says) from exc


def _failed(folder: Path, says: str) -> PluginFailed:
    return PluginFailed(f"{printable(str(folder))}: {says}")
