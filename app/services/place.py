"""Where a vault, its settings and its index are: found before anything is opened.

Touches: vault-read (``notehop.toml``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from notehop.config import Settings, load_settings
from notehop.config.errors import UsageError
from notehop.indexing.stores.layout import IndexLayout, index_dir_for
from notehop.indexing.vault.walk import vault_folder

APP_FOLDER = ".obsidian"
"""What makes a folder a vault of the application."""


class NoVault(UsageError):
    """No vault is named anywhere."""


@dataclass(frozen=True, slots=True)
class Place:
    """A vault that exists, the settings in force for it, and where its index is or will be."""

    vault: Path
    settings: Settings
    layout: IndexLayout

    @property
    def name(self) -> str:
        """The vault's name: the name of its folder, as the application has it."""
        return self.vault.name


def locate(
    vault: Path | None = None,
    *,
    index_dir: Path | None = None,
    config_file: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    settings: Settings | None = None,
) -> Place:
    """Find the vault: as named, else the setting, else the current folder if it is a vault.

    :param overrides: settings by dotted key; None values are left out.
    :param settings: taken as they are, in place of all files and variables.
    :raises NoVault: if no vault is named anywhere.
    :raises VaultError: if it is not there, is no folder, or cannot be entered.
    :raises SettingsError: naming the wrong setting.
    """
    general = settings or load_settings(config_file=config_file, overrides=overrides)
    folder = _folder(vault if vault is not None else general.vault.path)
    if settings is None:
        settings = load_settings(vault=folder, config_file=config_file, overrides=overrides)
    elif overrides:
        settings = settings.with_overrides(overrides)
    root = index_dir if index_dir is not None else settings.index.dir
    return Place(folder, settings, IndexLayout(index_dir_for(folder, root)))


def _folder(named: Path | None) -> Path:
    if named is None:
        here = Path.cwd()
        if not (here / APP_FOLDER).is_dir():
            raise NoVault(
                f"no vault: {here} holds no {APP_FOLDER} folder; name your vault with --vault PATH "
                "(or the setting vault.path)"
            )
        named = here
    return vault_folder(named)
