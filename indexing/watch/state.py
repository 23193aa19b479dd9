"""Who follows a vault, and how it goes: for people and other processes; when a follower does what.

The lock is the operating system's, so it ends with its process; the JSON beside it only informs.
"""

from __future__ import annotations

import json
import os
import socket
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Literal

from filelock import FileLock, Timeout

from notehop.config.errors import IndexLocked
from notehop.indexing.stores.layout import IndexLayout, read_json, replace_file
from notehop.indexing.stores.lock import locking

Phase = Literal["indexing", "following", "waiting", "held"]
"""``indexing``: changes are being taken in. ``following``: the index is up to the vault as far as is known.
``waiting``: something is in the way and is tried again. ``held``: a person has to decide."""

_PATIENCE = 1.0  # seconds until a lock is taken for held: whoever looks at it holds it for a moment


@dataclass(frozen=True, slots=True)
class WatchState:
    """A process that follows a vault, ``since`` a time in seconds since the epoch; ``detail`` says what is
    in the way, or how far it is."""

    pid: int
    host: str
    command: str
    since: float
    state: Phase
    detail: str | None = None


def read_watch_state(layout: IndexLayout) -> WatchState | None:
    """Who follows the vault of this index now; None if nobody does."""
    if layout.watch_lock.is_file():
        with suppress(OSError, NotImplementedError):
            try:
                with _lock(layout):
                    return None
            except Timeout:
                return read_json(WatchState, layout.watch_state)
    return None


def _lock(layout: IndexLayout) -> FileLock:
    # As the lock of the writer: a soft one would outlive its process.
    return FileLock(layout.watch_lock, timeout=0, thread_local=False, fallback_to_soft=False)


class WatcherLock:
    """Holds the right to follow a vault, and writes down how it goes."""

    def __init__(self, layout: IndexLayout, command: str) -> None:
        self._layout, self._lock = layout, _lock(layout)
        self._file: tuple[int, int] | None = None
        self._who = os.getpid(), socket.gethostname(), command, time.time()

    def acquire(self, patience: float = _PATIENCE) -> None:
        """Take the right to follow.

        :param patience: seconds to wait for it.
        :raises IndexLocked: if another process follows, naming it.
        :raises IndexUnwritable: if the folder cannot be written, or its disk knows no locks.
        """
        try:
            with locking(self._layout.root):
                self._layout.make_folder()
                self._lock.acquire(timeout=patience)
            self._file = self._file_now()
            # At once: the state that a killed process left is nobody's.
            self.write_state("indexing")
        except Timeout as exc:
            other = read_json(WatchState, self._layout.watch_state)
            who = f"{other.command} (process {other.pid} on {other.host})" if other else "a process"
            raise IndexLocked(
                f"{self._layout.root}: {who} follows this vault already, so the index is kept up"
            ) from exc

    @property
    def held(self) -> bool:
        """Whether it is held, and its file there: that may go with all of the index."""
        return self._lock.is_locked and self._file_now() == self._file

    def write_state(self, state: Phase, detail: str | None = None) -> None:
        """Tell other processes how it goes."""
        told = WatchState(*self._who, state, detail)
        # On a full disk the follower goes on: this is information only.
        with suppress(OSError):
            replace_file(self._layout.watch_state, json.dumps(asdict(told), indent=1))

    def release(self) -> None:
        """Let go; a second time is nothing."""
        # Where the index was deleted, the state may be of another that follows by now.
        if self.held:
            with suppress(OSError):
                self._layout.watch_state.unlink(missing_ok=True)
        self._lock.release()

    def _file_now(self) -> tuple[int, int] | None:
        """The lock's file as its name leads to it: while it is held, no other has these numbers."""
        try:
            found = self._layout.watch_lock.stat()
        except FileNotFoundError:
            return None
        except OSError:
            # A disk that does not answer for a while has not lost the file.
            return self._file
        return found.st_dev, found.st_ino


@dataclass(frozen=True, slots=True)
class Timing:
    """When a follower does what, in seconds where nothing else is said. Editors and sync tools write a
    file in several steps: to settle in less would index halves."""

    round: float = 1.0  # between two looks at whether the vault and the lock are there
    soon_retry: float = 2.0  # until a vault that is away, or another writer, is looked for again
    retry: float = 60.0  # until anything else that failed is tried again
    quiet: float = 5.0  # without work, after which the copy in Chroma is brought up
    lost: float = 30.0  # until a vault is scanned whose changes were not reported
    report_retry: float = 600.0  # until a system that would not report changes is asked again
    start: float = 10.0  # that a start waits for the system: a dead disk must not hold it up
    settle_ms: int = 150  # without a further change, after which changes are handed over
    poll_ms: int = 2_000  # between two looks at files, where WATCHFILES_FORCE_POLLING asks for them
    many: int = 500  # paths above which a scan of the vault takes no longer than looking at each


TIMING = Timing()
