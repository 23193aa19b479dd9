"""Where a vault, its settings and its index are, and opening it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notehop.config import Settings, load_settings
from notehop.config.errors import UsageError
from notehop.indexing.stores.layout import IndexLayout, index_dir_for, layout_for
from notehop.indexing.vault.walk import vault_folder

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from notehop.app.services.vault import VaultHandle
    from notehop.indexing.stores.reader import Reader
    from notehop.indexing.stores.served.chroma_server import ChromaServer

APP_FOLDER = ".obsidian"  # what makes a folder a vault of the application


@dataclass(frozen=True, slots=True)
class Place:
    """A vault that exists, the settings in force for it, and where its index is or will be.

    :ivar read_only: whether this process writes neither to the vault nor to the index.
    """

    vault: Path
    settings: Settings
    layout: IndexLayout
    read_only: bool = False

    @property
    def name(self) -> str:
        """The vault's name: the name of its folder, as the application has it."""
        return self.vault.name

    @property
    def log_dir(self) -> Path:
        """Where it is written down what went to a language model: beside the index, else with what
        programs of this user remember."""
        if not self.read_only:
            return self.layout.root
        from platformdirs import user_state_path

        return user_state_path("notehop") / index_dir_for(self.vault).name


def locate(
    vault: Path | None = None,
    *,
    index_dir: Path | None = None,
    config_file: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
    settings: Settings | None = None,
    read_only: bool = False,
) -> Place:
    """Find the vault: as named, else the setting, else the current folder if it is a vault.

    :param overrides: settings by dotted key; None values are left out.
    :param settings: taken as they are, in place of all files and variables.
    :param read_only: to write neither to the vault nor to the index.
    :raises UsageError: if no vault is named anywhere.
    :raises VaultError: if it is not there, is no folder, or cannot be entered.
    :raises SettingsError: naming the wrong setting.
    """
    general = settings or load_settings(config_file=config_file, overrides=overrides)
    told = vault if vault is not None else general.vault.path
    named = Path.cwd() if told is None else told
    if told is None and not (named / APP_FOLDER).is_dir():
        raise UsageError(
            f"no vault: {named} holds no {APP_FOLDER} folder; name your vault with --vault PATH "
            "(or the setting vault.path)"
        )
    folder = vault_folder(named)
    if settings is None:
        settings = load_settings(vault=folder, config_file=config_file, overrides=overrides)
    elif overrides:
        settings = settings.with_overrides(overrides)
    return Place(folder, settings, layout_for(folder, settings, index_dir), read_only)


def open_place(place: Place, llm: LLM | None = None) -> VaultHandle:
    """Open the vault at a place.

    :param llm: writes the answers; None: the model that the settings name, and without one they
        are quoted from the notes.
    :raises IndexMissing: if there is no index yet, naming the command that makes it.
    :raises IndexMismatch: if it was made with other settings.
    :raises IndexDamaged: if it cannot be read.
    """
    # Here and not above: a client is answered long before anything is opened.
    from notehop.indexing.fingerprint import expected_fingerprint
    from notehop.indexing.stores.catalog import check_vault
    from notehop.indexing.stores.lexical import Ranking
    from notehop.indexing.stores.reader import Reader

    lexical = place.settings.lexical

    def opened() -> Reader:
        reader = Reader(
            place.layout,
            expected_fingerprint(place.settings),
            ranking=Ranking(dict(lexical.boosts.items()), lexical.k1, lexical.b),
            read_only=place.read_only,
            server=vector_server(place),
        )
        try:
            check_vault(reader.catalog.meta(), place.vault, place.layout.root)
        except BaseException:
            reader.close()
            raise
        return reader

    from notehop.app.services.vault import VaultHandle

    return VaultHandle(place, llm, opened)


def vector_server(place: Place) -> ChromaServer | None:
    """The server that holds the vectors of an index; None where each process holds them itself.

    :raises SettingsError: if its token cannot be sent.
    """
    if place.settings.vectors.engine != "chroma":
        return None
    from notehop.indexing.stores.served.chroma_server import SEARCH_S, ChromaServer

    return ChromaServer(place.settings, place.layout.root, SEARCH_S)
