"""The vaults of one process: each opened when it is first asked, found by its name, and followed by a
process of its own, whose memory ends with it.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from notehop.app.services.open_vault import JUST_BEGUN, Place, being_indexed, has_index, locate, open_place
from notehop.config import load_settings
from notehop.config.errors import IndexFailure, IndexMissing, ServerTimeout, UsageError
from notehop.config.small_files import is_folder
from notehop.indexing.process import index_program, run_program
from notehop.indexing.watch.state import read_watch_state

if TYPE_CHECKING:
    from notehop.app.models import Captured, CaptureQuery
    from notehop.app.services.vault import VaultHandle

_log = logging.getLogger(__name__)

# Keys of the scope of a request.
ASKED = "notehop.asked"  # the :class:`LazyVault` that it is for
NAMED = "notehop.vault"  # the name of its vault; absent where its path names none

LOOK = 2.0  # seconds between two looks at whether a first index is made

FIRST_RETRY = 1.0  # seconds until a follower that ended is started again; doubled each time
LAST_RETRY = 60.0  # the longest such wait, and the life that makes a follower count as working
ENDING = 5.0  # seconds that a process is given to finish what it writes


class LazyVault:
    """The vault at a place. Threads may share it.

    :param command: what people know this process by.
    :ivar opened: the vault, once it is; then :meth:`open` takes no time.
    :ivar closed: set when it is closed.
    :ivar follows: whether its index is kept up by this process, or soon will be.
    """

    def __init__(self, place: Place, command: str, config_file: Path | None) -> None:
        self.place = place
        self.opened: VaultHandle | None = None
        self.closed = threading.Event()
        program = index_program(place.vault, place.layout, config_file)
        self._follower = [*program, "--supervised", command]
        self._opening, self._ending = threading.Lock(), threading.Lock()
        self.follows = False
        self._trouble: str | None = None  # why the follower ended last, while none runs
        self._keeper: threading.Thread | None = None

    @property
    def ready(self) -> bool:
        """Whether all that a query needs is loaded."""
        return self.opened is not None and self.opened.ready

    @property
    def generation(self) -> int | None:
        """Generation of the index that was read last; None while it is not opened."""
        return None if self.opened is None else self.opened.generation

    @property
    def is_new(self) -> bool:
        """Whether no run over its index has ended yet, here or on another machine."""
        return not has_index(self.place)

    def first_index(self) -> tuple[str | None, str | None]:
        """How far the first index is that is being made, and what is in the way of it."""
        state = read_watch_state(self.place.layout)
        if (state is None and not self.follows) or not self.is_new:
            return None, None
        if state is None:
            return (JUST_BEGUN, None) if self._trouble is None else (None, self._trouble)
        if state.state == "indexing":
            return state.detail or JUST_BEGUN, None
        return None, state.detail

    def open(self) -> VaultHandle:
        """The vault, opened.

        :raises BeingIndexed: while there is no index yet, saying how far the making of it is.
        :raises IndexMissing: if there is none, saying what makes it.
        :raises NotehopError: as :func:`open_place`.
        """
        if self.opened is not None:
            return self.opened
        with self._opening:
            if self.opened is None:
                progress, failure = self.first_index()
                if progress is not None:
                    raise being_indexed(self.place, f"({progress})")
                try:
                    self.opened = open_place(self.place)
                except IndexMissing as exc:
                    if failure is not None:
                        raise IndexMissing(f"{exc}; it failed here: {failure}") from exc
                    raise
            return self.opened

    def capture(self, query: CaptureQuery) -> Captured:
        """Keep a text as a new note, also where there is no index; ServerTimeout if nobody waits any more."""
        from notehop.app.services.capture import capture
        from notehop.indexing.llm.egress import UNWANTED

        with suppress(Exception):  # the look-up says what is in the way
            self.open().warm()
        if (gone := UNWANTED.get()) is not None and gone():
            raise ServerTimeout("nothing was kept: nobody waits for it any more")
        return capture(self.place, query, lambda kept: self.open().related(kept))

    def follow(self) -> None:
        """Have the index kept up to the vault by another process, which makes it where there is none.

        It ends with this one.
        """
        with self._ending:
            if not self.closed.is_set():
                self._keeper = threading.Thread(target=self._keep, name="notehop-follower", daemon=True)
                self._keeper.start()

    def _keep(self) -> None:
        """Run the follower, and again whenever it ends."""

        def pass_on(line: str) -> None:
            # Standard error may be closed by now: that is no reason to hear no more.
            with suppress(OSError, ValueError):
                sys.stderr.write(f"{line}\n")

        wait = FIRST_RETRY / 2
        while not self.closed.is_set():
            began = time.monotonic()
            self._trouble = None
            try:
                run_program(self._follower, self.closed.is_set, pass_on, ENDING)
                self._trouble = "its process ended"
            except IndexFailure as exc:
                self._trouble = str(exc)
            if self.closed.is_set():
                return
            worked = time.monotonic() - began >= LAST_RETRY
            wait = FIRST_RETRY if worked else min(2 * wait, LAST_RETRY)
            with suppress(OSError, ValueError):
                _log.warning("the index is not followed for %.0f s: %s", wait, self._trouble)
            self.closed.wait(wait)

    def close(self) -> None:
        """Let go of the vault, and end what follows it; it finishes what it writes."""
        with self._ending:
            self.closed.set()
        if self._keeper is not None:
            self._keeper.join(2 * ENDING)
        if self.opened is not None:
            self.opened.close()


class Vaults(dict[str, LazyVault]):
    """Vaults, at least one, by the names that they go by in this process."""

    @classmethod
    def at(cls, places: Mapping[str, Place], command: str, config_file: Path | None) -> Vaults:
        """Those at some places, none of them opened yet, as :class:`LazyVault`."""
        return cls({name: LazyVault(one, command, config_file) for name, one in places.items()})

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

    def follow(self) -> None:
        """Have all indexes kept up to their vaults, as :meth:`LazyVault.follow`."""
        for vault in self.values():
            vault.follows = True
        threading.Thread(target=self._follow, name="notehop-keeper", daemon=True).start()

    def _follow(self) -> None:
        with ThreadPoolExecutor(len(self)) as threads:  # a catalog that is slow holds none up
            new = [*threads.map(lambda vault: vault.is_new, self.values())]
        # Those that have an index first.
        for _, vault in sorted(zip(new, self.values(), strict=True), key=itemgetter(0)):
            vault.follow()
            # To make two indexes at once would take twice the memory.
            while vault.first_index()[0] is not None and not vault.closed.wait(LOOK):
                pass

    def close(self) -> None:
        """Close all, at once: each may have to finish what it writes."""
        with ThreadPoolExecutor(len(self)) as threads:
            for done in [threads.submit(vault.close) for vault in self.values()]:
                done.result()


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
        own = name or place.name or "vault"
        if own in found:
            raise UsageError(f"two vaults are named {own}; name one differently: other={folder}")
        found[own] = place
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
