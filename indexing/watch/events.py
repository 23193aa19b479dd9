"""What the system reports of changes in a vault, gathered until somebody takes it.

On Linux each folder that can hold notes is watched by itself: what `watchfiles` calls a recursive
watch follows symbolic links out of the vault and goes into ``.git``, and some systems allow few
thousand watches to all programs of a user together. When folders come, the watch begins anew with
them; what may have changed between the two watches is reported as lost.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from watchfiles import Change, watch

from notehop.indexing.stores.layout import file_number
from notehop.indexing.vault.walk import is_hidden, is_text
from notehop.indexing.watch.state import TIMING, Timing

EVERYTHING = ""  # the path that stands for the whole vault
OWN_SETTINGS = "notehop.toml"  # the vault's settings
APP_FOLDER = ".obsidian"  # the folder of the app's settings: the one with a dot that matters
APP_SETTINGS = f"{APP_FOLDER}/app.json"  # the file of the app that says which files are left out
GROUP_MS = 1_000  # changes that do not end are handed over this often
_UNDECODABLE = "Unable to decode path"  # what the library says when a name that is no UTF-8 changed


class VaultEvents:
    """The changes of one folder, from :meth:`start` to :meth:`close`."""

    def __init__(self, vault: Path, timing: Timing = TIMING) -> None:
        self._vault, self._timing = vault, timing
        self._lock = threading.Condition()
        self._stop = threading.Event()
        self._paths: set[str] = set()
        self._lost = self._begun = self._started = False
        self._failure: str | None = None
        self.refused = False
        """Whether it failed though the folder is there: the system reports none of its changes."""
        self._thread = threading.Thread(target=self._run, name="notehop-events", daemon=True)
        self._root = file_number(vault)
        self._each = sys.platform == "linux"

    def start(self) -> None:
        """Begin; when this returns, whatever changes from now on will be reported.

        Where the system takes its time, it returns before that, and changes are lost until then.
        """
        self._thread.start()
        with self._lock:
            self._lock.wait_for(lambda: self._begun or self._failure, self._timing.start)
            self._started = True

    @property
    def failure(self) -> str | None:
        """Why nothing is reported any more; None while all is well."""
        if self._failure is None and (self._root is None or file_number(self._vault) != self._root):
            return "the folder is not there, or not the one it was"
        return self._failure

    def take(self, timeout: float) -> tuple[set[str], bool]:
        """Paths at or below which something changed since the last call, and whether there may be
        others, of which nothing is known. Waits for something, up to ``timeout`` seconds."""
        with self._lock:
            self._lock.wait_for(lambda: self.pending, timeout)
            changes = self._paths, self._lost
            self._paths, self._lost = set(), False
        return changes

    @property
    def pending(self) -> bool:
        """Whether :meth:`take` would not wait."""
        return bool(self._paths or self._lost or self._failure)

    def close(self) -> None:
        """End the watch; a second time is nothing."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(2 * GROUP_MS / 1000)

    def _run(self) -> None:
        watched: frozenset[str] | None = None
        try:
            while not self._stop.is_set():
                folders = folders_of(self._vault) if self._each else frozenset([""])
                self._watch(folders, folders - (folders if watched is None else watched))
                watched = folders
        except (OSError, RuntimeError, ValueError) as exc:
            # OSError: too many folders for the system's limit, a vault that went; RuntimeError: the
            # library's own; ValueError: a path of the vault that is no UTF-8.
            self.refused = file_number(self._vault) == self._root
            with self._lock:
                # The library names the folder that came when nothing was left: another each time.
                self._failure = str(exc).partition(" about [")[0] or type(exc).__name__
                self._lock.notify_all()

    def _watch(self, folders: frozenset[str], new: frozenset[str]) -> None:
        """Report changes until other folders are to be watched; ``new`` were not by the watch before."""
        began = False
        changes = watch(
            *(self._vault / folder for folder in sorted(folders)),
            watch_filter=None,
            debounce=GROUP_MS,
            step=self._timing.settle_ms,
            # Nothing, now and then: the watch stands, and may have to end.
            rust_timeout=max(self._timing.settle_ms, 50),
            yield_on_timeout=True,
            poll_delay_ms=self._timing.poll_ms,
            recursive=not self._each,
            ignore_permission_denied=True,
            raise_interrupt=False,
        )
        try:
            for found in changes:
                relative = {(kind, self._relative(path)) for kind, path in found}
                with self._lock:
                    if not began:
                        # What changed since the watch before, or before a late one, is not known.
                        self._paths |= new
                        self._lost |= self._started
                        began = self._begun = True
                    self._take_up(relative)
                    self._lock.notify_all()
                came = self._each and any(
                    (kind == Change.added or path not in folders) and is_folder(self._vault, path)
                    for kind, path in relative
                )
                if came or self._stop.is_set():
                    break
        except FileNotFoundError:
            # A folder went between the listing and the watch.
            if not self._vault.is_dir() or self._stop.wait(self._timing.settle_ms / 1000):
                raise
        except RuntimeError as exc:
            # From then on it reports nothing.
            if not (began or str(exc).startswith(_UNDECODABLE)):
                raise
        finally:
            changes.close()

    def _relative(self, path: str) -> str:
        relative = Path(path).relative_to(self._vault).as_posix()
        return "" if relative == "." else relative

    def _take_up(self, changes: Iterable[tuple[Change, str]]) -> None:
        for kind, path in changes:
            if path in (APP_SETTINGS, OWN_SETTINGS) or (path == APP_FOLDER and kind != Change.modified):
                self._paths.add(EVERYTHING)
            if not is_hidden(path):
                self._paths.add(path)
        if len(self._paths) > self._timing.many:
            self._paths = {EVERYTHING, *self._paths & {OWN_SETTINGS}}


def folders_of(vault: Path) -> frozenset[str]:
    """All that are to be watched, relative to the vault; the vault itself is the empty path.

    Real folders that can hold notes, and the app's own. What cannot be listed is left out: the
    index says so.

    :raises OSError: if the vault itself cannot be listed.
    """
    os.scandir(vault).close()
    found = {"", APP_FOLDER} if (vault / APP_FOLDER).is_dir() else {""}
    for here, names, _ in os.walk(vault):
        names[:] = [name for name in names if not name.startswith(".") and is_text(name)]
        folders = [Path(here, name) for name in names if not os.path.islink(f"{here}/{name}")]  # noqa: PTH114
        found.update(folder.relative_to(vault).as_posix() for folder in folders)
    return frozenset(found)


def is_folder(vault: Path, path: str) -> bool:
    """Whether a folder that is to be watched stands at a path now."""
    folder = str(vault / path)
    is_note_folder = not (is_hidden(path) or os.path.islink(folder))  # noqa: PTH114 - never raises
    return (path == APP_FOLDER or is_note_folder) and os.path.isdir(folder)  # noqa: PTH112
