"""Where a vault, its settings and its index are, whether the index is there, and opening it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from notehop.config import Settings, load_settings
from notehop.config.errors import BeingIndexed, IndexMissing, NotehopError, UsageError
from notehop.indexing.stores.layout import IndexLayout, index_dir_for, layout_for
from notehop.indexing.vault.walk import vault_folder
from notehop.indexing.watch.state import read_watch_state

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from notehop.app.services.vault import VaultHandle
    from notehop.indexing.stores.served.chroma_server import ChromaServer

APP_FOLDER = ".obsidian"  # what makes a folder a vault of the application

JUST_BEGUN = "just begun"  # how far a run is that has not said so yet


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
    def options(self) -> str:
        """What names it in a shell, whatever folder that is in: ``--vault /home/me/Notes``, and
        ``--index-dir`` where the index is not where it is looked for."""
        named = {"--vault": self.vault}
        if self.layout.root != layout_for(self.vault, self.settings, None).root:
            named["--index-dir"] = self.layout.root
        return " ".join(f"{option} {quote(str(path))}" for option, path in named.items())

    @property
    def missing(self) -> IndexMissing:
        """That it has no index, and the command that makes it."""
        return IndexMissing(f"{self.layout.root}: nothing is indexed yet; run: notehop index {self.options}")

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
    """Find the vault: as named, else the setting, else the one that the current folder is or lies in.

    :param overrides: settings by dotted key; None values are left out.
    :param settings: taken as they are, in place of all files and variables.
    :param read_only: to write neither to the vault nor to the index.
    :raises UsageError: if no vault is named anywhere.
    :raises VaultError: if it is not there, is no folder, or cannot be entered.
    :raises SettingsError: naming the wrong setting.
    """
    general = settings or load_settings(config_file=config_file, overrides=overrides)
    told = vault if vault is not None else general.vault.path
    if told is None:
        here = Path.cwd()
        around = (here, *here.parents)
        # A folder above may be closed to this user: then it is not there.
        told = next((one for one in around if os.path.isdir(one / APP_FOLDER)), None)  # noqa: PTH112
        if told is None:
            raise UsageError(
                f"no vault: neither {here} nor a folder around it holds {APP_FOLDER}; name your "
                "vault with --vault PATH (or the setting vault.path)"
            )
    folder = vault_folder(told)
    if settings is None:
        settings = load_settings(vault=folder, config_file=config_file, overrides=overrides)
    elif overrides:
        settings = settings.with_overrides(overrides)
    return Place(folder, settings, layout_for(folder, settings, index_dir), read_only)


def remedy(layout: IndexLayout) -> str:
    """Say who indexes what changed, or how to have it done."""
    watcher = read_watch_state(layout)
    if watcher is None:
        return "run: notehop index"
    under_way = watcher.state in ("indexing", "following")
    return "indexing is under way" if under_way else "notehop status says why not"


def has_index(place: Place) -> bool:
    """Whether a run over the index ever came to its end; an index that cannot be read counts."""
    # Here and not above: every search imports this module, and few need the database.
    from notehop.indexing.stores.catalog import Catalog

    try:
        with Catalog.of(place.layout) as catalog:
            meta = catalog.meta()
            ended = not meta.get("under_way") or place.layout.catalog_state.is_file()
            return "fingerprint" in meta and ended
    except IndexMissing:
        return False
    except NotehopError:
        # It is damaged, or its server is away: who opens it says so, and who follows it waits.
        return True


def being_indexed(place: Place, how: str) -> BeingIndexed:
    """:param how: by whom, or in parentheses how far."""
    return BeingIndexed(f"{place.name} is being indexed for the first time {how}; ask again in a minute")


def open_place(place: Place, llm: LLM | None = None) -> VaultHandle:
    """Open the vault at a place.

    :param llm: writes the answers; None: the model that the settings name, and without one they
        are quoted from the notes.
    :raises BeingIndexed: while a follower makes its first index, saying how far it is.
    :raises IndexMissing: if there is no index yet, naming the command that makes it.
    :raises IndexMismatch: if it was made with other settings.
    :raises IndexDamaged: if it cannot be read.
    """
    # Here and not above: a client is answered long before anything is opened.
    from notehop.app.services.vault import VaultHandle
    from notehop.indexing.fingerprint import expected_fingerprint
    from notehop.indexing.stores.catalog import check_vault
    from notehop.indexing.stores.lexical import Ranking
    from notehop.indexing.stores.reader import Reader

    state = read_watch_state(place.layout)
    if state is not None and state.state == "indexing" and not has_index(place):
        raise being_indexed(place, f"({state.detail or JUST_BEGUN})")  # there is none, or a part
    lexical = place.settings.lexical
    try:
        reader = Reader(
            place.layout,
            expected_fingerprint(place.settings),
            ranking=Ranking(dict(lexical.boosts.items()), lexical.k1, lexical.b),
            read_only=place.read_only,
            server=vector_server(place),
        )
    except IndexMissing as exc:
        raise place.missing from exc
    try:
        check_vault(reader.catalog.meta(), place.vault, place.layout.root)
        return VaultHandle(place, llm, reader)
    except BaseException:
        reader.close()
        raise


def vector_server(place: Place) -> ChromaServer | None:
    """The server that holds the vectors of an index; None where each process holds them itself.

    :raises SettingsError: if its token cannot be sent.
    """
    if place.settings.vectors.engine != "chroma":
        return None
    from notehop.indexing.stores.served.chroma_server import SEARCH_S, ChromaServer

    return ChromaServer(place.settings, place.layout.root, SEARCH_S)
