"""Follows a vault: takes in what changes, as it changes, for as long as it runs.

Touches: vault-read, index, model.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from config.errors import IndexLocked, MassDeletion, NotehopError, VaultError
from indexing.pipeline import Indexer
from indexing.report import Update
from indexing.watch.events import EVERYTHING, Reported, VaultEvents
from indexing.watch.pace import Pace
from indexing.watch.state import Phase, Watching

ROUND = 1.0
"""Seconds between two looks at whether the vault's folder is there and the clock went on."""

LOCKED_RETRY = 0.5
"""Seconds until an index that another process writes is tried again."""

VAULT_RETRY = 2.0
"""Seconds until a vault that is not there is looked for again."""

FAILED_RETRY = 15.0
"""Seconds until a run that failed is tried again: a disk may have room by then."""

HALF_WRITTEN = 1.0
"""Seconds that an empty file is given to be filled: some programs empty a file, then write it."""


class Bulky(Exception):
    """More has to be embedded than the follower does itself: a process of its own shall do it."""


class Follower:
    """Keeps one index up to its vault.

    It takes in what it is told of, and looks at the whole vault at the start, after a sleep of the
    machine, when the folder came back, and now and then.
    """

    def __init__(
        self,
        indexer: Indexer,
        watching: Watching,
        bulk: Callable[[], None],
        told: Callable[[Update | str], None],
        reload: Callable[[], Indexer],
    ) -> None:
        """Touch nothing yet.

        :param indexer: with a door that raises :class:`Bulky` where it is asked for too much.
        :param bulk: runs an indexer in a process of its own; raises NotehopError if that fails.
        :param told: hears of each update that wrote something, and of what is in the way.
        :param reload: an indexer with the settings as they are now.
        """
        self._indexer = indexer
        self._watching = watching
        self._bulk = bulk
        self._told = told
        self._reload = reload
        self._events: VaultEvents | None = None
        self._pace = Pace(indexer.settings.watch.rescan_s)
        self._due: set[str] = set()
        self._upkeep = False
        self._trouble: str | None = None

    def run(self, stop: threading.Event) -> None:
        """Follow until ``stop`` is set."""
        try:
            self._due = {EVERYTHING}
            while not stop.is_set():
                self._listen()
                reported = self._reported(0 if self._ready() else ROUND)
                if reported.settings:
                    self._adopt()
                self._due |= reported.paths
                if self._pace.overslept() or self._pace.rescan_due():
                    self._due.add(EVERYTHING)
                if self._ready():
                    self._take_in()
                elif not self._due and self._upkeep and self._pace.quiet():
                    self._tidy()
        finally:
            if self._events is not None:
                self._events.close()

    def _ready(self) -> bool:
        return bool(self._due) and self._pace.may_run()

    def _listen(self) -> None:
        """See that changes are reported; whatever happened before they were is due."""
        vault, watch = self._indexer.vault, self._indexer.settings.watch
        if self._events is not None:
            if self._events.failure is None:
                return
            self._deaf(self._events)
        if not (vault.is_dir() and self._pace.may_listen()):
            return
        events = VaultEvents(vault, settle_ms=watch.settle_ms, polling=watch.polling)
        events.start()
        self._due.add(EVERYTHING)
        if events.failure is None:
            self._events = events
        else:
            self._deaf(events)

    def _deaf(self, events: VaultEvents) -> None:
        """Go on without reports: the vault is looked at again and again until there are some."""
        why = events.failure
        events.close()
        self._events = None
        self._due.add(EVERYTHING)
        self._pace.listen_later(VAULT_RETRY)
        if self._indexer.vault.is_dir():
            self._say("waiting", f"the system does not report changes of the vault ({why})")

    def _reported(self, timeout: float) -> Reported:
        if self._events is None:
            time.sleep(min(timeout, ROUND))
            return Reported(frozenset())
        left = self._pace.until_run()
        return self._events.take(min(timeout, left) if self._due else timeout)

    def _adopt(self) -> None:
        """Go on with the settings as they are now; wrong ones change nothing."""
        try:
            self._indexer = self._reload()
        except NotehopError as exc:
            self._told(f"the settings stay as they were: {exc}")
            return
        self._due.add(EVERYTHING)

    def _take_in(self) -> None:
        """Bring the index up to what is due; what cannot be done stays due."""
        paths, self._due = self._due, set()
        half = _half_written(self._indexer.vault, paths)
        if half:
            self._due |= half
            self._pace.wait(HALF_WRITTEN / 2)
            paths = paths - half
            if not paths:
                return
        everything = EVERYTHING in paths
        try:
            self._watching.tell("indexing")
            self._update(None if everything else paths)
        except NotehopError as exc:
            self._failed(exc, paths)
            return
        if everything:
            self._pace.rescanned()
        # Work that took long is no sleep.
        self._pace.overslept()
        self._watching.tell("following", checked=everything)
        if self._trouble is not None and self._events is not None:
            self._trouble = None
            self._told("following the vault again")

    def _update(self, paths: set[str] | None) -> None:
        try:
            update = self._indexer.update(paths)
        except Bulky:
            self._bulk()
            self._told("many changes were indexed by a process of their own")
            self._upkeep = True
            return
        if update.wrote:
            self._upkeep = True
            self._pace.worked()
            self._told(update)

    def _failed(self, exc: NotehopError, paths: set[str]) -> None:
        self._due |= paths
        if isinstance(exc, IndexLocked):
            self._pace.wait(LOCKED_RETRY)
            self._watching.tell("waiting", str(exc))
            return
        # What else changed meanwhile was not taken in either: look at everything then.
        self._due = {EVERYTHING}
        self._pace.wait(VAULT_RETRY if isinstance(exc, VaultError) else FAILED_RETRY)
        self._say("held" if isinstance(exc, MassDeletion) else "waiting", str(exc))

    def _tidy(self) -> None:
        """Do what keeps the index small and quick to open, while nobody waits for it."""
        try:
            self._indexer.tidy()
        except IndexLocked:
            self._pace.worked()
            return
        except NotehopError as exc:
            self._say("waiting", str(exc))
        self._upkeep = False

    def _say(self, state: Phase, detail: str) -> None:
        """Tell other processes what is in the way, and people if they do not know yet."""
        self._watching.tell(state, detail)
        if detail != self._trouble:
            self._trouble = detail
            self._told(detail)


def _half_written(vault: Path, paths: Iterable[str]) -> set[str]:
    """The paths of files that were emptied just now."""
    found = set()
    for path in paths:
        try:
            status = (vault / path).stat()
        except OSError:
            continue
        if path and status.st_size == 0 and 0 <= time.time() - status.st_mtime < HALF_WRITTEN:
            found.add(path)
    return found
