"""The vaults of one process: each opened when it is first asked, found by its name."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from notehop.app.services.open_vault import Place, locate, open_place
from notehop.config import load_settings
from notehop.config.errors import BeingIndexed, IndexFailure, IndexMissing, NotehopError, UsageError
from notehop.config.small_files import is_folder

if TYPE_CHECKING:
    from notehop.app.models import Captured, CaptureQuery, VaultNow
    from notehop.app.services.vault import VaultHandle

_log = logging.getLogger(__name__)

_FIRST = threading.Lock()  # held for a first index: to make two at once would take twice the memory

ASKED = "notehop.asked"  # key of the scope of a request: the :class:`LazyVault` that it is for

NAMED = "notehop.vault"
"""Key of the scope of a request: the name of its vault; absent where its path names none."""

ENDING = 5.0  # seconds that a first index is given to finish what it writes

LOOKING = 10.0
"""Seconds that a look at whether there is an index may take, before nobody waits for it."""


class LazyVault:
    """The vault at a place. Threads may share it.

    :param command: what people know this process by.
    :ivar opened: the vault, once it is; then :meth:`open` takes no time.
    :ivar progress: how far the first index is that is being made here; None where none is.
    """

    def __init__(self, place: Place, command: str, config_file: Path | None) -> None:
        self.place = place
        self.opened: VaultHandle | None = None
        self._command = command
        self._config_file = config_file
        self._opening = threading.Lock()
        self.progress: str | None = None
        self._failure: str | None = None
        self._stop, self._ended = threading.Event(), threading.Event()
        self._ended.set()
        # Whether there is an index at all is soon known, and changes what a client is told.
        self._looked = threading.Event()
        self._looked.set()
        self._held = ExitStack()
        self._closed = False

    @property
    def ready(self) -> bool:
        """Whether all that a query needs is loaded."""
        return self.opened is not None and self.opened.ready

    @property
    def generation(self) -> int | None:
        """Generation of the index that was read last; None while it is not opened."""
        return None if self.opened is None else self.opened.generation

    def open(self) -> VaultHandle:
        """The vault, opened.

        :raises BeingIndexed: while there is no index yet, saying how far the making of it is.
        :raises IndexMissing: if there is none, saying what makes it.
        :raises NotehopError: as :func:`open_place`.
        """
        if self.opened is not None:
            return self.opened
        self._looked.wait(LOOKING)
        with self._opening:
            if self.opened is None:
                if (progress := self.progress) is not None:
                    raise BeingIndexed(
                        f"{self.place.name} is being indexed for the first time ({progress}); "
                        "ask again in a minute"
                    )
                try:
                    self.opened = open_place(self.place)
                except IndexMissing as exc:
                    if self._failure is not None:
                        raise IndexMissing(f"{exc}; it failed here: {self._failure}") from exc
                    raise
            return self.opened

    def capture(self, query: CaptureQuery) -> Captured:
        """Keep a text as a new note, also where there is no index to open."""
        try:
            vault = self.open()
        except IndexFailure:
            from notehop.app.services.capture import capture_cold

            return capture_cold(self.place, query)
        return vault.capture(query)

    def follow(self, told: Callable[[str], None], made: Callable[[str | None], None]) -> None:
        """Have the index kept up to the vault by another process, which ends with this one.

        If there is none yet, one is made first.

        :param told: hears each line that the making of a first index says.
        :param made: hears that it is made, or why it is not.
        """
        self._looked.clear()
        keep = partial(self._keep, told, made)
        threading.Thread(target=keep, name="notehop-keeper", daemon=True).start()

    def _keep(self, told: Callable[[str], None], made: Callable[[str | None], None]) -> None:
        # Here and not above: it brings the database.
        from notehop.app.services.index_process import FollowerProcess, has_index

        place, command, config_file = self.place, self._command, self._config_file
        try:
            try:
                if first := not has_index(place):
                    self.progress = "just begun"
            finally:
                self._looked.set()
            if first:
                self._make_index(told)
                if self._failure is not None and not self._closed:
                    made(self._failure)
            if not self._closed:
                self._held.enter_context(FollowerProcess(place, command, _log.warning, config_file))
            if first and self._failure is None and not self._closed:
                # Behind the follower: what goes wrong in saying so must not keep it from its work.
                made(None)
        except NotehopError as exc:
            _log.error("the index of %s is not followed: %s", place.name, exc)

    def _make_index(self, told: Callable[[str], None]) -> None:
        """Make the index in a process of its own, and know how far it is."""
        from notehop.indexing.watch.process import index_program, run_program

        def hear(line: str) -> None:
            self.progress = line
            # Standard error may be closed by now: the process is heard on.
            with suppress(OSError, ValueError):
                told(line)

        program = index_program(self.place.vault, self.place.layout, self._config_file)
        with _FIRST:
            self._ended.clear()
            try:
                run_program([*program, "--part-of", self._command], self._stop, hear)
                self._failure = "it was stopped" if self._stop.is_set() else None
            except IndexFailure as exc:
                self._failure = str(exc)
            finally:
                self.progress = None
                self._ended.set()

    @contextmanager
    def resting(self, minutes: float) -> Iterator[None]:
        """Have it rest whenever nobody asked for so many minutes, for the block; never for 0."""
        ended = threading.Event()

        def watch() -> None:
            while not ended.wait(min(60.0, 15 * minutes)):
                if self.opened is not None and self.opened.rest(60 * minutes):
                    _log.info("nobody asked for %g minutes: models and index are let go", minutes)

        if minutes > 0:
            threading.Thread(target=watch, name="notehop-idle", daemon=True).start()
        try:
            yield
        finally:
            ended.set()

    def stop(self) -> None:
        """End a first index that is being made; the next one goes on where it was."""
        self._stop.set()

    def join(self) -> None:
        """Wait until a first index that was stopped has ended, for some seconds."""
        self._ended.wait(ENDING)

    def close(self) -> None:
        """Let go of the vault, and end what follows it; it finishes what it writes."""
        self._closed = True
        self.stop()
        self.join()
        self._held.close()
        if self.opened is not None:
            self.opened.close()


class Vaults(dict[str, LazyVault]):
    """Vaults, at least one, by the names that they go by in this process."""

    @classmethod
    def of(cls, vault: VaultHandle) -> Vaults:
        """One vault that is open."""
        lazy = LazyVault(vault.place, "notehop", None)
        lazy.opened = vault
        return cls({vault.name: lazy})

    @property
    def default(self) -> str:
        """The name of the first, which is asked where none is named."""
        return next(iter(self))

    @property
    def first(self) -> LazyVault:
        return self[self.default]

    def follow(
        self,
        told: Callable[[str], None] = _log.info,
        made: Callable[[str | None], None] = lambda _: None,
    ) -> None:
        """Have all indexes kept up to their vaults, as :meth:`LazyVault.follow`."""
        for vault in self.values():
            vault.follow(told, made)

    def close(self) -> None:
        """Close all, at once: each may have to finish what it writes."""
        with ThreadPoolExecutor(len(self)) as threads:
            for done in [threads.submit(vault.close) for vault in self.values()]:
                done.result()

    def summary(self, name: str) -> VaultNow:
        """What there is to say of a vault in a line; nothing of it is loaded that was not."""
        from notehop.app.models import VaultNow
        from notehop.app.problems import agent_text
        from notehop.app.services.status import opened

        vault = self[name]
        found = VaultNow(
            name=name,
            vault=vault.place.name,
            folder=str(vault.place.vault),
            url=below(name),
            default=name == self.default,
            state="ready" if vault.ready else "open",
        )
        try:
            with opened(vault.place) as (_, view):
                notes, generation = len(view.indexed_paths()), view.generation
            vault.open()
            found.notes, found.generation = notes, generation
        except NotehopError as exc:
            found.state = "failed" if vault.progress is None else "indexing"
            found.detail = agent_text(exc)
        return found


def below(name: str) -> str:
    """The path of a server below which it answers for a vault."""
    return f"/vaults/{quote(name, safe='')}"


def locate_all(given: Sequence[str], **how: Any) -> dict[str, Place]:
    """Find several vaults, each with its name.

    :param given: folders, or ``name=folder``; empty: those of ``server.vaults``, else the one that
        :func:`locate` finds.
    :param how: what :func:`locate` takes beside the folder.
    :raises UsageError: if a name or a vault is given twice, or a folder for the index of several.
    :raises VaultError: as :func:`locate`, like the others.
    """
    if not given:
        files = {name: how.get(name) for name in ("config_file", "overrides")}
        given = load_settings(**files).server.vaults
    named = [_named(one) for one in given] or [(None, None)]
    found: dict[str, Place] = {}
    for name, folder in named:
        place = locate(folder, **how)
        if len(named) > 1 and (how.get("index_dir") or place.settings.index.dir):
            raise UsageError(
                "--index-dir and index.dir name the folder of one index, and there are "
                f"{len(named)} vaults; leave them out, or serve each vault by itself"
            )
        for other, known in found.items():
            if known.vault.samefile(place.vault):
                raise UsageError(f"{place.vault}: is the vault {other} already; name it once")
        if name is not None and name in found:
            raise UsageError(f"two vaults are named {name}; name one differently: other={folder}")
        number, free = 1, name or place.name or "vault"
        while free in found:
            number += 1
            free = f"{place.name or 'vault'}-{number}"
        found[free] = place
    return found


_NO_NAME = re.compile(r"\.{0,2}|.*[/\x00-\x1f\x7f].*", re.DOTALL)


def _named(text: str) -> tuple[str | None, Path | None]:
    """The name and the folder of ``name=folder``; a folder may itself hold such a sign."""
    name, sign, folder = text.partition("=")
    if not sign or is_folder(text):
        return None, Path(text)
    if _NO_NAME.fullmatch(name) or not folder:
        raise UsageError(f"{text!r}: a vault is a folder, or name=folder; no name holds a slash")
    return name, Path(folder)
