"""What the system tells of a vault's folders, which come and go meanwhile.

Touches: vault-read (names), threads.
"""

from __future__ import annotations

import platform
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from watchfiles import Change
from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

from notehop.indexing.watch.folders import (
    APP_FOLDER,
    APP_SETTINGS,
    folders_below,
    folders_of,
    is_folder,
    without,
)
from notehop.indexing.watch.pace import TIMING

GROUP_MS = 1_000
"""Changes that do not end are handed over this often."""

ROUND_MS = 500
"""How often a wait for changes sees whether it shall end."""

_DRAIN_MS = 20
"""How long a watch that another has replaced is asked for what it still knows."""

_UNDECODABLE = "Unable to decode path"
"""What the library says when a name that is no UTF-8 changed; it tells nothing from then on."""

Told = set[tuple[int, str]]
"""(kind, path relative to the vault), the kind being one of ``Change``."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Paths at or below which something changed; ``lost`` if there were others, unknown which."""

    paths: frozenset[str]
    lost: bool = False


class Notices:
    """Listens to a vault from :meth:`open` to :meth:`close`, in one thread."""

    def __init__(
        self, vault: Path, *, settle_ms: int, polling: bool, poll_ms: int = TIMING.poll_ms
    ) -> None:
        """Listen to nothing yet.

        :param settle_ms: time without a further change after which changes are handed over.
        :param polling: look at the files again and again instead of waiting to be told.
        :param poll_ms: how often a disk that tells nothing is looked at.
        """
        self._vault = vault
        self._settle_ms = settle_ms
        self._poll_ms = poll_ms
        # Windows tells a Linux that runs in it nothing of its own disks.
        self._polling = polling or "microsoft-standard" in platform.uname().release
        # The others watch a folder with all below it as one, and follow no links.
        self._singly = self._polling or sys.platform == "linux"
        self._folders: frozenset[str] = frozenset([""])
        self._notify: RustNotify | None = None
        self._lost = False

    def open(self) -> None:
        """Begin.

        :raises OSError: if the vault is not there, or has more folders than the system watches.
        :raises RuntimeError: if the library fails.
        :raises ValueError: if the vault's own path is no UTF-8.
        """
        self._arm(folders_of(self._vault) if self._singly else self._folders)
        # Folders that were made before their parents were watched.
        while self._singly and (more := folders_of(self._vault) - self._folders):
            self._arm(self._folders | more)

    def wait(self, stop: threading.Event) -> Heard:
        """What changed; nothing after half a second without a change.

        :raises OSError: as :meth:`open`; so do the others.
        """
        changes = self._ask(GROUP_MS, self._settle_ms, ROUND_MS, stop)
        if self._notify is None:
            self._arm(folders_of(self._vault) if self._singly else self._folders)
        paths = self._keep_up(changes) if self._singly else {path for _, path in changes}
        lost, self._lost = self._lost, False
        return Heard(frozenset(paths), lost)

    def close(self) -> None:
        """Listen no more; a second time is nothing."""
        if self._notify is not None:
            self._notify.close()
            self._notify = None

    def _keep_up(self, changes: Told) -> set[str]:
        """Watch the folders that came and not those that went; returns what changed by then."""
        paths: set[str] = set()
        while changes:
            paths |= {path for _, path in changes}
            came, folders = self._after(changes)
            if APP_FOLDER in came or (Change.deleted, APP_FOLDER) in changes:
                paths.add(APP_SETTINGS)
            if not came and folders == self._folders:
                break
            changes = self._arm(folders)
            # Folders that were made before their parents were watched.
            changes |= {
                (Change.added, path)
                for folder in came
                for path in folders_below(self._vault, folder)
                if path not in self._folders
            }
        return paths

    def _after(self, changes: Told) -> tuple[set[str], frozenset[str]]:
        """The folders that came, and all that are to be watched after these changes."""
        gone = {path for kind, path in changes if kind == Change.deleted}
        folders = without(self._folders, gone) if gone & self._folders else {*self._folders}
        came = {
            path
            for kind, path in changes
            # One that was there may be another by the same name.
            if (kind == Change.added or path not in folders) and is_folder(self._vault, path)
        }
        for path in came:
            folders |= {path, *folders_below(self._vault, path)}
        return came, frozenset(folders)

    def _arm(self, folders: frozenset[str]) -> Told:
        """Watch these folders and no others; returns what was told until then."""
        while True:
            try:
                notify = self._watching(folders)
                break
            except FileNotFoundError:
                there = frozenset(path for path in folders if not path or self._is_there(path))
                if there == folders:
                    raise
                folders = there
            except OSError:
                # Two watches at once may be more than the system allows.
                if self._notify is None:
                    raise
                self.close()
                self._lost = True
        told = self._ask(0, 1, _DRAIN_MS, None) if self._notify is not None else set()
        self.close()
        self._folders, self._notify = folders, notify
        return told

    def _watching(self, folders: frozenset[str]) -> RustNotify:
        paths = [str(self._vault / folder) for folder in sorted(folders)]
        return RustNotify(paths, False, self._polling, self._poll_ms, not self._singly, True)

    def _ask(self, group_ms: int, step_ms: int, wait_ms: int, stop: threading.Event | None) -> Told:
        """Ask the watch; one that tells nothing any more is closed."""
        assert self._notify is not None
        try:
            said = self._notify.watch(max(group_ms, step_ms), step_ms, wait_ms, stop)
        except WatchfilesRustInternalError as exc:
            if not str(exc).startswith(_UNDECODABLE):
                raise
            self.close()
            self._lost = True
            return set()
        if isinstance(said, str):
            return set()
        told = ((kind, self._relative(path)) for kind, path in said)
        return {(kind, path) for kind, path in told if path is not None}

    def _relative(self, path: str) -> str | None:
        with suppress(ValueError):
            relative = Path(path).relative_to(self._vault).as_posix()
            return "" if relative == "." else relative
        return None

    def _is_there(self, folder: str) -> bool:
        try:
            return is_folder(self._vault, folder)
        except OSError:
            return False
