"""Where a vault, its settings and its index are, and opening it: at once, or when it is first needed.

A missing index is known before anything slow is loaded.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from notehop.config import Settings, load_settings
from notehop.config.errors import IndexMissing, NotehopError, UsageError
from notehop.indexing.stores.layout import IndexLayout, index_dir_for
from notehop.indexing.vault.walk import vault_folder

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from notehop.app.services.index_process import FirstIndex
    from notehop.app.services.vault import VaultHandle
    from notehop.indexing.stores.reader import Reader

_log = logging.getLogger(__name__)

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


def open_place(
    place: Place, llm: LLM | None = None, *, read: Callable[..., Reader] | None = None
) -> VaultHandle:
    """Open the vault at a place.

    :param llm: writes the answers; None: the model that the settings name, and without one they
        are quoted from the notes.
    :param read: opens the index, as :meth:`Reader.open` does.
    :raises IndexMissing: if there is no index yet, naming the command that makes it.
    :raises IndexMismatch: if it was made with other settings.
    :raises IndexDamaged: if it cannot be read.
    """
    # Here and not above: a client is answered long before anything is opened.
    from notehop.indexing.identity import wanted
    from notehop.indexing.stores.fingerprint import check_vault
    from notehop.indexing.stores.reader import Ranking, Reader

    lexical = place.settings.lexical
    reader = (read or Reader.open)(
        place.layout,
        wanted(place.settings),
        ranking=Ranking(lexical.boosts.model_dump(), lexical.k1, lexical.b),
    )
    try:
        from notehop.app.services.vault import VaultHandle

        check_vault(reader.catalog.meta(), place.vault, place.layout.root)
        return VaultHandle(place, reader, llm)
    except BaseException:
        reader.close()
        raise


LOOKING = 10.0
"""Seconds that a look at whether there is an index may take, before nobody waits for it."""


class LazyVault:
    """The vault at a place. Threads may share it."""

    def __init__(self, place: Place, command: str, config_file: Path | None) -> None:
        """Do nothing yet.

        :param command: what people know this process by.
        """
        self.place = place
        self._command = command
        self._config_file = config_file
        self._opening = threading.Lock()
        self._opened: VaultHandle | None = None
        self._first: FirstIndex | None = None
        # Whether there is an index at all is soon known, and changes what a client is told.
        self._looked = threading.Event()
        self._looked.set()
        # Not left again: the follower ends with this process.
        self._held = ExitStack()

    @property
    def opened(self) -> bool:
        """Whether :meth:`open` takes no time."""
        return self._opened is not None

    def open(self) -> VaultHandle:
        """The vault, opened.

        :raises IndexMissing: if there is no index, saying how far the making of it is, or what
            makes it.
        :raises NotehopError: as :func:`open_place`.
        """
        self._looked.wait(LOOKING)
        with self._opening:
            if self._opened is None:
                first = self._first
                if first is not None and first.running:
                    raise IndexMissing(
                        f"{self.place.name} is being indexed for the first time ({first.said}); "
                        "ask again in a minute"
                    )
                try:
                    self._opened = open_place(self.place)
                except IndexMissing as exc:
                    if first is not None and first.failure is not None:
                        raise IndexMissing(f"{exc}; it failed here: {first.failure}") from exc
                    raise
            return self._opened

    def follow(self) -> None:
        """Have the index kept up to the vault by another process, which ends with this one.

        If there is none yet, one is made first.
        """
        self._looked.clear()
        threading.Thread(target=self._keep, name="notehop-keeper", daemon=True).start()

    def _keep(self) -> None:
        # Here and not above: it brings the database.
        from notehop.app.services.index_process import FirstIndex, FollowerProcess, has_index

        try:
            try:
                if not has_index(self.place):
                    self._first = FirstIndex(
                        self.place, self._command, _log.info, self._config_file
                    )
            finally:
                self._looked.set()
            if self._first is not None:
                self._first.run()
            self._held.enter_context(
                FollowerProcess(self.place, self._command, _log.warning, self._config_file)
            )
        except NotehopError as exc:
            _log.error("the index is not followed: %s", exc)

    def stop(self) -> None:
        """End a first index that is being made; the next one goes on where it was."""
        if self._first is not None:
            self._first.stop()
